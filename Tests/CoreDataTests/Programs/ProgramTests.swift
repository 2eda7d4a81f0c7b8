import CoreData
import Testing

/// Random programs over two contexts of one store and a child of the first, compared with graphs in plain dictionaries.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time. `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_PROGRAMS` says how many
/// programs one has, `COREDATA_TEST_FIRST` with which of them it begins. With `COREDATA_SOAK_PROGRAMS` the programs are as many as `Scripts/soak` asks
/// for, of several seeds.
@Suite("Random programs over several contexts") struct ProgramTests {
    static let programs = ProcessInfo.processInfo.environment["COREDATA_TEST_PROGRAMS"].flatMap(Int.init)

    /// Runs programs over a store for a number of seconds, or the full number of them.
    private func run(_ store: ProgramStore, seconds: Double, seeds: Int, count: Int) throws {
        let environment = ProcessInfo.processInfo.environment
        let known = environment["COREDATA_TEST_SEED"].flatMap(UInt64.init)
        let soaks = environment["COREDATA_SOAK_PROGRAMS"] != nil
        for _ in 0..<(soaks && known == nil ? seeds : 1) {
            let seed = known ?? .random(in: 0...UInt64(UInt32.max))
            print("Programs, \(store.name): COREDATA_TEST_SEED=\(seed)")
            var batch = ProgramBatch(seed: seed, count: Self.programs ?? (soaks ? count : Int.max), store: store)
            if Self.programs == nil, !soaks { batch.seconds = seconds }
            print("Programs, \(store.name), seed \(seed): \(try batch.run()) were run")
        }
    }

    @Test("Whatever is edited, undone, saved, merged and refreshed in whichever order, every context shows what the naive graph says")
    func agreement() throws { try run(.inMemory, seconds: 15, seeds: 20, count: 10_000) }

    @Test(
        "The same programs show the same over other stores",
        arguments: [ProgramStore.atomic, .sqlite, .incremental, .incrementalInBatches])
    func otherStores(_ store: ProgramStore) throws { try run(store, seconds: 5, seeds: 5, count: 2000) }

    @Test("Contexts of several coordinators on one file show the same, as processes do that tell each other what they have saved")
    func coordinators() throws { try run(.sqliteFile, seconds: 5, seeds: 5, count: 2000) }

    /// For half a minute, or as long as `COREDATA_SOAK_SECONDS` says.
    @Test("While saves, fetches, loads and refreshes are suspended, what is done meets their results by the ordinary merge")
    func suspendedCalls() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max)
        let seconds = environment["COREDATA_SOAK_SECONDS"].flatMap(Double.init) ?? 30
        print("suspendedCalls: COREDATA_TEST_SEED=\(seed)")
        var batch = ProgramBatch(seed: seed, count: Self.programs ?? Int.max, store: .server)
        batch.seconds = seconds
        // Not on a thread that all tasks share: the program waits for tasks.
        let made = batch
        let count = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try made.run() }) }
        }
        print("suspendedCalls: \(count) programs")
    }
}
