internal import Foundation
internal import Logging

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// Sees that the file of a store is written to, whoever does it.
///
/// The system tells when the log or the database is written; when a transaction is complete shows in SQLite's own count, which comes
/// a moment later. So the count is looked at a few times in growing distances after each news, and not at all while there are none.
// `generation` lies in a box with its lock; the rest is set once.
final class SQLFileWatcher: @unchecked Sendable {
    private let generation = LockedBox(0)
    private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
    private let check: @Sendable () -> Void
    private var source: (any DispatchSourceRead)?
    /// After how many milliseconds the count is looked at.
    private static let delays = [2, 20, 100, 500, 2000, 10_000]

    /// - Parameter check: looks whether others have written; called on a queue of the watcher's own.
    init(_ file: URL, check: @escaping @Sendable () -> Void) throws {
        self.check = check
        // SQLite puts its log beside the file that a link leads to.
        let file = file.resolvingSymlinksInPath()
        #if canImport(Glibc) || canImport(Musl) || canImport(Android)
        let descriptor = inotify_init1(Int32(truncatingIfNeeded: IN_NONBLOCK | IN_CLOEXEC))
        // The directory is watched, for the log comes and goes.
        guard descriptor >= 0,
            inotify_add_watch(descriptor, file.deletingLastPathComponent().path, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0
        else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store at \(file.path) cannot be watched for changes of others.", reason: reason,
                next: "Raise fs.inotify.max_user_instances and max_user_watches, or open it without "
                    + "NSPersistentStoreRemoteChangeNotificationPostOptionKey.", info: [NSFilePathErrorKey: file.path])
        }
        let names = Set(["", "-wal", "-journal"].map { file.lastPathComponent + $0 })
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in if Self.isNews(descriptor, names) { self?.noteNews() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        self.source = source
        #endif
    }

    deinit { source?.cancel() }

    private func noteNews() {
        let current = generation.withLock { generation in
            generation += 1
            return generation
        }
        look(0, current)
    }

    private func look(_ step: Int, _ current: Int) {
        guard step < Self.delays.count else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.delays[step])) { [weak self] in
            guard let self, generation.withLock({ $0 }) == current else { return }
            check()
            look(step + 1, current)
        }
    }

    #if canImport(Glibc) || canImport(Musl) || canImport(Android)
    /// Reads what the system tells. True where it is about one of the names.
    private static func isNews(_ descriptor: Int32, _ names: Set<String>) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        var found = false
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count <= 0 { return found }
            var offset = 0
            let header = MemoryLayout<inotify_event>.size
            while offset + header <= count {
                let length = bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)) }
                let name = bytes[(offset + header)..<min(count, offset + header + length)].prefix { $0 != 0 }
                // Without a name it tells that news were lost.
                if name.isEmpty || names.contains(String(decoding: name, as: UTF8.self)) { found = true }
                offset += header + length
            }
        }
    }
    #endif
}

extension SQLiteStore {
    /// Begins to watch the file where the store was opened with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``.
    func watchFile() {
        guard isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey), let url, !SQLiteFiles.isInMemory(url) else { return }
        // The token alone goes to the other thread; it keeps no store alive.
        let token = token
        do {
            let made = try SQLFileWatcher(url) { (token.store as? SQLiteStore)?.lookForOthers() }
            writeLock.withLock { watcher = made }
        } catch {
            Log.store.error("Changes of others are seen when the store is next used: \(error)")
        }
        lookForOthers()
    }

    /// Looks whether others have written.
    private func lookForOthers() {
        writeLock.withLock {
            guard persistentStoreCoordinator != nil, watcher != nil else { return }
            do { try noticeOthers() } catch { Log.store.error("It cannot be seen whether others have written: \(error)") }
        }
    }

    /// Tells that others have written, on a queue of no context.
    func postRemoteChange() {
        guard isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey), let coordinator = persistentStoreCoordinator else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? ""]
        if let url { info[NSPersistentStoreURLKey] = url }
        do {
            if let number = try readLastHistoryNumber() {
                info[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: number])
            }
        } catch {
            Log.store.error("The end of the history cannot be read: \(error)")
        }
        let notification = Transfer(Notification(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info))
        DispatchQueue.global().async { NotificationCenter.default.post(notification.value) }
    }
}
