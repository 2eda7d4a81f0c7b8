#if PostgreSQL
import CoreData
import PostgreSQLStore
import RandomPrograms
import Testing

/// Random programs over two contexts of a database and a child of the first, compared with graphs in plain dictionaries.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: ``ProgramBatch`` says what the environment changes about that.
@Suite("Random programs over PostgreSQL") struct ProgramTests {
    @Test(
        "Whatever is edited, undone, saved, merged and refreshed in whichever order, every context shows what the naive graph says",
        arguments: [ProgramStore.postgreSQL, .postgreSQLCoordinators])
    func agreement(_ store: ProgramStore) async throws {
        // Not on a thread that all tasks share: the programs wait for the server.
        let difference = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ProgramBatch.run(store, seconds: 1.7) })
            }
        }
        if let difference { Issue.record("\(difference)") }
    }
}

extension ProgramStore {
    /// A schema that one coordinator opens.
    static let postgreSQL = ProgramStore(name: "PostgreSQL", isKept: true) { try openedCoordinator(freshOptions(), $0) }

    /// A schema that each context opens with a coordinator of its own, as the processes of several machines do, with a history.
    static let postgreSQLCoordinators = ProgramStore(name: "PostgreSQL, several coordinators") { model in
        let options = ServerHistoryTests.tracking()
        return try ProgramStore.models(like: model).map { try openedCoordinator(options, $0) }
    }
}
#endif
