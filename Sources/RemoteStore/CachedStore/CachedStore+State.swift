public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// What an application is told of an object of a ``CachedStore``.
public enum SyncState: String, Sendable, CaseIterable {
    /// As the backend has confirmed it.
    case fresh
    /// Older than its policy wants it, or never read.
    case stale
    /// Changed, and not sent yet.
    case pending
    /// Being sent.
    case sending
    /// The change was refused: see ``CachedStore/error(of:)``.
    case failed
    /// Others have changed the same.
    case conflicting
    /// Whether its change was saved is not known.
    case unknown
}

/// What an application is told of a ``CachedStore``.
public struct CachedStoreStatus: Sendable, Equatable {
    /// The number of changes that the backend does not have yet: ``waitingCount`` and ``setAsideCount`` together.
    public var pendingCount = 0
    /// The number of those that wait for a decision, of a person or the application: see ``CachedStore/retry(_:)`` and ``CachedStore/drop(_:)->_``.
    public var setAsideCount = 0
    /// The number of those that go out by themselves, once the backend can be reached and takes the credentials.
    public var waitingCount: Int { pendingCount - setAsideCount }
    /// The number of those among ``waitingCount`` that wait for somebody to sign in: because the backend does not take the credentials any more, or since
    /// another user has made them.
    public var awaitingCredentialsCount = 0
    /// Why the backend does not take the credentials, with the code ``CredentialsExpiredError``; nil where it does, or changes wait for another user only.
    public var credentialsError: NSError?
    /// Whether changes, or large values that go before them, are being sent.
    public var isSending = false
    /// Whether the backend could be reached when it was last asked.
    public var isOnline = true
    /// Whether another process had the right to send the changes of this file when they were last to be sent. A process that is suspended
    /// meanwhile keeps it.
    public var isSentByAnother = false
    /// The number of bytes of large values that are sent before their objects: see ``UploadingBackend``.
    public var bytesToUpload: Int64 = 0
    /// The number of those that the backend has.
    public var uploadedBytes: Int64 = 0

    /// Creates the status of a store that has nothing to do.
    public init() {}
}

extension CachedStore {
    /// The state of an object: of one that is not in the cache, stale. Call it on any thread.
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

    /// The number of seconds since the backend has confirmed an object; nil for one that was never read. Call it on any thread.
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

    /// Returns the row of an object as the file has it: another process may have saved or sent it since it was read last.
    private func currentRow(of id: NSManagedObjectID) throws -> Row? {
        try file.key(ofOuter: id.current).flatMap { try file.row($0, isFresh: true) }
    }

    /// The error of an object whose change was not saved; nil where nothing has failed. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func error(of id: NSManagedObjectID) throws -> NSError? {
        guard let key = file.key(ofOuter: id.current) else { return nil }
        return try outbox.record(key)?.error
    }

    /// The conflict of an object whose change is set aside because others have changed the same; nil for an object in none. Call it on any thread.
    ///
    /// ```swift
    /// if let conflict = try store.conflict(of: note.objectID) {
    ///     for name in conflict.contested.sorted() { print(name, conflict.base[name], conflict.mine?[name], conflict.theirs?[name]) }
    /// }
    /// ```
    ///
    /// ``CachedStore/retry(_:)`` sends yours, ``CachedStore/drop(_:)->_`` takes theirs.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func conflict(of id: NSManagedObjectID) throws -> SaveConflict? {
        guard let key = file.key(ofOuter: id.current), let record = try outbox.record(key), record.state == .conflicting else { return nil }
        return try sender.conflict(record.key)
    }

    /// The state of the store now. Call it on any thread.
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

    /// The states of the store: the present one, and each that follows. A slow reader gets the last one.
    public var statuses: AsyncStream<CachedStoreStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = watchers.add(continuation)
            continuation.onTermination = { [watchers] _ in watchers.remove(number) }
            outboxDidChange()
        }
    }

    /// Tells those who watch.
    func outboxDidChange() {
        waiting.check { try self.outcome(of: $0) }
        if watchers.isEmpty { return }
        do { watchers.tell(try status()) } catch { report(error) }
    }
}

/// Those who watch the state of a store.
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
