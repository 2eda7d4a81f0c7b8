public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// The state of an object of a ``CachedStore``, for the application.
public enum SyncState: String, Sendable, CaseIterable {
    /// The object is as the backend has confirmed it.
    case fresh
    /// The object is older than its policy allows, or was never read.
    case stale
    /// The object was changed, and the change is not sent yet.
    case pending
    /// The change is being sent.
    case sending
    /// The change was refused: see ``CachedStore/error(of:)``.
    case failed
    /// Others have changed the same properties.
    case conflicting
    /// It is unknown whether the change was saved.
    case unknown
}

/// The status of a ``CachedStore``, for the application.
public struct CachedStoreStatus: Sendable, Equatable {
    /// The number of changes that the backend does not have yet: ``waitingCount`` and ``setAsideCount`` together.
    public var pendingCount = 0
    /// The number of changes that wait for a decision of a person or the application: see ``CachedStore/retry(_:)`` and ``CachedStore/drop(_:)->_``.
    public var setAsideCount = 0
    /// The number of changes that are sent without further action, once the backend can be reached and accepts the credentials.
    public var waitingCount: Int { pendingCount - setAsideCount }
    /// The number of changes among ``waitingCount`` that wait for a user to sign in, because the backend rejects the credentials, or because another user has
    /// made them.
    public var awaitingCredentialsCount = 0
    /// The reason why the backend rejects the credentials, with the code ``CredentialsExpiredError``; nil if it accepts them, or if changes wait only for
    /// another user.
    public var credentialsError: NSError?
    /// Whether changes, or large values that precede them, are being sent.
    public var isSending = false
    /// Whether the backend could be reached at the last attempt.
    public var isOnline = true
    /// Whether another process had the right to send the changes of this file at the last attempt. A process keeps that right while it is suspended.
    public var isSentByAnother = false
    /// The number of bytes of large values that are sent before their objects: see ``UploadingBackend``.
    public var bytesToUpload: Int64 = 0
    /// The number of these bytes that the backend has.
    public var uploadedBytes: Int64 = 0

    /// Creates the status of an idle store.
    public init() {}
}

extension CachedStore {
    /// The state of an object; stale for an object that is not in the cache. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func syncState(of id: NSManagedObjectID) throws -> SyncState {
        guard let row = try currentRow(of: id) else { return .stale }
        let entity = file.entity(inner: row.knownObjectID.owningEntity)
        if entity.state(of: row).isPending, let record = try outbox.record(file.key(of: row)) { return record.syncState }
        guard let age = age(of: row) else { return .stale }
        switch policy(of: id.owningEntity) {
        case .cacheFirst(let maximumAge): return age <= maximumAge ? .fresh : .stale
        default: return .fresh
        }
    }

    /// The number of seconds since the backend has confirmed an object; nil if it was never read. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func age(of id: NSManagedObjectID) throws -> Double? {
        try currentRow(of: id).flatMap(age)
    }

    private func age(of row: Row) -> Double? {
        let known = file.entity(inner: row.knownObjectID.owningEntity).fetchedAt(row)
        let confirmed = freshness.time(of: file.key(of: row))
        guard let time = [known, confirmed].compactMap({ $0 }).max() else { return nil }
        return max(0, file.clock.now - time)
    }

    /// Returns the current row of an object from the file: another process may have saved or sent it since the last read.
    private func currentRow(of id: NSManagedObjectID) throws -> Row? {
        try file.key(ofOuter: id.current).flatMap { try file.row($0, isFresh: true) }
    }

    /// The error of an object whose change was not saved; nil if nothing has failed. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func error(of id: NSManagedObjectID) throws -> NSError? {
        guard let key = file.key(ofOuter: id.current) else { return nil }
        return try outbox.record(key)?.error
    }

    /// The conflict of an object whose change is set aside because others have changed the same properties; nil if there is none. Call it on any thread.
    ///
    /// ```swift
    /// if let conflict = try store.conflict(of: note.objectID) {
    ///     for name in conflict.contested.sorted() { print(name, conflict.base[name], conflict.mine?[name], conflict.theirs?[name]) }
    /// }
    /// ```
    ///
    /// ``CachedStore/retry(_:)`` sends the local values, ``CachedStore/drop(_:)->_`` accepts the backend's.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func conflict(of id: NSManagedObjectID) throws -> SaveConflict? {
        guard let key = file.key(ofOuter: id.current), let record = try outbox.record(key), record.state == .conflicting else { return nil }
        return try sender.conflict(record.key)
    }

    /// The current status of the store. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func status() throws -> CachedStoreStatus {
        let records = try outbox.count() == 0 ? [] : outbox.records()
        var status = CachedStoreStatus()
        status.pendingCount = records.count
        status.setAsideCount = records.filter(\.isSetAside).count
        let principal = outbox.principal()
        let awaiting = records.filter { sender.awaitsCredentials($0, principal) }
        status.awaitingCredentialsCount = awaiting.count
        if let own = awaiting.first(where: { $0.belongs(to: principal) }) {
            let refusal = sender.state.withLock { $0.credentials.refusal }
            status.credentialsError = (refusal.flatMap { $0.principal == principal ? $0.failure : nil } ?? own.failure)?.error
        }
        let isUploading = sender.state.withLock { $0.uploading.values.contains { !$0.isEmpty } }
        status.isSending = isUploading || records.contains { $0.state == .sending }
        for upload in records.flatMap({ sender.pendingUploads(of: $0) }) {
            status.bytesToUpload += upload.size
            status.uploadedBytes += upload.confirmed
        }
        status.isSentByAnother = sender.state.withLock { $0.isElsewhere }
        status.isOnline = sender.state.withLock { $0.pauses == 0 }
        return status
    }

    /// The status of the store: the current one, and each that follows. A slow reader receives only the latest one.
    public var statuses: AsyncStream<CachedStoreStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = watchers.add(continuation)
            continuation.onTermination = { [watchers] _ in watchers.remove(number) }
            outboxDidChange()
        }
    }

    /// Notifies the observers of the status.
    func outboxDidChange() {
        waiting.check { try self.outcome(of: $0) }
        if watchers.isEmpty { return }
        do { watchers.tell(try status()) } catch { report(error) }
    }
}

/// The observers of a store's status.
// Everything is in a `LockedBox`.
final class StatusWatchers: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<CachedStoreStatus>.Continuation] = [:]
        var last: CachedStoreStatus?
    }
    private let state = LockedBox(State())

    var isEmpty: Bool { state.withLock { $0.continuations.isEmpty } }

    func add(_ continuation: AsyncStream<CachedStoreStatus>.Continuation) -> Int {
        state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            state.last = nil
            return state.next
        }
    }

    func remove(_ number: Int) { state.withLock { $0.continuations[number] = nil } }

    func tell(_ status: CachedStoreStatus) {
        let continuations = state.withLock { state -> [AsyncStream<CachedStoreStatus>.Continuation] in
            if state.last == status { return [] }
            state.last = status
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.yield(status) }
    }
}
