internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The change feed of a cached store's backend, which reports the changes of others in order.
///
/// The position in that order is stored in the file, in the transaction that imports the changes before it: a program that is killed continues from there.
// Everything is in a `LockedBox`.
final class CacheFeed: Sendable {
    private let last = LockedBox<Task<ChangeFeed.Found, any Error>?>(nil)

    /// Merges the changes, after earlier calls have finished.
    func merge(into coordinator: NSPersistentStoreCoordinator, _ store: CachedStore) async throws -> ChangeFeed.Found {
        guard store.backend.hasChangeFeed else { throw RemoteStoreError.noChangeFeed(at: store.backend.location) }
        let task = last.withLock { last in
            let earlier = last
            let task = Task(executorPreference: BlockingCall.executor) {
                _ = await earlier?.result
                return try await Self.mergeNow(store)
            }
            last = task
            return task
        }
        return try await task.value
    }

    /// The position that was reached; nil before the first call, and if the backend no longer knows it.
    private static func token(_ store: CachedStore) throws -> ChangeToken? { try store.file.write { try $0.feedToken() } }

    private static func mergeNow(_ store: CachedStore) async throws -> ChangeFeed.Found {
        guard var token = try token(store) else { return try await begin(store) }
        var changes = OutsideChanges()
        var (repeats, parts) = (0, 0)
        while true {
            // The merged changes stay, and the next call continues there.
            if parts >= store.reader.options.maximumPages { throw RemoteStoreError.tooManyChanges(parts, at: store.backend.location) }
            parts += 1
            // Changes were skipped meanwhile.
            guard try Self.token(store) == token || !store.file.keeps(.bookmark) else { return try await begin(store) }
            let askedAt = store.file.order.begin()
            defer { store.file.order.end(askedAt) }
            let answer: BackendChanges
            do {
                answer = try await store.reader.runner.changes(ChangesRequest(token: token, decoding: store.reader.decoding))
            } catch is ExpiredChangeToken {
                return try await begin(store)
            }
            if answer.hasMore, answer.token == token { throw RemoteStoreError.endlessChanges(token, at: store.backend.location) }
            store.reader.versions.number(answer.answer)
            let applied = try apply(answer, token, askedAt, store)
            changes.add(applied.changes)
            // If rows became newer while the answer was in flight, the request is repeated: now, or by the next call.
            if !applied.isWhole {
                repeats += 1
                if repeats > 2 { return (token, false, changes) }
                continue
            }
            token = answer.token
            if !answer.hasMore { return (token, false, changes) }
        }
    }

    /// Imports an answer together with its end position, unless a part of it is skipped because the existing values may be newer.
    private static func apply(
        _ answer: BackendChanges, _ before: ChangeToken, _ askedAt: UInt64, _ store: CachedStore
    ) throws -> (changes: OutsideChanges, isWhole: Bool) {
        store.reader.forgetEarlierAnswers()
        let removed = answer.removed
        let isNews = answer.token != before || !removed.isEmpty || answer.answer.count > 0
        if !isNews { return (OutsideChanges(), true) }
        let rows = Array(answer.answer.rows)
        let order = store.file.order
        let skips = order.skips
        if !store.file.keeps(.bookmark) { try store.file.write { try $0.setFeedToken(answer.token) } }
        var isWhole = true
        // An object that is both added and removed was replaced.
        let added = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        let filed = try store.take(rows, askedAt: askedAt, tellsAll: true) { transaction, _ in
            try remove(removed.filter { added[$0.id] == nil }, by: added, askedAt, store, in: transaction)
            isWhole = try order.skips == skips && transaction.feedToken() == before
            if isWhole { try transaction.setFeedToken(answer.token) }
        } before: { transaction in
            try remove(removed.filter { added[$0.id] != nil }, by: added, askedAt, store, in: transaction)
            for row in rows {
                guard let resource = store.reader.decoding.resourceID(row.knownObjectID) else { continue }
                order.noteThere(resource, store.importer.entity(row.knownObjectID).root, askedAt: askedAt)
            }
        }
        return (filed.outside, isWhole || !store.file.keeps(.bookmark))
    }

