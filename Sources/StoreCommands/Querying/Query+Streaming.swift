internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates
internal import SQLQueries
internal import SQLiteStore

extension Query {
    /// The maximum number of objects in memory at a time.
    private static let partSize = 512

    /// Calls `body` with each object in the order of the query, on the context's queue. An object is valid until `body` returns.
    ///
    /// The rows of a SQLite store are read while `body` uses them, so only their keys are all in memory.
    ///
    /// - Throws: The errors of the fetch, of unreadable values, and of `body`; `CancellationError` after an interrupt.
    package func forEach(_ body: (NSManagedObject) throws -> Void) throws {
        try store.read {
            // For a request, a limit of 0 means no limit.
            if isEmpty { return }
            if let sqlite = store.store as? SQLiteStore {
                let ids = request(NSManagedObjectID.self)
                ids.resultType = .managedObjectIDResultType
                let query = try store.context.storeQuery(for: ids)
                do {
                    return try sqlite.forEachPart(of: query, size: Self.partSize) { try part($0, body) }
                } catch  where SQLQueryError.isUntranslatable(error) {
                    // No row has been read yet: the query is completed in memory.
                }
            }
            let request = request(NSManagedObject.self)
            request.relationshipKeyPathsForPrefetching = prefetchedPaths
            for object in try store.context.fetch(request) {
                try Interruption.check()
                try body(object)
            }
            try throwPendingError()
        }
    }

    private func part(_ ids: [NSManagedObjectID], _ body: (NSManagedObject) throws -> Void) throws {
        try Interruption.check()
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [ids])
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = prefetchedPaths
        let objects = try store.context.fetch(request)
        let byID = Dictionary(objects.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        // A row that another process has deleted meanwhile is skipped.
        for id in ids { if let object = byID[id] { try body(object) } }
        try throwPendingError()
        store.context.reset()
    }

    private func throwPendingError() throws {
        if let error = store.context.pendingFaultError { throw error }
    }
}
