#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// A request that the attempts of a transaction read in turn: a `Transfer` can be taken only once.
// The thread that has the request waits for the attempts, and does nothing with it meanwhile.
private struct RepeatedRequest<Request>: @unchecked Sendable {
    let request: Request
}

/// Executes batch requests in SQL, each in one transaction: completely or not at all.
extension PostgreSQLStore: BatchStore {
    /// - Throws: An error for values that attributes cannot hold, predicates without SQL, and violated constraints; those of the server.
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        let content = content!
        defer { NSPersistentStoreCoordinator.forgetRows(of: self) }
        switch request {
        case let insert as NSBatchInsertRequest:
            // The handlers run here, on the queue of their context.
            let insertion = try BatchInsertion(insert, content) { try keys($0, of: $1) }
            return try Self.execute("a batch insert", content, caller) { try await $0.insert(insertion, caller.mergePolicy) }
        case let update as NSBatchUpdateRequest:
            let repeated = RepeatedRequest(request: update)
            return try Self.execute("a batch update", content, caller) { try await $0.update(repeated.request) }
        case let delete as NSBatchDeleteRequest:
            let repeated = RepeatedRequest(request: delete)
            return try Self.execute("a batch delete", content, caller) { try await $0.delete(repeated.request) }
        default:
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "\(Swift.type(of: request)) cannot be executed by the store at \(content.place).",
                next: "Send the request to a store that serves it.")
        }
    }

    private static func execute(
        _ what: String, _ content: StoreContent, _ caller: StoreCaller,
        _ body: @escaping @Sendable (inout BatchRun) async throws -> BatchOutcome
    ) throws -> BatchOutcome {
        do {
            return try BlockingCall.wait(for: what, onCallingThread: true) {
                try await StoreTransaction(content: content).commit(repeatsUniqueness: false) { connection, commit in
                    var run = BatchRun(content, connection, commit: commit, for: caller)
                    try await run.begin()
                    let outcome = try await body(&run)
                    try await run.finish()
                    return (outcome, .open)
                }
            }
        } catch let error as ServerError {
            guard error.isUniqueness else { throw content.failure(error, "has not executed \(what)") }
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError, "The batch request cannot be executed: objects would share unique values.",
                reason: "PostgreSQL says: \(error)", next: "Leave the values out, or choose other objects.")
        }
    }
}
#endif
