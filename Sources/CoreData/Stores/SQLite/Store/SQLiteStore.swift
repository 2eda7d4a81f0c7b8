internal import Foundation
internal import Logging
internal import Synchronization

/// The store that keeps objects in a SQLite database, laid out as Core Data's own.
///
/// One connection writes, under the lock of writing. A file with a write-ahead log is read by others beside it, side by side, see
/// ``SQLReaderPool``; databases in memory, files in other modes and former states of a store are read by the one connection they have, under
/// its lock. Rows that are in memory are had without either.
// `writeLock` guards `writer` and what is used in writing; `cache`, `related`, `pool` and `remoteChanges` look after themselves; the rest is set when the
// store is opened.
final class SQLiteStore: NSPersistentStore, RowTable, CopyableStore, @unchecked Sendable {
    let writeLock = SQLWriteLock()
    /// The connection that writes; nil before the store is opened and after it has been removed.
    private var writer: SQLReader?
    /// The connection of a store that is just being opened.
    private var opening: SQLConnection?
    /// The readers; nil where the file cannot be read side by side.
    private var pool: SQLReaderPool?
    private(set) var schema: SQLSchema!
    let cache = SQLRowCache()
    /// Relationships that were read for many objects at once.
    let related = SQLRelatedCache()
    /// What is said about queries.
    var queryLog = SQLQueryLog()
    let scratch = SQLScratch()
    /// The files of large values; nil for a store in memory.
    private(set) var externalFiles: SQLExternalFiles?
    /// The metadata as the file has them.
    var savedMetadata: [String: Any] = [:]
    var writers: [ObjectIdentifier: SQLEntityWriter] = [:]
    private var dataVersion: Int64 = -1
    /// The entity that was looked for last, which the schema holds.
    private let lastPlace = Atomic<UInt>(0)
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
        opening = opened.connection
        savedMetadata = opened.metadata
        metadata = opened.metadata
    }

    override func open() throws {
        guard let coordinator = persistentStoreCoordinator, let connection = opening else { return }
        opening = nil
        let schema = try SQLiteOpening(self).schema(of: coordinator.managedObjectModel, in: connection)
        self.schema = schema
        let options = try SQLiteOptions(options)
        if !isReadOnly { try SQLiteOpening(self).prepareWriting(connection) }
        cache.open(Set(schema.entities.map(\.rootNumber)), limit: options.cacheLimit)
        let origins = SQLOrigins(schema, token: token, rows: cache)
        writer = SQLReader(self, connection, origins)
        if !isReadOnly {
            externalFiles = SQLiteFiles.externalFiles(of: url).map(SQLExternalFiles.init)
            try SQLFunctions.registerUnknown(on: connection)
            if options.vacuums { try removeOrphans(connection) }
        }
        try openHistory(connection)
        if let url, try SQLiteFiles.isReadSideBySide(url, connection, options) {
            let file = SQLiteFiles.identity(of: url)
            pool = SQLReaderPool { [unowned self] in
                // Another file may lie there by now; the one that is open goes on.
                guard SQLiteFiles.identity(of: url) == file else { return nil }
                return SQLReader(self, try SQLiteFiles.connectBeside(url, options), origins)
            }
        }
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        // The readers go first: the last connection to a file takes its log away, which one that only reads cannot.
        pool?.close()
        writeLock.withLock {
            writer?.endStorm()
            writer = nil
            opening = nil
            writers = [:]
            historyNotes = nil
            watcher = nil
        }
        cache.advance()
        cache.removeAll()
        related.close()
    }

    /// Shows what another store has in the state of a connection.
    func become(_ original: SQLiteStore, as connection: SQLConnection) {
        token = original.token
        metadata = original.metadata
        savedMetadata = original.savedMetadata
        schema = original.schema
        cache.open(Set(schema.entities.map(\.rootNumber)), limit: original.cache.limit)
        writer = SQLReader(self, connection, SQLOrigins(schema, token: token, rows: original.cache))
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try SQLiteMetadata.read(from: SQLiteFiles.connectForReading(url, timeout: SQLiteStoreDefaults.timeout))
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let connection = try SQLiteFiles.connectForWriting(url, timeout: SQLiteStoreDefaults.timeout, creates: false)
        try connection.transaction { try SQLiteMetadata.write(metadata ?? [:], to: connection) }
    }

    // MARK: Reading and writing

    /// Reads what the store has now, with a reader that this thread alone has meanwhile: the connection that writes, where the thread is writing.
    ///
    /// As long as nobody has had to wait for it, the connection that writes serves for reading too: many a program needs no other.
    ///
    /// - Parameter isPlain: whether no code of the program's own runs meanwhile, which might wait for somebody who writes.
    /// - Throws: code 134070 once the store has been removed.
    func reading<Result>(isPlain: Bool = false, _ body: (SQLReader) throws -> Result) throws -> Result {
        defer { cache.sweepIfLarge() }
        if let pool, !writeLock.isOwn {
            if isPlain, !pool.isOpened, !writeLock.wasContended, writeLock.tryLock() {
                defer { writeLock.unlock() }
                return try requireWriter().use(body)
            }
            do { return try pool.with(closed: closed, body) } catch is SQLReaderPool.NoReader {}
        }
        return try writeLock.withLock { try requireWriter().use(body) }
    }

    /// How many readers are open beside the connection that writes.
    var readerCount: Int { pool?.count ?? 0 }

    /// What reads by the connection that writes. Under the lock of writing.
    ///
    /// - Throws: code 134070 once the store has been removed.
    func requireWriter() throws -> SQLReader {
        if let writer { return writer }
        throw closed()
    }

    /// The connection that writes. Under the lock of writing.
    ///
    /// - Throws: code 134070 once the store has been removed.
    func database() throws -> SQLConnection { try requireWriter().database() }

    /// What answers fetches by the connection that writes. Under the lock of writing.
    func queries() throws -> SQLQueries { try requireWriter().queries() }

    private func closed() -> any Error {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "no place") cannot be used.",
            reason: "It is not open: it was removed from its coordinator.", next: "Add it again.", info: [NSAffectedStoresErrorKey: [self]])
    }

    /// Has the read transaction of a reader ended when the faults that it was begun for have ended.
    func endStormLater(of reader: SQLReader) { Self.endStormLater(token, reader.place) }

    // The token alone goes to the other thread; it keeps no store alive.
    private static func endStormLater(_ token: StoreToken, _ place: Int?) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
            guard let store = token.store as? SQLiteStore else { return }
            // Where somebody has it, that may be the last fault.
            if let place {
                if store.pool?.withFree(place, { $0.endStorm() }) == false { endStormLater(token, place) }
            } else if store.writeLock.tryLock() {
                defer { store.writeLock.unlock() }
                store.writer?.endStorm()
            } else {
                endStormLater(token, nil)
            }
        }
    }

    override func didAdd(to coordinator: NSPersistentStoreCoordinator) { watchFile() }

    // MARK: What others have written

    /// Notices that another connection has changed the file: what is kept of it may be out of date. Under the lock of writing.
    ///
    /// - Returns: whether one has.
    @discardableResult func noticeOthers() throws -> Bool {
        let version = try database().with("PRAGMA data_version") { try $0.step() ? $0.int64(0) : 0 }
        if version == dataVersion { return false }
        let isFirst = dataVersion < 0
        dataVersion = version
        if isFirst { return false }
        forgetRows()
        postRemoteChange()
        return true
    }

    /// Forgets everything that is kept of the file.
    func forgetRows() {
        cache.advance()
        related.removeAll()
        cache.removeAll()
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

    /// The key and the entity's place of an ID of this store.
    func place(of id: NSManagedObjectID) -> (entity: SQLEntity, key: Int64)? {
        guard case .integer(let key) = id.reference, id.token === token else { return nil }
        return place(of: id.owningEntity).map { ($0, key) }
    }

    func place(of description: NSEntityDescription) -> SQLEntity? {
        // Objects mostly come entity by entity.
        if let last = UnsafeRawPointer(bitPattern: lastPlace.load(ordering: .relaxed)) {
            let entity = Unmanaged<SQLEntity>.fromOpaque(last)
            if entity._withUnsafeGuaranteedRef({ $0.entity === description }) { return entity.takeUnretainedValue() }
        }
        guard let entity = schema?.entity(description) else { return nil }
        lastPlace.store(UInt(bitPattern: Unmanaged.passUnretained(entity).toOpaque()), ordering: .relaxed)
        return entity
    }
}
