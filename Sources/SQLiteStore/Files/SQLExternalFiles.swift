internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLQueries

/// The external data files of a store: large values of attributes that allow external storage.
///
/// A file is written and synchronized before the row that names it is committed, and deleted after the commit of a change that no longer
/// names it is synchronized: a failed save leaves the previous files, and a crash leaves at most files that no row names.
// Used under the write lock.
final class SQLExternalFiles {
    /// The size above which a value gets an external file, as in Core Data.
    static let threshold = 100 << 10
    /// The age in seconds after which a file that no row names is an orphan: a younger one may belong to a save in another process.
    private static let orphanAge: TimeInterval = 3600

    private let store: URL
    /// Created on demand: most saves and stores need none.
    private lazy var folder = SQLiteFiles.externalFiles(of: store).known("a store in memory has no external files")
    /// The files created in the transaction.
    private var made: [URL] = []
    /// The names of files that the transaction's changes no longer name.
    private var dropped: Set<String> = []

    /// - Parameter store: The file of the store.
    init(of store: URL) { self.store = store }

    /// Returns the file name in the bytes of a column; nil if the value is in the row.
    ///
    /// The name is data of the file: a name that leads to another directory is invalid.
    static func name(in stored: Data) -> String? {
        guard stored.first == 2 else { return nil }
        let name = String(decoding: stored.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        return name.isEmpty || name.contains("/") || name == "." || name == ".." ? nil : name
    }

    // MARK: Within a transaction

    /// Writes a value to an external file.
    ///
    /// - Returns: The value of the column.
    func make(_ data: Data) throws -> Data {
        let name = UUID().uuidString
        let file = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            made.append(file)
            try Self.write(data, to: file)
            try FileCalls.synchronize(file)
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw CoreDataError.make(
                (isFull ? CocoaError.Code.fileWriteOutOfSpace : .fileWriteUnknown).rawValue, "A large value cannot be written.",
                reason: "Its file is \(file.path).",
                next: isFull ? "Make room on the disk." : "Check the disk and the permissions of the directory.",
                cause: error, info: [NSFilePathErrorKey: file.path])
        }
        return Data([2]) + Data(name.utf8) + Data([0])
    }

    /// Writes a file; a large one part by part, so that a value that is mapped from another file is never in memory as a whole.
    private static func write(_ data: Data, to file: URL) throws {
        if data.count < MappedPages.threshold { return try data.write(to: file) }
        func failure() -> CocoaError {
            CocoaError(
                errno == ENOSPC || errno == EDQUOT ? .fileWriteOutOfSpace : .fileWriteUnknown,
                userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(errno))])
        }
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        try MappedPages.forEachPart(of: data) { part in
            var rest = part
            while let base = rest.baseAddress, !rest.isEmpty {
                let count = Foundation.write(descriptor, base, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure() }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Notes that a row is about to lose the value of its column.
    func drop(_ stored: Data) { if let name = Self.name(in: stored) { dropped.insert(name) } }

    /// Synchronizes the created files before the rows that name them are committed.
    func prepareCommit() throws { if !made.isEmpty { try FileCalls.synchronize(folder) } }

    func didCommit(_ connection: SQLConnection) {
        defer { (made, dropped) = ([], []) }
        if dropped.isEmpty { return }
        do {
            let log = URL(fileURLWithPath: connection.path + "-wal")
            try FileCalls.synchronize(
                FileManager.default.fileExists(atPath: log.path) ? log : URL(fileURLWithPath: connection.path))
        } catch {
            Log.store.notice("Files of large values stay that no row names any more: \(error.localizedDescription)")
            return
        }
        for name in dropped { remove(folder.appendingPathComponent(name)) }
    }

    func didFail() {
        for file in made { remove(file) }
        (made, dropped) = ([], [])
    }

    private func remove(_ file: URL) {
        // It may be missing because the disk lost it.
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        do { try FileManager.default.removeItem(at: file) } catch {
            Log.store.notice("The file \(file.path) of a value that is gone stays: \(error.localizedDescription)")
        }
    }

    // MARK: Orphans

    /// Deletes the files that no row names and that do not belong to a running save: the remains of crashes.
    ///
    /// - Parameter names: The names in rows.
    func removeOrphans(keeping names: Set<String>) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: folder.path) else { return }
        for file in try manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where !names.contains(file.lastPathComponent) {
            let date = try manager.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
            if let date, date.timeIntervalSinceNow < -Self.orphanAge { remove(file) }
        }
    }
}

extension SQLEntity {
    /// The columns of values that may be in external files.
    var externalColumns: [SQLIdentifier] {
        properties.compactMap { if case .attribute(let place) = $0, case .externalData = place.storage { place.column } else { nil } }
    }
}
