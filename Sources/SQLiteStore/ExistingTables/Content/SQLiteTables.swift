internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import SQLQueries

/// An open file with the tables of another program: its connections, and the mapping of the model.
// Immutable apart from `readers` and `writer`, which have locks.
final class SQLiteTables: Sendable {
    typealias Mapped = Mapping<SQLiteTableDialect>

    let url: URL
    let token: StoreToken
    let mapping: Mapped
    private let timeout: TimeInterval
    private let keepsFiles: Bool
    let plainPlans = SQLPlainPlans()
    let hasUniqueness: Bool
    /// The identity of the file that was opened.
    private let file: SQLiteFiles.FileIdentity?
    /// The idle readers; nil once the store was removed.
    private let readers: LockedBox<[Lent]?>
    private let writer = LockedBox<Lent?>(nil)
    /// The number of unused readers that are kept.
    private static let keptReaders = 4

    /// A reader, which belongs to one thread at a time.
    // Unchecked: the thread that takes it out of the box is the only one that has it.
    private struct Lent: @unchecked Sendable { let reader: SQLiteTableReader }

    init(_ url: URL, _ mapping: Mapped, token: StoreToken, timeout: TimeInterval, keepsFiles: Bool, first: SQLConnection) throws {
        (self.url, self.mapping, self.token) = (url, mapping, token)
        (self.timeout, self.keepsFiles) = (timeout, keepsFiles)
        file = SQLiteFiles.identity(of: url)
        hasUniqueness = mapping.schema.entities.contains { !$0.entity.frozenParts.uniqueness.isEmpty }
        readers = LockedBox([])
        let reader = try SQLiteTableReader(first, mapping, token: token, plainPlans)
        readers.withLock { $0 = [Lent(reader: reader)] }
    }

    func close() {
        let (unused, last) = (readers.withLock { $0.take() }, writer.withLock { $0.take() })
        // The connections are closed here, under no lock.
        withExtendedLifetime((unused, last)) {}
    }

    // MARK: Connections

    /// Lends a connection that only reads.
    ///
    /// - Throws: Code 134070 once the store was removed, and the errors of opening the file.
    func reading<Result>(_ body: (SQLiteTableReader) throws -> Result) throws -> Result {
        let free = try readers.withLock { free in
            guard free != nil else { throw closed() }
            return free?.popLast()
        }
        let reader = try free ?? Lent(reader: SQLiteTableReader(try openReader(), mapping, token: token, plainPlans))
        defer {
            readers.withLock { free in
                if let count = free?.count, count < Self.keptReaders { free?.append(reader) }
            }
        }
        // In one state of the file, whatever others write meanwhile.
        return try reader.reader.use { reader in try reader.connection.reading { try body(reader) } }
    }

    /// Lends the connection that writes, to one thread at a time.
    ///
    /// - Throws: Code 134070 once the store was removed, and the errors of opening the file.
    func writing<Result>(_ body: (SQLiteTableReader) throws -> Result) throws -> Result {
        if readers.withLock({ $0 == nil }) { throw closed() }
        return try writer.withLock { writer in
            let own = try writer ?? Lent(reader: SQLiteTableReader(try openWriter(), mapping, token: token, plainPlans))
            writer = own
            return try own.reader.use(body)
        }
    }

    private func openReader() throws -> SQLConnection {
        try checkFile()
        let connection = try SQLiteFiles.connectForReading(url, timeout: timeout, keepsFiles: keepsFiles)
        connection.standInForUnknownCollations()
        return connection
    }

    private func openWriter() throws -> SQLConnection {
        try checkFile()
        let connection = try SQLiteFiles.connectForWriting(url, timeout: timeout, creates: false)
        // Other programs' tables rely on their foreign keys. No other setting of the file is changed: its journal stays as it is.
        try connection.execute("PRAGMA foreign_keys = ON")
        return connection
    }

    /// - Throws: Code 134070 if another file is at the URL by now, whose tables were never checked.
    private func checkFile() throws {
        if SQLiteFiles.identity(of: url) == file { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url.path) cannot be used.",
            reason: "Another file took its place after it was opened, or it was removed.",
            next: "Remove the store from its coordinator, and add it again.",
            info: [NSFilePathErrorKey: url.path])
    }

    private func closed() -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url.path) cannot be used.",
            reason: "It is not open: it was removed from its coordinator.", next: "Add it again.")
    }

    // MARK: The schema

    /// Returns the mapping of an entity.
    ///
    /// - Throws: Code 134070 for an entity that the store does not hold.
    func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let found = mapping.schema.entity(entity) { return found }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url.path) does not keep “\(entity)”.",
            reason: "The entity is not in its configuration.", next: "Use a store whose configuration has the entity.")
    }
}
