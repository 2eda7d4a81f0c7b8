public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// The pending changes, for the application to inspect and to decide about.
extension CachedStore {
    /// A change that the backend does not have yet.
    public struct PendingChange: Sendable {
        /// The object.
        public let objectID: NSManagedObjectID
        /// The name of the entity.
        public let entity: String
        /// The kind of change.
        public let kind: Resource.Saving.Kind
        /// The state of the change.
        public let state: SyncState
        /// The names of the changed properties; empty for new and deleted objects.
        public let properties: Set<String>
        /// The number of times that it was sent since it was last edited.
        public let attempts: Int
        /// The reason why it was not saved; nil if nothing has failed.
        public let error: NSError?
        /// Whether it waits for a user to sign in: see ``CachedStoreStatus/awaitingCredentialsCount``.
        public let awaitsCredentials: Bool
        /// The user who made it: see ``Backend/principal``.
        public let principal: String?
        /// The large values that are sent before the change.
        public let uploads: [PendingUpload]
    }

    // MARK: Sending

    /// Sends everything that can be sent now, including changes that wait for a retry, and returns when nothing more can be sent.
    ///
    /// Each change is sent once, after a check whether an earlier attempt has arrived, if necessary. A change that fails for a temporary reason stays pending,
    /// and waits for its next attempt or another call. If the backend rejects the credentials, a single change determines that for all. Call it on any thread.
    /// If another process sends the changes of this file, the method does nothing.
    ///
    /// - Throws: The error of a file that cannot be written. An unsaved change is not an error: see ``pendingChanges()``.
    public func sendPending() async throws { try await sender.sendPending() }

    /// Tells the store that the backend can be reached again, so that pending changes are sent at once. Call it on any thread.
    public func connectionDidReturn() { sender.connectionDidReturn() }

    /// Tells the store that the backend has new credentials, because a user has signed in. Changes that wait for them are sent at once. Call it on any thread.
    ///
    /// Without this call, the store detects it later: it sends one of the changes after delays that grow to five minutes, and all of them once that is
    /// accepted, or once a read succeeds again.
    public func credentialsDidChange() { sender.credentialsDidChange() }

    /// The number of pending changes. If there are none, the call takes less than a millisecond for any size of the cache. Call it on any thread.
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

    /// Retries a change that was set aside. For a conflict, the local values are sent. A new object with an unknown outcome is sent again, although the backend
    /// may have it already.
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

    /// Drops a pending change: the object is displayed again as the backend has it, with its relationships; a new object is removed.
    ///
    /// Dependent changes are dropped as well: objects that were deleted together with an object are restored with it, and relationships that its deletion cut
    /// are restored. Call it on any thread.
    ///
    /// - Returns: The objects whose changes were dropped.
    /// - Throws: Code 134030 for a change that is being sent; the error of a file that cannot be written.
    @discardableResult public func drop(_ id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        guard let key = file.key(ofOuter: id.current) else { return [] }
        let dropped = try settling { transaction in
            let dropped = try outbox.drop(key, in: transaction)
            let keys = dropped.map { LocalKey(root: $0.entity.inner.top.name ?? "?", key: $0.number) }
            // Callers that wait for the outcome are informed that there is none.
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

    /// Applies a decision to the file, and notifies the contexts.
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
    /// The state for the application.
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
