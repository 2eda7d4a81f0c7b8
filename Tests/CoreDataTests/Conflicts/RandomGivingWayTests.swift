import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Random rounds of two contexts with unique values") struct RandomGivingWayTests {
    @Test(
        "No relationship that nobody has cut is missing under any policy, and both contexts show what is stored",
        arguments: [ProgramStore.inMemory, .sqlite], [true, false])
    func rounds(_ store: ProgramStore, alwaysMerges: Bool) throws {
        let seed = TestSeed.current(for: "RandomGivingWayTests, \(store.name)")
        var programs = 0
        for program in TestRounds(seconds: 1.7, atLeast: 5) {
            let own = seed &+ UInt64(program) &* 7919
            let coordinator = try GivingWayModel.coordinator(store)
            if let difference = try GivingWayProgram(seed: own, alwaysMerges: alwaysMerges, in: coordinator).run(rounds: 4) {
                Issue.record("\(store.name), merges \(alwaysMerges), COREDATA_TEST_SEED=\(own): \(difference)")
                return
            }
            programs += 1
        }
        print("RandomGivingWayTests, \(store.name): \(programs) programs")
    }

    @Test("Two ends of a relationship that were read before and after others have related them are no broken structure")
    func endsReadAtDifferentTimes() throws {
        let coordinator = try GivingWayModel.coordinator(.inMemory)
        let program = GivingWayProgram(seed: 5_319_055_626_254_546_438, alwaysMerges: false, in: coordinator)
        try expect(program.run(rounds: 4), equals: nil)
    }
}
