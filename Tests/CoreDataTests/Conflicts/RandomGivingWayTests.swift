import CoreData
import RandomPrograms
import Testing

@Suite("Random rounds of two contexts with unique values") struct RandomGivingWayTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// `COREDATA_TEST_SEED` repeats a run, `COREDATA_SOAK_SECONDS` says for how long rounds are begun.
    @Test(
        "No relationship that nobody has cut is missing under any policy, and both contexts show what is stored",
        arguments: [ProgramStore.inMemory, .sqlite], [true, false])
    func rounds(_ store: ProgramStore, alwaysMerges: Bool) throws {
        let seed = Self.environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64(UInt32.max))
        let seconds = Self.environment["COREDATA_SOAK_SECONDS"].flatMap(Double.init) ?? 5
        print("RandomGivingWayTests, \(store.name): COREDATA_TEST_SEED=\(seed)")
        let start = ContinuousClock.now
        var program = UInt64(0)
        while ContinuousClock.now - start < .seconds(seconds) {
            let coordinator = try GivingWayModel.coordinator(store)
            if let difference = try GivingWayProgram(
                seed: seed &+ program &* 7919, alwaysMerges: alwaysMerges, in: coordinator
            ).run(rounds: 4) {
                Issue.record("\(store.name), merges \(alwaysMerges), COREDATA_TEST_SEED=\(seed &+ program &* 7919): \(difference)")
                return
            }
            program += 1
        }
        print("RandomGivingWayTests, \(store.name): \(program) programs")
    }
}
