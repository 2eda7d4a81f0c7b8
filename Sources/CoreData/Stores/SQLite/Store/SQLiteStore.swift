internal import CSQLite
internal import Foundation
internal import Logging
internal import Predicates

/// The store that keeps objects in a SQLite database, laid out as Core Data's own.
///
/// It has one connection. Everything is done under `requestLock`, which the coordinator holds for most calls and this class takes for the
/// others.
// Unchecked: `requestLock` guards everything.
final class SQLiteStore: NSPersistentStore, RowTable, CopyableStore, @unchecked Sendable {
    let requestLock = NSRecursiveLock()
    /// The connection; nil before the store is opened and after it has been removed.
    private var connection: SQLConnection?
    private(set) var schema: SQLSchema!
    private(set) var values: SQLValues!
    let cache = SQLRowCache()
    let scratch = SQLScratch()
    /// The files of large values; nil for a store in memory.
    private(set) var externalFiles: SQLExternalFiles?
    /// The metadata as the file has them.
    var savedMetadata: [String: Any] = [:]
    private var plans: [ObjectIdentifier: SQLRowPlan] = [:]
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    var writers: [ObjectIdentifier: SQLEntityWriter] = [:]
    /// Relationships that were read for many objects at once, until something changes.
    var related = SQLRelatedCache()
    private var dataVersion: Int64 = -1
    /// The entity that was looked for last.
    @exclusivity(unchecked) private var lastPlace: SQLEntity?
    /// Made at the first fetch.
    private var madeQueries: SQLQueries?
    var storm = SQLReadStorm()
    /// What notes the rows that a transaction writes; nil where no history is kept, or the store is only read.
    var historyNotes: SQLHistory?
    /// How the history of the file is read; nil where it has none.
    var historyReader: SQLHistory?
    /// Sees that others write to the file; nil unless that is asked for.
    var watcher: SQLFileWatcher?
    /// The key given last, by the number of the entity at the top of the inheritance: none below it is checked again.
    var checkedRoots: Set<Int64> = []

    // MARK: Opening and closing

    override func loadMetadata() throws {
        let opened = try SQLiteOpening(self).open()
        connection = opened.connection
        savedMetadata = opened.metadata
        metadata = opened.metadata
    }

    override func open() throws {
        guard let coordinator = persistentStoreCoordinator else { return }
        let connection = try database()
        let model = coordinator.managedObjectModel
        let schema = try SQLiteOpening(self).schema(of: model, in: connection)
        self.schema = schema
        if !isReadOnly { try SQLiteOpening(self).prepareWriting(connection) }
        values = SQLValues(
            schema: schema, token: token, path: connection.path, externalFiles: SQLiteFiles.externalFiles(of: url), rowsOf: self)
        SQLFunctions.register(on: connection)
        if !isReadOnly {
            externalFiles = SQLiteFiles.externalFiles(of: url).map(SQLExternalFiles.init)
            try SQLFunctions.registerUnknown(on: connection)
            if try SQLiteOptions(options).vacuums { try removeOrphans(connection) }
        }
        SQLQueryLog.trace(connection)
        try openHistory(connection)
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        requestLock.withLock {
            if storm.isOn { endStorm() }
            plans = [:]
            lastPlace = nil
            writers = [:]
            connection = nil
            madeQueries = nil
            historyNotes = nil
            historyReader = nil
            watcher = nil
            cache.removeAll()
            related.removeAll()
        }
    }

    /// The connection, for anything but a single fault.
    ///
    /// - Throws: code 134070 once the store has been removed.
    func database() throws -> SQLConnection {
        let connection = try anyDatabase()
        if storm.isOn { endStorm() }
        return connection
    }

