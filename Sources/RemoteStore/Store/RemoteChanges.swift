internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// What others have changed in a remote store.
public struct RemoteChanges: Sendable {
    /// The place from which the next changes are asked for.
    public let token: ChangeToken
    /// Whether the backend could not tell what has changed since the last time, or was not asked before: all objects of the contexts were read
    /// anew then, and new resources are found by fetches only.
    public let isWhole: Bool
    private let changes: OutsideChanges

    init(token: ChangeToken, isWhole: Bool, _ changes: OutsideChanges) {
        self.token = token
        self.isWhole = isWhole
        self.changes = changes
    }

    /// The objects that contexts did not have: new ones mostly.
    public var insertedObjectIDs: [NSManagedObjectID] { changes.inserted }
    /// The objects with other values.
    public var updatedObjectIDs: [NSManagedObjectID] { changes.updated }
    /// The objects that are gone.
    public var deletedObjectIDs: [NSManagedObjectID] { changes.deleted }
    /// The objects whose relationships are others because of these changes.
    public var refreshedObjectIDs: [NSManagedObjectID] { changes.refreshed }
    /// The IDs as in a notification of a save, for `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
    public var userInfo: [AnyHashable: Any] { changes.userInfo }
}

extension NSPersistentStoreCoordinator {
    /// Asks the backend of a remote store what others have changed, and merges it.
    ///
    /// Contexts with `automaticallyMergesChangesFromParent` merge it on their own queues; `NSPersistentStoreRemoteChange` is posted. The first
    /// call of a store takes the present as the beginning: make it before objects are shown, for all that contexts have is read anew. The same
    /// happens where the backend does not know any more what has changed since the last call. One call runs at a time; it is not cancelled.
    ///
    /// - Parameters:
    ///   - store: A store that ``addRemoteStore(_:configurationName:options:)`` has added.
    ///   - contexts: Further contexts that merge the changes, parents before their children. They have done so when the method returns.
    /// - Returns: What has changed.
    /// - Throws: Code 134091 for a store whose backend tells no changes; the backend's error. What was merged before stays merged.
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

/// A store whose backend may tell what others have changed.
protocol RemoteChangeMerging: NSPersistentStore {
    /// Asks what has changed, and merges it, after earlier calls.
    func mergeChanges(into coordinator: NSPersistentStoreCoordinator) async throws -> ChangeFeed.Found
}

extension BackendStore: RemoteChangeMerging {
    func mergeChanges(into coordinator: NSPersistentStoreCoordinator) async throws -> ChangeFeed.Found {
        try await feed.merge(into: coordinator, self)
    }
}

/// The changes of others, which a backend tells in their order.
// What changes is in a `LockedBox`.
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

    /// Merges what has changed, after earlier calls.
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
            // What was merged stays, and the next call goes on there.
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

    /// Takes the present as the beginning: everything that contexts have may be older, and is read anew.
    private func begin(_ coordinator: NSPersistentStoreCoordinator, _ store: BackendStore) async throws -> Found {
        // What it tells besides is read anew, too.
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
            // Versions tell, where there are any; otherwise only the values do.
            row.version == known.version && (reader.versions.hasVersions(row.knownObjectID) || row.hasEqualKnownValues(as: known))
        }
        let new = Set(changes.inserted)
        if !new.isEmpty { reader.parked.park(rows.filter { new.contains($0.knownObjectID) }, at: time) }
        reader.versions.forget(removed)
        return changes
    }
}
