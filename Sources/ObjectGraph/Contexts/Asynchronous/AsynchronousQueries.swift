internal import Foundation
internal import Platform
internal import Predicates

/// Queries the stores of a context for an asynchronous call, off the context's queue.
///
/// Stores that load asynchronously are awaited. Other stores are queried on the queue of a private context, which subclasses of Apple's
/// store classes receive; its ``NSManagedObjectContext/requestingContext`` is the context of the call. Results are kept in the stores'
/// row caches at least until the call returns.
// All mutable state is in a `LockedBox`; the kept objects are only released.
final class AsynchronousQueries: @unchecked Sendable {
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let caller: StoreCaller
    private struct State {
        var background: NSManagedObjectContext?
        var kept: [NSManagedObject] = []
        var held: [(access: CachedAccess, ids: [NSManagedObjectID])] = []
    }
    private let state = LockedBox(State())

    /// The rows that stores returned for objects.
    struct Rows {
        /// The rows that were loaded or already known.
        var known: [NSManagedObjectID: Row] = [:]
        /// The IDs of objects that do not exist in their store.
        var absent: Set<NSManagedObjectID> = []
        /// The objects that a store could not read.
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
    }

    /// Prepares queries for a context without a parent. Call it on the context's queue.
    ///
    /// - Throws: Code 134060 for a context without a coordinator.
    init(of context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator, context.parent == nil else { throw NoSource.shared.error }
        self.context = context
        self.coordinator = coordinator
        caller = context.caller
    }

    deinit { for (access, ids) in state.withLock({ $0.held }) { access.didUnregister(ids) } }

    // MARK: Fetches

    /// Returns each store's answer to a query.
    ///
    /// - Throws: The store's error; `CancellationError`.
    func answers(to query: StoreQuery) async throws -> [StoreAnswer] {
        try Task.checkCancellation()
        let readers = try coordinator.readers(for: query, in: context)
        let each = readers.count == 1 ? query : query.forEachOfSeveral
        var answers: [StoreAnswer] = []
        for reader in readers {
            if let store = reader.interface as? any AsynchronousStore {
                answers.append(try await answer(to: each, from: store, with: reader.rowAccess as? CachedAccess))
            } else {
                answers.append(try await inBackground { try self.answer(to: each, from: reader, in: $0) })
            }
        }
        return answers
    }

    private func answer(to query: StoreQuery, from store: any AsynchronousStore, with access: CachedAccess?) async throws -> StoreAnswer {
        let queryTime = RowCache.now
        let answer = try await store.fetch(query, for: caller)
        try Task.checkCancellation()
        guard case .rows(let rows) = answer, let access, caller.stalenessInterval != 0 else { return answer }
        let ids = rows.compactMap(\.objectID)
        hold(ids, with: access)
        access.file(rows, queryTime: queryTime)
        return .ids(ids)
    }

    /// Returns the answer of a store that blocks a thread, with prefetched relationships and values already read.
    private func answer(to query: StoreQuery, from reader: NSPersistentStore, in background: NSManagedObjectContext) throws -> StoreAnswer {
        let answer = try reader.interface.answer(query, for: background.caller)
        guard query.resultType == .managedObjectResultType else {
            if case .objects(let objects) = answer { return .ids(objects.objects.map(\.objectID)) }
            return answer
        }
        let isComplete = if case .rows = answer { query.relationshipKeyPathsForPrefetching.isEmpty } else { false }
        if isComplete { return answer }
        let objects = try background.managedObjects(in: answer, for: query)
        try background.prefetch(query, for: objects)
        keep(objects)
        if case .rows = answer { return answer }
        return .ids(objects.map(\.objectID))
    }

    // MARK: Rows and relationships

    /// Loads the rows of many objects, with one query for each store, or for each thousand objects.
    ///
    /// - Throws: The store's error; `CancellationError`.
    func rows(for ids: [NSManagedObjectID]) async throws -> Rows {
        var found = Rows()
        for (original, ids) in coordinator.groups(of: ids) {
            try Task.checkCancellation()
            let reader = try coordinator.reader(original, for: context)
            guard let store = reader.interface as? any AsynchronousStore else {
                try await inBackground { try Self.prepareRows(for: ids, of: reader, in: $0) }
                continue
            }
            guard let access = reader.rowAccess as? CachedAccess else { continue }
            hold(ids, with: access)
            let missing = access.cache.withoutRow(ids, maximumAge: caller.stalenessInterval)
            for part in missing.parts(of: FaultBatch.standardPartSize) {
                let queryTime = RowCache.now
                var absent = Set(part)
                let rows: [Row]
                do {
                    rows = try await store.fetchRows(for: part, for: caller)
                } catch let unread as UnreadObjects {
                    rows = unread.rows
                    found.failures.merge(unread.failures) { $1 }
                    absent.subtract(unread.failures.keys)
                }
                for row in access.keep(rows, queryTime: queryTime) {
                    guard let id = row.objectID else { continue }
                    absent.remove(id)
                    found.known[id] = row
                }
                found.absent.formUnion(absent)
                try Task.checkCancellation()
            }
        }
        return found
    }

