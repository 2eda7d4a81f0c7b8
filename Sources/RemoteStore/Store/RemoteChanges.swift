internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// The changes of others in a remote store.
public struct RemoteChanges: Sendable {
    /// The position from which the next changes are requested.
    public let token: ChangeToken
    /// Whether the backend no longer had the changes since the last call, or was not asked before. If so, all objects of the contexts were read again, and new
    /// resources are found only by fetches.
    public let isWhole: Bool
    private let changes: OutsideChanges

    init(token: ChangeToken, isWhole: Bool, _ changes: OutsideChanges) {
        self.token = token
        self.isWhole = isWhole
        self.changes = changes
    }

    /// The objects that contexts did not have, which are mostly new ones.
    public var insertedObjectIDs: [NSManagedObjectID] { changes.inserted }
    /// The objects with changed values.
    public var updatedObjectIDs: [NSManagedObjectID] { changes.updated }
    /// The deleted objects.
    public var deletedObjectIDs: [NSManagedObjectID] { changes.deleted }
    /// The objects whose relationships have changed because of these changes.
    public var refreshedObjectIDs: [NSManagedObjectID] { changes.refreshed }
    /// The IDs as in a notification of a save, for `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
    public var userInfo: [AnyHashable: Any] { changes.userInfo }
}

extension NSPersistentStoreCoordinator {
    /// Requests the changes of others from the backend of a remote store, and merges them.
    ///
    /// Contexts with `automaticallyMergesChangesFromParent` merge them on their own queues; `NSPersistentStoreRemoteChange` is posted. The first call for a
    /// store starts at the current position: make it before objects are displayed, because all objects of the contexts are read again. The same happens if the
    /// backend no longer has the changes since the last call. Calls run one at a time, and are not cancelled.
    ///
    /// - Parameters:
    ///   - store: A store that was added by ``addRemoteStore(_:configurationName:options:)``.
    ///   - contexts: Further contexts that merge the changes, parents before their children. They have merged them when the method returns.
    /// - Returns: The changes.
    /// - Throws: Code 134091 for a store whose backend has no change feed; the backend's error. Changes that were merged before stay merged.
    @discardableResult
    public func mergeRemoteChanges(
        of store: NSPersistentStore, into contexts: [NSManagedObjectContext] = []
    ) async throws -> RemoteChanges {
        guard let remote = store as? any RemoteChangeMerging else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The store at \(store.url?.absoluteString ?? "?") has no remote changes.",
                reason: "It is no remote store.", next: "Give the store that addRemoteStore(_:) has returned.")
        }
        let found = try await remote.mergeChanges(into: self)
        for context in contexts { await context.merge(found.changes) }
        return RemoteChanges(token: found.token, isWhole: found.isWhole, found.changes)
    }
}

/// A store whose backend may report the changes of others.
protocol RemoteChangeMerging: NSPersistentStore {
    /// Requests the changes, and merges them, after earlier calls have finished.
    func mergeChanges(into coordinator: NSPersistentStoreCoordinator) async throws -> ChangeFeed.Found
}

extension BackendStore: RemoteChangeMerging {
    func mergeChanges(into coordinator: NSPersistentStoreCoordinator) async throws -> ChangeFeed.Found {
        try await feed.merge(into: coordinator, self)
    }
}

/// The changes of others, which a backend reports in order.
// The mutable state is in a `LockedBox`.
final class ChangeFeed: Sendable {
    typealias Found = (token: ChangeToken, isWhole: Bool, changes: OutsideChanges)

    private struct State {
        var token: ChangeToken?
        var last: Task<Found, any Error>?
    }

    private let reader: RemoteReader
    private let hasFeed: @Sendable () -> Bool
    private let state = LockedBox(State())

    init(_ reader: RemoteReader, hasFeed: @escaping @Sendable () -> Bool) {
        self.reader = reader
        self.hasFeed = hasFeed
    }

    /// Merges the changes, after earlier calls have finished.
    func merge(into coordinator: NSPersistentStoreCoordinator, _ store: BackendStore) async throws -> Found {
        guard hasFeed() else { throw RemoteStoreError.noChangeFeed(at: reader.location) }
        let task = state.withLock { state in
            let earlier = state.last
            let task = Task(executorPreference: BlockingCall.executor) { [self] in
                _ = await earlier?.result
                return try await mergeNow(into: coordinator, store)
            }
            state.last = task
            return task
        }
        return try await task.value
    }

    private func mergeNow(into coordinator: NSPersistentStoreCoordinator, _ store: BackendStore) async throws -> Found {
        guard var token = state.withLock({ $0.token }) else { return try await begin(coordinator, store) }
        var changes = OutsideChanges()
        var parts = 0
        while true {
            // The merged changes stay, and the next call continues there.
            if parts >= reader.options.maximumPages { throw RemoteStoreError.tooManyChanges(parts, at: reader.location) }
            parts += 1
            let time = AskTime(reader.options.now())
            let answer: BackendChanges
            do {
                answer = try await reader.runner.changes(ChangesRequest(token: token, decoding: reader.decoding))
            } catch is ExpiredChangeToken {
                state.withLock { $0.token = nil }
                var whole = try await begin(coordinator, store)
                changes.add(whole.changes)
                whole.changes = changes
                return whole
            }
            reader.versions.number(answer.answer)
            changes.add(take(Array(answer.answer.rows), answer.removed.map(\.id), time, coordinator, store))
            if answer.hasMore, answer.token == token { throw RemoteStoreError.endlessChanges(token, at: reader.location) }
            token = answer.token
            state.withLock { $0.token = token }
            if !answer.hasMore { return (token, false, changes) }
        }
    }

    /// Starts at the current position: all objects of the contexts may be stale, and are read again.
    private func begin(_ coordinator: NSPersistentStoreCoordinator, _ store: BackendStore) async throws -> Found {
        // The changes in this answer are read again, too.
        let token = try await reader.runner.changes(ChangesRequest(token: nil, decoding: reader.decoding)).token
        let held = coordinator.heldIDs(of: store)
        let time = AskTime(reader.options.now())
        reader.forgetEarlierAnswers(before: time)
        let rows = held.isEmpty ? [] : try await reader.read(held, isFresh: true, for: StoreCaller(stalenessInterval: 0))
        let there = Set(rows.map(\.knownObjectID))
        let changes = take(rows, held.filter { !there.contains($0) }, time, coordinator, store)
        state.withLock { $0.token = token }
        return (token, true, changes)
    }

    private func take(
        _ rows: [Row], _ removed: [NSManagedObjectID], _ time: AskTime, _ coordinator: NSPersistentStoreCoordinator,
        _ store: BackendStore
    ) -> OutsideChanges {
        if rows.isEmpty, removed.isEmpty { return OutsideChanges() }
        reader.forgetEarlierAnswers(before: time)
        let changes = coordinator.takeOutsideChanges(rows, deleted: removed, of: store, queryTime: time.uptime) { [reader] row, known in
            // Versions decide, if there are any; otherwise the values do.
            row.version == known.version && (reader.versions.hasVersions(row.knownObjectID) || row.hasEqualKnownValues(as: known))
        }
        let new = Set(changes.inserted)
        if !new.isEmpty { reader.parked.park(rows.filter { new.contains($0.knownObjectID) }, at: time) }
        reader.versions.forget(removed)
        return changes
    }
}
