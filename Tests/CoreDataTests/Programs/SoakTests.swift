import CoreData
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
                let ledger = try await Soak(policy, seed: seed).run(seconds: seconds)
                let summary = "\(ledger.saves) saves, \(ledger.conflicts) conflicts, \(ledger.mostThreads) threads at most"
                print("Soak with seed \(seed), \(policy.rawValue): \(summary)")
                #expect(ledger.failures.isEmpty, "seed \(seed), \(policy.rawValue): \(ledger.failures.prefix(10))")
                #expect(ledger.saves > 0)
                #expect(ledger.mostThreads <= Soak.clientCount + 4 * max(4, ProcessInfo.processInfo.activeProcessorCount))
            }
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}
