#if PostgreSQL
import CoreData
import ObjectGraph
import StoreConformance
import Testing

@testable import PostgreSQLStore

/// A coordinator with a store of the model of the conformance kit, or of another model.
func coordinator(
    _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel = ConformanceModel.make(), url: String? = nil
) async throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try await coordinator.addPostgreSQLStore(at: url ?? server().url, options: options)
    return coordinator
}

/// The same, for synchronous code.
func openedCoordinator(
    _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, url: String? = nil
) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let failure = OpeningFailure()
    let description = NSPersistentStoreDescription(postgreSQL: try #require(URL(string: url ?? server().url)), options: options)
    coordinator.addPersistentStore(with: description) { failure.error = $1 }
    if let error = failure.error { throw error }
    return coordinator
}

// Used on the calling thread.
private final class OpeningFailure: @unchecked Sendable { var error: (any Error)? }

/// A context of a coordinator.
func context(_ coordinator: NSPersistentStoreCoordinator, author: String? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = author
    return context
}

/// Connections of the test's own, which see the tables of a store.
func rawPool(_ options: PostgreSQLStoreOptions, limit: Int = 2, url: String? = nil) throws -> ConnectionPool {
    let settings = try ConnectionSettings(
        try #require(URL(string: url ?? server().url)), schema: options.schema, statementTimeout: nil, password: nil)
    return ConnectionPool(settings, limit: limit, timeout: 30)
}

extension ConnectionPool {
    /// Runs a statement until it finds a row.
    func wait(for sql: String, _ values: [BinaryValue] = []) async throws {
        while try await with({ try await $0.query(sql, values).rowCount }) == 0 { await Task.yield() }
    }
}

/// A transaction of another program that locks rows until it is released.
// The continuation ends the stream once.
final class HeldTransaction: Sendable {
    private let leave: AsyncStream<Void>.Continuation
    private let task: Task<Void, any Error>

    /// Begins the transaction and runs statements in it.
    init(_ pool: ConnectionPool, _ statements: String) async throws {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (left, leave) = AsyncStream<Void>.makeStream()
        self.leave = leave
        task = Task {
            defer { enter.finish() }
            try await pool.with { connection in
                try await connection.execute("BEGIN; " + statements)
                enter.yield()
                for await _ in left {}
                try await connection.execute("COMMIT")
            }
        }
        for await _ in entered { return }
        try await task.value
    }

    /// Commits the transaction.
    func release() async throws {
        leave.finish()
        try await task.value
    }
}

/// The remote change notifications of a coordinator: their user info.
final class News: Sendable {
    let stream: AsyncStream<Transfer<[AnyHashable: Any]>>
    // Removed once, by whoever releases the last reference.
    private let observer: Transfer<any NSObjectProtocol>

    init(_ coordinator: NSPersistentStoreCoordinator) {
        let (stream, continuation) = AsyncStream<Transfer<[AnyHashable: Any]>>.makeStream()
        self.stream = stream
        observer = Transfer(
            NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) { note in
                continuation.yield(Transfer(note.userInfo ?? [:]))
            })
    }

    deinit { NotificationCenter.default.removeObserver(observer.value) }
}
#endif
