internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import PropertyLists

/// Reads and writes the metadata of a store: a UUID and a property list in `Z_METADATA`.
package enum SQLiteMetadata {
    static let autoVacuumKey = "_NSAutoVacuumLevel"
    /// The metadata keys that identify a store's version of the model.
    static let versionKeys = [
        NSStoreModelVersionHashesKey, "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey",
        NSStoreModelVersionIdentifiersKey,
    ]
    static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
    /// The version of Core Data whose layout is written.
    static let frameworkVersion = 1344

    /// The property list that was read last. A program opens mostly one store, or several with one model, which have the same.
    private static let lastList = LockedBox<List?>(nil)
    // Property lists are read as immutable values, and handed on as such.
    private struct List: @unchecked Sendable {
        let bytes: Data
        let values: [String: Any]
    }

    private static func isStore(_ connection: SQLConnection) throws -> Bool {
        try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'", .opening).isEmpty
    }

    /// Reads the metadata of a store.
    ///
    /// - Parameter isStore: Whether the file has the table of the metadata; nil if that is unknown.
    /// - Throws: Code 259 for a database that is not a store.
    static func read(from connection: SQLConnection, isStore: Bool? = nil) throws -> [String: Any] {
        guard try isStore ?? Self.isStore(connection) else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "The file at \(connection.path) is not a store.",
                reason: "It is a SQLite database, but has no table Z_METADATA.", next: "Give the URL of a store that Core Data has made.",
                info: [NSFilePathErrorKey: connection.path])
        }
        let found: ([String: Any], String)? = try connection.with("SELECT Z_PLIST, Z_UUID FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1") {
            statement in
            guard try statement.step(.opening) else { return nil }
            // A store that was never saved may have no property list.
            if statement.isNull(0) { return ([:], statement.text(1)) }
            return (try values(of: statement.data(0), connection), statement.text(1))
        }
        guard let (list, uuid) = found, !uuid.isEmpty else { throw damaged(connection, "Z_METADATA has no row, or one without a UUID.") }
        var metadata = list
        metadata[NSStoreUUIDKey] = uuid
        if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = NSSQLiteStoreType }
        return metadata
    }

    /// Reads the metadata of a store together with its model hashes, for comparisons with models.
    ///
    /// - Throws: Code 259 for a database that is not a store.
    static func readWithModelHashes(from connection: SQLConnection) throws -> [String: Any] {
        var metadata = try read(from: connection)
        guard let written = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return metadata }
        do {
            let copy = try SQLiteModelCache.hashes(in: connection)
            if copy != written { metadata[StoreModelHashes.copyKey] = copy }
        } catch {
            // The store opens with its model nevertheless.
            Log.store.notice("The copy of the model in the store at \(connection.path) cannot be read: \(error.localizedDescription)")
        }
        return metadata
    }

    private static func values(of bytes: Data, _ connection: SQLConnection) throws -> [String: Any] {
        if let last = lastList.withLock({ $0 }), last.bytes == bytes { return last.values }
        let dictionary: [String: Any]
        do { dictionary = try PropertyListValues.dictionary(bytes) } catch let error as BinaryPropertyList.FormatError {
            throw damaged(connection, "Its Z_PLIST cannot be read. \(error.reason)")
        }
        lastList.set(List(bytes: bytes, values: dictionary))
        return dictionary
    }

    private static func damaged(_ connection: SQLConnection, _ reason: String) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The metadata of the store at \(connection.path) cannot be read.", reason: reason,
            next: "Restore the file from a copy.", info: [NSFilePathErrorKey: connection.path])
    }

    /// Writes the metadata of a store. Call it within a transaction.
    ///
    /// - Throws: Code 134030 for values that a property list cannot hold.
    static func write(_ metadata: [String: Any], to connection: SQLConnection) throws {
        var list = metadata
        list[NSStoreUUIDKey] = nil
        list[StoreModelHashes.copyKey] = nil
        guard PropertyListSerialization.propertyList(list, isValidFor: .binary) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(connection.path) cannot be written.",
                reason: "A property list cannot hold them.", next: "Use texts, numbers, dates, data, arrays and dictionaries only.")
        }
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try connection.with("UPDATE Z_METADATA SET Z_PLIST = ?, Z_UUID = coalesce(?, Z_UUID)") { statement in
            statement.bind(data, at: 1)
            if let uuid = metadata[NSStoreUUIDKey] as? String { statement.bind(uuid, at: 2) } else { statement.bindNull(at: 2) }
            try statement.run()
        }
        guard connection.changes == 0 else { return }
        try connection.with("INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)") { statement in
            statement.bind(metadata[NSStoreUUIDKey] as? String ?? UUID().uuidString, at: 1)
            statement.bind(data, at: 2)
            try statement.run()
        }
    }

    /// Returns the metadata of a new store.
    static func make(for entities: [NSEntityDescription], of model: NSManagedObjectModel) -> [String: Any] {
        let own: [String: Any] = [
            NSStoreUUIDKey: UUID().uuidString,
            NSStoreTypeKey: NSSQLiteStoreType,
            autoVacuumKey: "2",
            frameworkVersionKey: frameworkVersion,
        ]
        return own.merging(model.versionMetadata(of: entities)) { $1 }
    }
}
