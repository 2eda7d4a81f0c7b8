public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// What the application is told of changes that the backend does not have yet, and decides about them.
extension CachedStore {
    /// A change that the backend does not have yet.
    public struct PendingChange: Sendable {
        /// The object.
        public let objectID: NSManagedObjectID
        /// The name of the entity.
        public let entity: String
        /// The kind of change.
        public let kind: Resource.Saving.Kind
        /// What it waits for.
        public let state: SyncState
        /// The names of the changed properties; empty for new and deleted objects.
        public let properties: Set<String>
        /// The number of times that it was sent since it was last edited.
        public let attempts: Int
        /// Why it was not saved; nil where nothing has failed.
        public let error: NSError?
        /// Whether it waits for somebody to sign in: see ``CachedStoreStatus/awaitingCredentialsCount``.
        public let awaitsCredentials: Bool
        /// The user who has made it: see ``Backend/principal``.
        public let principal: String?
        /// The large values that are sent before the change.
        public let uploads: [PendingUpload]
    }

    // MARK: Sending

    /// Sends what can be sent now, also what waits for another attempt, and returns when nothing more can be sent.
    ///
    /// Each change is sent once, after it was looked whether an earlier attempt has arrived where that is needed. What fails for a reason that may
    /// pass stays pending, and waits for its next attempt or another call. Where the backend does not take the credentials, one change tells that for all.
    /// Call it on any thread. Where another process sends the changes of this file, nothing is done.
    ///
    /// - Throws: The error of a file that cannot be written. That a change was not saved is no error: see ``pendingChanges()``.
    public func sendPending() async throws { try await sender.sendPending() }

    /// Says that the backend can be reached again, so that pending changes are sent at once. Call it on any thread.
    public func connectionDidReturn() { sender.connectionDidReturn() }

    /// Says that the backend gets other credentials from now on: somebody has signed in. Changes that wait for them are sent at once. Call it on any thread.
    ///
    /// Without a word the store finds out by itself, later: it sends one of the changes after waits that grow to five minutes, and all of them once that
    /// is taken, or once a read is answered again.
    public func credentialsDidChange() { sender.credentialsDidChange() }

    /// The number of pending changes: none is known within a millisecond, whatever the size of the cache. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func pendingCount() throws -> Int { try outbox.count() }

    /// Returns the pending changes, in the order of the queue. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func pendingChanges() throws -> [PendingChange] {
        let principal = outbox.principal()
        return try outbox.records().compactMap { try pendingChange($0, principal) }
    }

    private func pendingChange(_ record: PendingRecord, _ principal: String?) throws -> PendingChange? {
        guard let entity = file.entity(named: record.entity) else { return nil }
        return PendingChange(
            objectID: entity.outerID(record.key.key, token), entity: record.entity, kind: record.kind ?? .delete, state: record.syncState,
            properties: record.kind == .update ? Set(record.confirmed.keys).union(record.lists.keys) : [], attempts: record.attempts,
            error: record.error, awaitsCredentials: sender.awaitsCredentials(record, principal), principal: record.principal,
            uploads: sender.pendingUploads(of: record))
    }

    // MARK: Decisions

    /// Sends a change again that was set aside. Of a conflict, what is shown here is sent; a new object whose fate is not known is sent again,
    /// though the backend may have it already.
    ///
    /// Call it on any thread.
    ///
    /// - Returns: Whether there was such a change.
    /// - Throws: The error of a file that cannot be written.
    @discardableResult public func retry(_ id: NSManagedObjectID) throws -> Bool {
        guard let key = file.key(ofOuter: id.current) else { return false }
        let found = try settling { transaction in try outbox.retry(key, in: transaction) }
        sender.wake()
        return found
    }

    /// Gives a pending change up: the object is shown again as the backend has it, with its relationships; a new object is gone.
    ///
    /// What depends on it goes with it: what was deleted along with an object comes back with it, and relationships that were cut by its
    /// deletion are joined again. Call it on any thread.
    ///
    /// - Returns: The objects whose changes were given up.
    /// - Throws: Code 134030 for a change that is being sent; the error of a file that cannot be written.
    @discardableResult public func drop(_ id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        guard let key = file.key(ofOuter: id.current) else { return [] }
        let dropped = try settling { transaction in
            let dropped = try outbox.drop(key, in: transaction)
            let keys = dropped.map { LocalKey(root: $0.entity.inner.top.name ?? "?", key: $0.number) }
            // Whoever waits for the outcome is told that there is none.
            transaction.whenCommitted { [sender] in
                sender?.state.withLock { state in
                    if state.dropped.count > 10_000 { state.dropped = [] }
                    state.dropped.formUnion(keys)
                }
            }
            return dropped
        }
        freshness.want(dropped)
        sender.wake()
        return dropped.map { $0.entity.outerID($0.number, token) }
    }

    /// Writes what a decision makes of the file, and tells the contexts.
    private func settling<Result>(_ body: (CacheTransaction) throws -> Result) throws -> Result {
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        let (result, changed) = try file.write { transaction in
            let result = try body(transaction)
            return (result, transaction.changedKeys)
        }
        try merge(changed, queryTime: queryTime)
        outboxDidChange()
        return result
    }
}

extension PendingRecord {
    /// What an application is told of it.
    var syncState: SyncState {
        switch stage {
        case .waiting, .lost, .sought: .pending
        case .sending: .sending
        case .unknown: .unknown
        case .failed: .failed
        case .conflicting: .conflicting
        }
    }
}