    /// The connection for a fault: many in a row share a transaction.
    func databaseForFault() throws -> SQLConnection {
        let connection = try anyDatabase()
        switch storm.noteFault() {
        case .nothing: break
        case .end: try connection.with("COMMIT") { try $0.run(.reading) }
        case .begin:
            if connection.isInTransaction {
                storm.stop()
            } else {
                try connection.with("BEGIN") { try $0.run(.reading) }
                // The token alone goes to the other thread; it keeps no store alive.
                let token = token
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { (token.store as? SQLiteStore)?.endIdleStorm() }
            }
        }
        return connection
    }

    private func endIdleStorm() {
        requestLock.withLock { if storm.isOn { endStorm() } }
    }

    func endStorm() {
        storm.stop()
        do { try connection?.with("COMMIT") { try $0.run(.reading) } } catch {
            Log.store.error("A read transaction could not be ended: \(error)")
        }
    }

    private func anyDatabase() throws -> SQLConnection {
        if let connection { return connection }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "no place") cannot be used.",
            reason: "It is not open: it was removed from its coordinator.", next: "Add it again.", info: [NSAffectedStoresErrorKey: [self]])
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try SQLiteMetadata.read(from: SQLiteFiles.connectForReading(url, timeout: SQLiteOpening.standardTimeout))
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let connection = try SQLiteFiles.connectForWriting(url, timeout: SQLiteOpening.standardTimeout, creates: false)
        try connection.transaction { try SQLiteMetadata.write(metadata ?? [:], to: connection) }
    }

    /// What answers fetches by SQL.
    func queries() throws -> SQLQueries {
        if let madeQueries { return madeQueries }
        let made = try SQLQueries(self)
        madeQueries = made
        return made
    }

    // MARK: What lies where

    /// Where an entity lies.
    ///
    /// - Throws: code 134070 for one that the store does not keep.
    func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let found = schema?.entity(entity) { return found }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "no place") does not keep “\(entity)”.",
            reason: "The entity is not in its configuration.", next: "Use a store whose configuration has the entity.")
    }

    func plan(_ entity: SQLEntity) -> SQLRowPlan {
        if let plan = plans[ObjectIdentifier(entity)] { return plan }
        let plan = SQLRowPlan(entity, schema: schema, values: values)
        plans[ObjectIdentifier(entity)] = plan
        return plan
    }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }

    // MARK: What is kept in memory

    /// Notices that another connection has changed the file: what is kept of it may be out of date.
    ///
    /// - Returns: whether one has.
    @discardableResult func noticeOthers() throws -> Bool {
        defer { cache.noteTime() }
        let version = try database().with("PRAGMA data_version") { try $0.step() ? $0.int64(0) : 0 }
        if version == dataVersion { return false }
        let isFirst = dataVersion < 0
        dataVersion = version
        if isFirst { return false }
        cache.removeAll()
        related.removeAll()
        postRemoteChange()
        return true
    }

    /// Shows what another store has in the state of a connection.
    func become(_ original: SQLiteStore, as connection: SQLConnection) {
        token = original.token
        metadata = original.metadata
        savedMetadata = original.savedMetadata
        schema = original.schema
        values = SQLValues(
            schema: schema, token: token, path: connection.path, externalFiles: SQLiteFiles.externalFiles(of: url), rowsOf: original)
        SQLFunctions.register(on: connection)
        self.connection = connection
    }

    override func didAdd(to coordinator: NSPersistentStoreCoordinator) { watchFile() }

    /// The key and the entity's place of an ID of this store.
    func place(of id: NSManagedObjectID) -> (entity: SQLEntity, key: Int64)? {
        guard case .integer(let key) = id.reference, id.token === token else { return nil }
        return place(of: id.owningEntity).map { ($0, key) }
    }

    func place(of description: NSEntityDescription) -> SQLEntity? {
        // Objects mostly come entity by entity.
        if let lastPlace, lastPlace.entity === description { return lastPlace }
        guard let entity = schema?.entity(description) else { return nil }
        lastPlace = entity
        return entity
    }

    func forgetRelated() { related.removeAll() }
}
