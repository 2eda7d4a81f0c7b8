import CoreData
import RandomPrograms
import Testing

/// Random programs over two contexts of one store and a child of the first, compared with graphs in plain dictionaries.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: ``ProgramBatch`` says what the environment changes about that.
@Suite("Random programs over several contexts") struct ProgramTests {
    private func run(_ store: ProgramStore, seconds: Double, seeds: Int, count: Int) throws {
        let differences = try ProgramBatch.run(store, seconds: seconds, seeds: seeds, count: count)
        for difference in differences { Issue.record("\(difference)") }
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
        var batch = ProgramBatch(seed: seed, count: ProgramBatch.programs ?? Int.max, store: .server)
        batch.seconds = seconds
        // Not on a thread that all tasks share: the program waits for tasks.
        let made = batch
        let (count, difference) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try made.run() }) }
        }
        if let difference { Issue.record("\(difference)") }
        print("suspendedCalls: \(count) programs")
    }
}
