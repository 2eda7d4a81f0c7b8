internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The store for the tables of another program in a SQLite file.
///
/// Programs use it as an `NSPersistentStore`. Reading changes no byte of the file; saving changes only its rows.
// Unchecked: `opening`, `tables`, `timeout`, `keepsFiles` and `openedMetadata` are set once, before the store is shared; `tables` guards itself.
package final class ExistingSQLiteStore: NSPersistentStore, @unchecked Sendable {
    private var opening: (connection: SQLConnection, mapping: SQLiteTables.Mapped)?
    private(set) var tables: SQLiteTables!
    private var timeout = SQLiteStoreDefaults.timeout
    /// Whether reading leaves the files beside the database unchanged, see ``SQLiteKeepsFilesOption``.
    private var keepsFiles = false
    /// The metadata that were made at opening.
    private var openedMetadata: [String: Any] = [:]

    /// True: the tables themselves show whether the model fits, not stored hashes.
    package override class var checksModelVersion: Bool { true }

    /// Opens the file and compares the model with its tables. The coordinator makes the metadata: the UUID is that of the URL.
    ///
    /// - Throws: Code 260 if there is no file, 259 if it is not a SQLite file, 134020 with every difference between model and tables.
    package override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The tables at \(url?.absoluteString ?? "no URL") cannot be opened.",
                reason: "Their place must be a file.", next: "Give a file URL.")
        }
        let options = try SQLiteOptions(options)
        SQLPreparations.set(options.preparation, for: url)
        timeout = options.timeout
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        try model.freeze()
        let isWhole = configurationName == Self.defaultConfiguration
        let entities = model.entities(forConfigurationName: isWhole ? nil : configurationName) ?? []
        opening = try SQLiteTablesOpening(url: url, timeout: options.timeout, keepsFiles: options.keepsFiles).open(model, entities)
        keepsFiles = options.keepsFiles
    }

    package override func open() throws {
        guard let url, let (connection, mapping) = opening else { return }
        opening = nil
        for notice in mapping.notices { Log.store.notice("The store at \(url.path): \(notice)") }
        tables = try SQLiteTables(url, mapping, token: token, timeout: timeout, keepsFiles: keepsFiles, first: connection)
        openedMetadata = metadata ?? [:]
    }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        opening = nil
        tables?.close()
    }

    /// Returns the SQL of a fetch, and how SQLite executes it.
    ///
    /// - Throws: The errors of the fetch that are known before it is executed: code 134091 names a clause without SQL. Call it on any queue.
    package func explanation(of query: StoreQuery) throws -> SQLExplanation {
        let entity = try tables.sqlEntity(query.entity)
        return try tables.reading { try $0.explanation(query, entity) }
    }

    /// Whether the metadata are still those that were made at opening.
    private var hasNewMetadata: Bool { !NSDictionary(dictionary: metadata ?? [:]).isEqual(NSDictionary(dictionary: openedMetadata)) }
}

extension ExistingSQLiteStore: StoreInterface {
    package func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        let entity = try tables.sqlEntity(query.entity)
        return try naming(query.entity) { try tables.reading { try $0.answer(query, entity) } }
    }

    package func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try naming(ids.first?.owningEntity) { try tables.reading { try $0.rows(ids) } }
    }

    package func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try naming(relationship.destinationEntity) { try tables.reading { try $0.related(by: relationship, from: ids) } }
    }

    /// Calls `body`, and adds the table or view of an entity to SQLite's errors: they name no view, and a file has many.
    private func naming<Result>(_ entity: NSEntityDescription?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as NSError where error.userInfo[NSSQLiteErrorDomain] != nil {
            guard let entity, let found = tables.mapping.schema.entity(entity) else { throw error }
            var info = error.userInfo
            info[NSLocalizedDescriptionKey] = "“\(entity)” (\(tables.mapping.table(found).shown)): \(error.localizedDescription)"
            throw NSError(domain: error.domain, code: error.code, userInfo: info)
        }
    }

    package func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        if hasNewMetadata {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(tables.url.path) cannot be saved.",
                reason: "The tables are another program's, and have no place for them.", next: "Keep what is in them elsewhere.")
        }
        return changes.isEmpty ? SaveOutcome() : try tables.save(changes)
    }
}

extension ExistingSQLiteStore: KeySpellingStore {
    package func spelled(_ reference: NSManagedObjectID.Reference, of entity: NSEntityDescription) -> NSManagedObjectID.Reference {
        guard let tables, let found = tables.mapping.schema.entity(entity) else { return reference }
        return tables.mapping.table(found).key.spelled(reference)
    }
}

extension ExistingSQLiteStore: LateIdentityStore {
    /// The database assigns the keys, or they are among the values.
    package func knownIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID?] {
        Array(repeating: nil, count: new.count)
    }
}
