internal import Foundation
internal import Logging

/// The files beside a store in which large values of attributes lie that allow it.
///
/// A file is written and on the disk before the row that names it is committed, and goes after a commit that no longer names it, when that is on
/// the disk as well: a save that fails leaves what was there, and what a crash leaves behind is a file that no row names.
// Used under the lock of writing.
final class SQLExternalFiles {
    /// Larger values get a file of their own, as with Core Data.
    static let threshold = 100 << 10
    /// A file that no row names may belong to a save that another process is just making; after so many seconds it does not.
    private static let orphanAge: TimeInterval = 3600

    private let folder: URL
    /// The files that the transaction has made.
    private var made: [URL] = []
    /// The names of files that the transaction leaves without a row.
    private var dropped: Set<String> = []

    init(folder: URL) { self.folder = folder }

    /// The name in the bytes of a column; nil where the value lies in the row itself.
    ///
    /// It comes out of the file: one that leads elsewhere is none.
    static func name(in stored: Data) -> String? {
        guard stored.first == 2 else { return nil }
        let name = String(decoding: stored.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        return name.isEmpty || name.contains("/") || name == "." || name == ".." ? nil : name
    }

    // MARK: Within a transaction

    /// Writes a value into a file of its own.
    ///
    /// - Returns: what the column holds.
    func make(_ data: Data) throws -> Data {
        let name = UUID().uuidString
        let file = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            made.append(file)
            try data.write(to: file)
            try SQLiteFileCopy.synchronize(file)
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw CoreDataError.make(
                (isFull ? CocoaError.Code.fileWriteOutOfSpace : .fileWriteUnknown).rawValue, "A large value cannot be written.",
                reason: "Its file is \(file.path).",
                next: isFull ? "Make room on the disk." : "Check the disk and the rights of the directory.",
                cause: error, info: [NSFilePathErrorKey: file.path])
        }
        return Data([2]) + Data(name.utf8) + Data([0])
    }

    /// Notes that a row is about to lose what its column holds.
    func drop(_ stored: Data) { if let name = Self.name(in: stored) { dropped.insert(name) } }

    /// Brings what was made onto the disk, before the rows that name it are.
    func prepareCommit() throws { if !made.isEmpty { try SQLiteFileCopy.synchronize(folder) } }

    func didCommit(_ connection: SQLConnection) {
        defer { (made, dropped) = ([], []) }
        if dropped.isEmpty { return }
        do {
            let log = URL(fileURLWithPath: connection.path + "-wal")
            try SQLiteFileCopy.synchronize(
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
        // It may be gone with a disk that lost it.
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        do { try FileManager.default.removeItem(at: file) } catch {
            Log.store.notice("The file \(file.path) of a value that is gone stays: \(error.localizedDescription)")
        }
    }

    // MARK: Orphans

    /// Removes the files that no row names and that are no part of a save going on: what a crash has left.
    ///
    /// - Parameter names: those that rows name.
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
    /// The columns of values that may lie in files.
    var externalColumns: [SQLIdentifier] {
        properties.compactMap { if case .attribute(let place) = $0, case .externalData = place.storage { place.column } else { nil } }
    }
}

extension SQLiteStore {
    /// Writes to the database and to the files beside it: all or nothing. Under the lock of writing.
    func writing<Result>(_ connection: SQLConnection, _ body: () throws -> Result) throws -> Result {
        do {
            // What is read until the end is nobody else's yet.
            let result = try requireWriter().inTransaction {
                try connection.transaction {
                    // Others cannot write from here on.
                    try noticeOthers()
                    let result = try body()
                    try externalFiles?.prepareCommit()
                    return result
                }
            }
            externalFiles?.didCommit(connection)
            return result
        } catch {
            externalFiles?.didFail()
            throw error
        }
    }

    /// Notes the files that rows are about to lose.
    ///
    /// - Parameters:
    ///   - columns: those that are written, or all of a row that is deleted.
    ///   - condition: which rows; its parameters are bound by the caller.
    func dropFiles(of columns: [SQLIdentifier], _ entity: SQLEntity, _ condition: String, bind: (SQLStatement) -> Void = { _ in }) throws {
        guard externalFiles != nil, !columns.isEmpty else { return }
        try database().with(Self.references(columns, entity) + " AND \(condition)") { statement in
            bind(statement)
            try drop(statement, columns.count)
        }
    }

    /// Notes the files of rows that are about to be deleted.
    func dropFiles(of keys: [Int64], _ entity: SQLEntity) throws {
        let columns = entity.externalColumns
        guard externalFiles != nil, !columns.isEmpty else { return }
        try database().forEachChunk(of: keys, { Self.references(columns, entity) + " AND Z_PK IN \($0)" }) { try drop($0, columns.count) }
    }

    private static func reference(_ column: SQLIdentifier) -> String { "substr(\(column), 1, 1) = x'02'" }

    private static func references(_ columns: [SQLIdentifier], _ entity: SQLEntity) -> String {
        let list = columns.map { "CASE WHEN \(reference($0)) THEN \($0) END" }.joined(separator: ", ")
        return "SELECT \(list) FROM \(entity.table) WHERE (\(columns.map(reference).joined(separator: " OR ")))"
    }

    private func drop(_ statement: SQLStatement, _ count: Int) throws {
        while try statement.step() {
            for column in 0..<count where !statement.isNull(column) { externalFiles?.drop(statement.data(column)) }
        }
    }

    /// Removes the files of values that no row names.
    func removeOrphans(_ connection: SQLConnection) throws {
        guard let externalFiles else { return }
        var names: Set<String> = []
        try connection.reading {
            for entity in schema.entities where !entity.externalColumns.isEmpty {
                let columns = entity.externalColumns
                try connection.with(Self.references(columns, entity)) { statement in
                    while try statement.step() {
                        for column in columns.indices {
                            if let name = SQLExternalFiles.name(in: statement.data(column)) { names.insert(name) }
                        }
                    }
                }
            }
        }
        try externalFiles.removeOrphans(keeping: names)
    }
}
