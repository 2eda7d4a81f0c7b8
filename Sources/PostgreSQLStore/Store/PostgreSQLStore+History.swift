#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLQueries
internal import Synchronization

extension PostgreSQLStore: HistoryStore {
    var keepsHistory: Bool { content.history.isKept }

    func lastHistoryNumber() throws -> Int64? { try lastHistoryPosition()?.number }

    func lastHistoryPosition() throws -> HistoryPosition? {
        guard keepsHistory else { return nil }
        let content = content!
        return try BlockingCall.wait(for: "the end of the history", onCallingThread: true) {
            try await content.reading { try await HistoryReader.end($0) }
        }
    }

    func history(_ query: HistoryQuery) throws -> [HistoryRecord] {
        guard keepsHistory else { throw untracked }
        let (content, reader) = (content!, reader)
        return try BlockingCall.wait(for: "the history", onCallingThread: true) {
            try await content.reading { try await reader.transactions(query, $0) }
        }
    }

    func deleteHistory(before boundary: HistoryQuery.Boundary) throws -> Int {
        guard keepsHistory else { throw untracked }
        let content = content!
        do {
            return try BlockingCall.wait(for: "deleting history", onCallingThread: true) {
                try await StoreTransaction(content: content).commit(repeatsUniqueness: false) { connection, commit in
                    (try await HistoryPurge.delete(before: boundary, connection, mark: HistoryNotes.mark(commit)), .open)
                }
            }
        } catch let error as ServerError { throw content.failure(error, "has not deleted its history") }
    }

    private var reader: HistoryReader {
        HistoryReader(schema: content.schema, token: token, storeID: identifier ?? "", place: content.place)
    }

    private var untracked: NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The history of the store at \(content.place) cannot be read.",
            reason: "The store does not track its history.", next: "Open it with tracksHistory in its options.")
    }

    // MARK: Remote changes

    /// Starts to listen for commits.
    ///
    /// - Parameter look: The state that was known when the store was opened.
    /// - Returns: The listener, which stops when it is released.
    func listener(since look: RemoteChangeListener.Look) -> RemoteChangeListener {
        let listener = RemoteChangeListener(content.pool, channel: content.aftermath.channel, interval: 30)
        // The task does not retain the store.
        let token = token
        listener.start(since: look, content.history) { (token.store as? PostgreSQLStore)?.postRemoteChange($0.position) }
        return listener
    }

    /// Posts the remote change notification, on a background queue; also for the coordinators of the same connections.
    private func postRemoteChange(_ position: HistoryPosition?) {
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? ""]
        if let url { info[NSPersistentStoreURLKey] = url }
        if let position, let identifier { info[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: position]) }
        let others = derived.withLock { derived in derived.values.compactMap(\.coordinator) }
        for coordinator in [persistentStoreCoordinator].compactMap({ $0 }) + others {
            let notification = Transfer(Notification(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info))
            DispatchQueue.global().async { NotificationCenter.default.post(notification.value) }
        }
    }
}
#endif
