import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Fifty clients at once") struct SoakTests {
    /// For a fixed time under each merge policy.
    @Test("The store has what was acknowledged, under each merge policy, and threads are bounded")
    func soak() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let seconds = TestTime.seconds(0.7)
            let seed = TestSeed.current(for: "Fifty clients at once")
            Deadline.start(seconds: seconds * 10 + 300)
            for policy in Soak.Policy.allCases {
                let ledger = try await SoakTests.ledger(policy, seed: seed, seconds: seconds)
                let summary = "\(ledger.saves) saves, \(ledger.conflicts) conflicts, \(ledger.mostThreads) threads at most"
                print("Soak with seed \(seed), \(policy.rawValue): \(summary)")
                #expect(ledger.failures.isEmpty, "seed \(seed), \(policy.rawValue): \(ledger.failures.prefix(10))")
                #expect(ledger.saves > 0)
                #expect(ledger.mostThreads <= Soak.clientCount + 4 * max(4, ProcessInfo.processInfo.activeProcessorCount))
            }
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }

    /// Lets the clients work on a file, and compares.
    private static func ledger(_ policy: Soak.Policy, seed: UInt64, seconds: Double) async throws -> SoakLedger {
        let scratch = try ScratchFolder("soak")
        defer { scratch.remove() }
        let directory = scratch.url
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Soak.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("soak.sqlite"))
        let soak = Soak(policy, seed: seed, coordinator, shared: try Soak.insertShared(coordinator))
        var ledger = await soak.run(seconds: seconds)
        ledger.failures += try ledger.differences(from: coordinator, policy)
        try coordinator.remove(store)
        return ledger
    }
}
