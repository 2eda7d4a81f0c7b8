import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Random programs over two contexts of one store and a child of the first, compared with graphs in plain dictionaries.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: ``ProgramBatch`` says what the environment changes about that.
@Suite("Random programs over several contexts") struct ProgramTests {
    private func run(_ store: ProgramStore, seconds: Double) throws {
        if let difference = try ProgramBatch.run(store, seconds: seconds) { Issue.record("\(difference)") }
    }

    @Test("Whatever is edited, undone, saved, merged and refreshed in whichever order, every context shows what the naive graph says")
    func agreement() throws { try run(.inMemory, seconds: 5) }

    @Test(
        "The same programs show the same over other stores",
        arguments: [ProgramStore.atomic, .sqlite, .incremental, .incrementalInBatches])
    func otherStores(_ store: ProgramStore) throws { try run(store, seconds: 1.7) }

    @Test("Contexts of several coordinators on one file show the same, as processes do that tell each other what they have saved")
    func coordinators() throws { try run(.sqliteFile, seconds: 1.7) }

    @Test("While saves, fetches, loads and refreshes are suspended, what is done meets their results by the ordinary merge")
    func suspendedCalls() async throws {
        let seed = TestSeed.current(for: "suspendedCalls")
        // Not on a thread that all tasks share: the program waits for tasks.
        let batch = ProgramBatch(seed: seed, TestRounds(seconds: 10, atLeast: 5), store: .server)
        let (count, difference) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try batch.run() }) }
        }
        if let difference { Issue.record("\(difference)") }
        print("suspendedCalls: \(count) programs")
    }
}