    private static func prepareRows(
        for ids: [NSManagedObjectID], of reader: NSPersistentStore, in background: NSManagedObjectContext
    ) throws {
        let caller = background.caller
        if try reader.rowAccess.prepareRows(for: ids, for: caller) || reader.interface.hasRowsInMemory || caller.stalenessInterval == 0 {
            return
        }
        for id in ids { _ = try reader.rowAccess.row(for: id, for: caller) }
    }

    /// Returns rows that contain a property missing from the objects' current rows.
    ///
    /// - Throws: The store's error; `UnreadObjects` with the others' rows; `CancellationError`.
    func values(of property: NSPropertyDescription, for ids: [NSManagedObjectID]) async throws -> [Row] {
        var found: [Row] = []
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        for (original, ids) in coordinator.groups(of: ids) {
            try Task.checkCancellation()
            let reader = try coordinator.reader(original, for: context)
            guard let store = reader.interface as? any AsynchronousStore else {
                found += try await inBackground { try reader.rowAccess.loadValues(of: [property], for: ids, for: $0.caller) }
                continue
            }
            for part in ids.parts(of: FaultBatch.standardPartSize) {
                let queryTime = RowCache.now
                let rows: [Row]
                do {
                    rows = try await store.fetchValues(of: [property], for: part, for: caller)
                } catch let unread as UnreadObjects {
                    rows = unread.rows
                    failures.merge(unread.failures) { $1 }
                }
                found += (reader.rowAccess as? CachedAccess)?.keep(rows, queryTime: queryTime) ?? rows
                try Task.checkCancellation()
            }
        }
        if !failures.isEmpty { throw UnreadObjects(failures, rows: found) }
        return found
    }

    /// Loads a relationship of many objects, like ``rows(for:)``.
    ///
    /// - Returns: The answers of stores that load asynchronously.
    /// - Throws: The store's error; `UnreadObjects` with the others' answers; `CancellationError`.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        for (original, ids) in coordinator.groups(of: ids) {
            try Task.checkCancellation()
            let reader = try coordinator.reader(original, for: context)
            guard let store = reader.interface as? any AsynchronousStore else {
                try await inBackground { try Self.prepareRelated(relationship, from: ids, of: reader, in: $0) }
                continue
            }
            for part in ids.parts(of: FaultBatch.standardPartSize) {
                let queryTime = RowCache.now
                var part = part
                let related: [NSManagedObjectID: [NSManagedObjectID]]
                do {
                    related = try await store.fetchRelated(by: relationship, from: part, for: caller)
                } catch let unread as UnreadObjects {
                    related = unread.related
                    part.removeAll { unread.failures[$0] != nil }
                    failures.merge(unread.failures) { $1 }
                }
                for id in part { found[id] = related[id] ?? [] }
                if let access = reader.rowAccess as? CachedAccess {
                    hold(part, with: access)
                    access.keep(related, of: relationship, for: part, queryTime: queryTime)
                }
                try Task.checkCancellation()
            }
        }
        if !failures.isEmpty { throw UnreadObjects(failures, related: found) }
        return found
    }

    private static func prepareRelated(
        _ relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], of reader: NSPersistentStore,
        in background: NSManagedObjectContext
    ) throws {
        let caller = background.caller
        if reader.interface.hasRowsInMemory || caller.stalenessInterval == 0 { return }
        if try reader.rowAccess.prepareRelated(of: relationship, for: ids, for: caller) { return }
        for id in ids { _ = try reader.rowAccess.relatedIDs(of: relationship, for: id, for: caller) }
    }

    // MARK: Kept results

    private func hold(_ ids: [NSManagedObjectID], with access: CachedAccess) {
        access.didRegister(ids)
        state.withLock { $0.held.append((access, ids)) }
    }

    private func keep(_ objects: [NSManagedObject]) { state.withLock { $0.kept += objects } }

    /// Runs `body` on the queue of the call's private context and suspends until it is done.
    ///
    /// - Throws: The errors of `body`; `CancellationError`. A store that is already answering is not interrupted.
    private func inBackground<Result>(_ body: @escaping (NSManagedObjectContext) throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        let background = backgroundContext()
        let body = QueueBound(body, on: background)
        let result = try await background.perform { Transfer(try body.value(background)) }
        try Task.checkCancellation()
        return result.value
    }

    private func backgroundContext() -> NSManagedObjectContext {
        state.withLock { state in
            if let background = state.background { return background }
            let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            made.persistentStoreCoordinator = coordinator
            made.requester = context
            made.stalenessInterval = caller.stalenessInterval
            made.transactionAuthor = caller.author
            made.name = caller.name
            state.background = made
            return made
        }
    }
}

extension Array {
    /// Splits the elements into parts of at most `size`.
    func parts(of size: Int) -> [[Element]] {
        if count <= size { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min(count, $0 + size)]) }
    }
}