    /// Removes the objects that the backend has reported as deleted.
    ///
    /// - Parameter added: The rows of the answer: an object that has the version of its row was created after the deletion.
    private static func remove(
        _ removed: [(id: NSManagedObjectID, version: ResourceVersion?)], by added: [NSManagedObjectID: Row], _ askedAt: UInt64,
        _ store: CachedStore, in transaction: CacheTransaction
    ) throws {
        var gone: [CacheKey] = []
        var inserting: Set<String> = []
        if !removed.isEmpty {
            for record in try store.outbox.records() where record.awaitsInsert { inserting.insert(record.key.root) }
        }
        for (id, version) in removed {
            // The removed object may be a new object of this cache whose answer is still to come, even if another object is known by the identifier: the
            // request is repeated.
            if inserting.contains(id.owningEntity.top.name ?? "?"), added[id] == nil { store.file.order.noteSkip() }
            guard let resource = store.reader.decoding.resourceID(id),
                let key = try transaction.key(of: resource, in: store.file.entity(id.owningEntity)), let row = try transaction.row(key),
                key.entity.state(of: row) != .pendingInsert
            else { continue }
            let known = store.file.entity(inner: row.knownObjectID.owningEntity).version(of: row)
            if known?.isNewer(than: version) ?? false { continue }
            if let new = added[id] {
                if let known, known == store.reader.versions.version(id, new.version) { continue }
                // The known object is the new one, in an earlier version.
                if store.importer.isSame(row, new) == true { continue }
            }
            gone.append(key)
        }
        try store.remove(gone, askedAt: askedAt, isTold: true, in: transaction)
    }

    /// Starts at the current position, after the content of the file was read again. Pending changes stay unchanged.
    private static func begin(_ store: CachedStore) async throws -> ChangeFeed.Found {
        let token = try await store.reader.runner.changes(ChangesRequest(token: nil, decoding: store.reader.decoding)).token
        store.reader.forgetEarlierAnswers()
        let caller = StoreCaller(stalenessInterval: 0)
        let skips = store.file.order.skips
        let changes = try await store.readEverythingAnew(for: caller)
        // Changes that are made during the read come with the next call. If a result was skipped, the next call starts over.
        let isWhole = store.file.order.skips == skips || !store.file.keeps(.bookmark)
        try store.file.write { try $0.setFeedToken(isWhole ? token : nil) }
        return (token, true, changes)
    }
}

extension CachedStore {
    /// The maximum number of objects of an entity that are read again although no context has them and no query contains them.
    static let mostReadAnew = 1000

    /// Repeats all complete queries, and reads every other object. Windows are removed.
    func readEverythingAnew(for caller: StoreCaller) async throws -> OutsideChanges {
        var changes = OutsideChanges()
        var gone: [Coverage] = []
        var seen = KeySet()
        for coverage in coverages.all {
            guard coverage.isWhole, let query = try query(of: coverage) else {
                gone.append(coverage)
                continue
            }
            guard let filed = try await fetchFromBackend(query, for: caller) else { continue }
            changes.add(filed.outside)
            for key in filed.keys { seen.insert(key) }
        }
        let forgotten = gone
        if !forgotten.isEmpty { try file.write { try coverages.remove(forgotten, in: $0) } }
        // The other objects in the file may have changed or been deleted, without any notification.
        let held = Set(persistentStoreCoordinator?.heldIDs(of: self).compactMap { file.key(ofOuter: $0) } ?? [])
        for entity in file.entities.filter({ $0.inner.superentity == nil }).sorted(by: { $0.name < $1.name }) {
            guard case .rows(let rows) = try file.read(StoreQuery(entity.inner)) else { continue }
            var shown: [NSManagedObjectID] = []
            var others: [(key: CacheKey, id: NSManagedObjectID, isPending: Bool)] = []
            for row in rows {
                let key = file.key(of: row)
                let state = key.entity.state(of: row)
                if state == .pendingInsert || state == .stub && !held.contains(key) || seen.contains(key) { continue }
                guard let id = remoteID(row, key.entity) else { continue }
                if held.contains(key) { shown.append(id) } else { others.append((key, id, state.isPending)) }
            }
            if !shown.isEmpty { try await readFromBackend(shown, for: caller) }
            // If there are very many, the objects that no context has are read when they are needed.
            let readsAll = others.count <= Self.mostReadAnew
            var forgotten = readsAll ? [] : others.filter { !$0.isPending }.map(\.key)
            let read = readsAll ? others : others.filter(\.isPending)
            do { if !read.isEmpty { try await readFromBackend(read.map(\.id), for: caller) } } catch let error as NSError
                where error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreUnsupportedRequestTypeError
            {
                // Objects that cannot be requested by their identifiers become unknown.
                forgotten += read.map(\.key)
            }
            let unknown = Set(forgotten)
            if !unknown.isEmpty { try file.write { try evict(unknown, keepsQueries: true, in: $0) } }
        }
        return changes
    }

