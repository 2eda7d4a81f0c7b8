import CoreData
import RandomPrograms
import Testing

@Suite("Fifty clients at once") struct SoakTests {
    /// `COREDATA_SOAK_SECONDS` says for how long, under each merge policy; `COREDATA_SOAK_SEED` repeats what was printed.
    @Test("The store has what was acknowledged, under each merge policy, and threads are bounded")
    func soak() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let environment = ProcessInfo.processInfo.environment
            let seconds = environment["COREDATA_SOAK_SECONDS"].flatMap(Double.init) ?? 2
            let seed = environment["COREDATA_SOAK_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
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
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
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
