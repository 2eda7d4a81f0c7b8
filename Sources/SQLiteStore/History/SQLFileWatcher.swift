internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
internal import Predicates
#endif

/// Watches the file of a store for writes by any process.
///
/// The system reports writes to the log or the database; the end of a transaction shows in SQLite's change counter a moment later. The
/// counter is therefore read a few times at growing intervals after each report, and not at all without reports.
// `generation` is in a `LockedBox`; the rest is set once.
final class SQLFileWatcher: @unchecked Sendable {
    private let generation = LockedBox(0)
    private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
    private let check: @Sendable () -> Void
    private var source: (any DispatchSourceRead)?
    /// The delays in milliseconds after which the counter is read.
    private static let delays = [2, 20, 100, 500, 2000, 10_000]

    /// - Parameter check: Checks whether others have written; called on the watcher's queue.
    init(_ file: URL, check: @escaping @Sendable () -> Void) throws {
        self.check = check
        // SQLite places its log beside the file that a link points to.
        let file = file.resolvingSymlinksInPath()
        #if canImport(Glibc) || canImport(Musl) || canImport(Android)
        let descriptor = inotify_init1(Int32(truncatingIfNeeded: IN_NONBLOCK | IN_CLOEXEC))
        // The directory is watched, because the log is created and deleted.
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
        source.setEventHandler { [weak self] in if Self.concernsFile(descriptor, names) { self?.noteFileEvent() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        self.source = source
        #endif
    }

    deinit { source?.cancel() }

    private func noteFileEvent() {
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
    /// Reads the system's reports. Returns true if one concerns one of the names.
    private static func concernsFile(_ descriptor: Int32, _ names: Set<String>) -> Bool {
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
                // Without a name, it reports that events were lost.
                if name.isEmpty || names.contains(String(decoding: name, as: UTF8.self)) { found = true }
                offset += header + length
            }
        }
    }
    #endif
}