    /// Returns a stored query as a query of a context; nil if it cannot be parsed.
    private func query(of coverage: Coverage) throws -> StoreQuery? {
        guard let outer = file.entity(named: coverage.entity)?.outer else { return nil }
        var parts: [PredicateTree] = []
        for clause in coverage.clauses {
            guard
                let tree = clause.tree(naming: { [file, token] name in
                    let parts = name.split(separator: "/")
                    guard parts.count == 2, let number = Int64(parts[1]), let entity = file!.entity(named: String(parts[0])) else {
                        return nil
                    }
                    return entity.outerID(number, token)
                })
            else { return nil }
            parts.append(tree)
        }
        return StoreQuery(outer, includesSubentities: coverage.includesSubentities)
            .with(predicate: parts.isEmpty ? nil : NSPredicate(tree: .and(parts)))
    }

    /// Polls the change feed for as long as the store is open.
    ///
    /// A backend that conforms to ``ChangeSignallingBackend`` is asked when it signals a change, and any other after each interval. If it cannot be reached,
    /// the error is reported to ``CachedStoreOptions/didFail``, and the next attempt follows after the interval.
    ///
    /// - Parameter interval: The time between two requests.
    public func followChanges(every interval: Duration) {
        refreshes.begin("changes") { [weak self, clock = file.clock] in
            guard let signals = (self?.backend as? any ChangeSignallingBackend)?.changeSignals() else {
                while !Task.isCancelled, let store = self {
                    await store.pullChanges()
                    do { try await clock.sleep(for: interval) } catch { return }
                }
                return
            }
            // The store is not retained while nothing happens.
            var source = signals
            while !Task.isCancelled, self != nil {
                await self?.pullChanges()
                do { for try await _ in source { await self?.pullChanges() } } catch { self?.report(error) }
                // The stream has ended: it is opened again after a while.
                do { try await clock.sleep(for: interval) } catch { return }
                source = (self?.backend as? any ChangeSignallingBackend)?.changeSignals() ?? signals
            }
        }
    }

    private func pullChanges() async {
        guard let coordinator = persistentStoreCoordinator else { return }
        do { _ = try await mergeChanges(into: coordinator) } catch is CancellationError {
        } catch { report(error) }
    }

    func mergeChanges(into coordinator: NSPersistentStoreCoordinator) async throws -> ChangeFeed.Found {
        try await feed.merge(into: coordinator, self)
    }
}

extension CoordinatedCachedStore: RemoteChangeMerging {}

/// A backend that signals changes, for example by server-sent events.
public protocol ChangeSignallingBackend: Backend {
    /// Returns a stream with an element whenever ``Backend/changes(_:)`` has new changes. It ends when the connection is closed.
    func changeSignals() -> AsyncThrowingStream<Void, any Error>
}
