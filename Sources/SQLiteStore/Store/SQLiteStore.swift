internal import Foundation
internal import Logging
@_spi(Stores) package import ObjectGraph
internal import SQLQueries
internal import Synchronization

/// The SQLite store, with the layout of Core Data's own.
///
/// One connection writes, under the write lock. A file with a write-ahead log is read concurrently by further connections, see
/// ``SQLReaderPool``; databases in memory, files in other modes and views of past states are read by their single connection, under its
/// lock. Cached rows need neither.
// `writeLock` guards `writer` and the state used in writing; `cache`, `related`, `pool` and `remoteChanges` guard themselves; the rest is
// set when the store is opened.
package final class SQLiteStore: NSPersistentStore, RowTable, CopyableStore, @unchecked Sendable {
    let writeLock = SQLWriteLock()
    /// The reader of the writing connection; nil before the store is opened and after it was removed.
    private var writer: SQLReader?
    /// The connection of a store that is being opened.
    private var opening: (connection: SQLConnection, contents: SQLiteContents)?
    /// The pool of readers; nil if the file cannot be read concurrently.
    private(set) var pool: SQLReaderPool?
    private(set) var schema: SQLSchema!
    /// The plans of plain fetches, shared with other stores of the same layout.
    private(set) var plainPlans = SQLPlainPlans()
    let cache = SQLRowCache()
    /// The cache of relationships that were read for many objects at once.
    let related = SQLRelatedCache()
    /// The log of queries.
    var queryLog = SQLQueryLog()
    let scratch = SQLScratch()
    /// The external data files; nil for a store in memory.
    private(set) var externalFiles: SQLExternalFiles?
    /// The metadata in the file.
    var savedMetadata: [String: Any] = [:]
    /// The number of the store's metadata that equal these; nil if it is unknown.
    var savedMetadataNumber: Int?
    var writers: [ObjectIdentifier: SQLEntityWriter] = [:]
    private var dataVersion: Int64 = -1
    /// The last entity that was looked up, retained by the schema.
    private let lastPlace = Atomic<UInt>(0)
    /// Records the rows that a transaction writes; nil without history tracking, or for a read-only store.
    var historyNotes: SQLHistory?
    /// The reader of the history of the file; nil if there is none.
    var historyReader: SQLHistory?
    /// Watches the file for writes by others; nil unless requested.
    var watcher: SQLFileWatcher?
    /// The root entities whose last assigned key was checked.
    var checkedRoots: Set<Int64> = []

    // MARK: Opening and closing

    /// True: the tables of a file decide, too.
    package override class var checksModelVersion: Bool { true }

    package override func loadMetadata() throws {
        let opened = try SQLiteOpening(self).open()
        opening = (opened.connection, opened.contents)
        savedMetadata = opened.metadata
        metadata = SQLiteOpening(self).metadataOfOpenStore(opened.metadata)
    }

    override package func open() throws {
        guard let coordinator = persistentStoreCoordinator, let (connection, contents) = opening else { return }
        opening = nil
        let (schema, plainPlans) = try SQLiteOpening(self).schema(of: coordinator.managedObjectModel, in: connection, contents)
        (self.schema, self.plainPlans) = (schema, plainPlans)
        let options = try SQLiteOptions(options)
        let mode = isReadOnly ? nil : try SQLiteOpening(self).prepareWriting(connection, options)
        cache.open(Set(schema.entities.map(\.rootNumber)), limit: options.cacheLimit)
        let origins = SQLOrigins(schema, token: token, rows: cache)
        writer = try SQLReader(self, connection, origins)
        if !isReadOnly {
            externalFiles = url.flatMap { SQLiteFiles.isInMemory($0) ? nil : SQLExternalFiles(of: $0) }
            try SQLTriggerFunctions.registerUnknown(by: contents.callingTriggers, on: connection)
            if options.vacuums { try removeOrphans(connection) }
        }
        try openHistory(connection, contents)
        if let url, try SQLiteFiles.supportsConcurrentReaders(url, connection, options, mode: mode) {
            let file = SQLiteFiles.identity(of: url)
            pool = SQLReaderPool(size: options.readerLimit ?? SQLReaderPool.standardSize) { [unowned self] in
                // Another file may be at the URL now; the open one continues to be used.
                guard SQLiteFiles.identity(of: url) == file else { return nil }
                return try SQLReader(self, SQLiteFiles.openConcurrentReader(url, options), origins)
            }
        }
    }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        // The readers first: the last connection to a file removes its log, which a read-only one cannot.
        pool?.close()
        writeLock.withLock {
            writer?.endFaultSeries()
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

    /// Makes the store a view of another store in the state of a connection.
    ///
    /// - Throws: Code 134080 if SQLite does not accept a function.
    func configureAsView(of original: SQLiteStore, with connection: SQLConnection) throws {
        token = original.token
        metadata = original.metadata
        savedMetadata = original.savedMetadata
        schema = original.schema
        cache.open(Set(schema.entities.map(\.rootNumber)), limit: original.cache.limit)
        writer = try SQLReader(self, connection, SQLOrigins(schema, token: token, rows: original.cache))
    }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try SQLiteMetadata.readWithModelHashes(from: SQLiteFiles.connectForReadingOnce(url, timeout: SQLiteStoreDefaults.timeout))
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let connection = try SQLiteFiles.connectForWriting(url, timeout: SQLiteStoreDefaults.timeout, creates: false)
        try connection.transaction { try SQLiteMetadata.write(metadata ?? [:], to: connection) }
    }

    // MARK: Reading and writing

    /// Reads the current state of the store, with a reader that only this thread uses meanwhile; it is the writing connection if the thread is
    /// writing.
    ///
    /// While no thread has had to wait for it, the writing connection is used for reading, too: many programs need no other.
    ///
    /// - Parameter isPlain: Whether no code of the program is called meanwhile, which might wait for a writer.
    /// - Throws: Code 134070 once the store was removed.
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

    /// The number of open readers, without the writing connection.
    var readerCount: Int { pool?.count ?? 0 }

    /// Returns the reader of the writing connection. Call it under the write lock.
    ///
    /// - Throws: Code 134070 once the store was removed.
    func requireWriter() throws -> SQLReader {
        if let writer { return writer }
        throw closed()
    }

    /// Returns the writing connection. Call it under the write lock.
    ///
    /// - Throws: Code 134070 once the store was removed.
    func database() throws -> SQLConnection { try requireWriter().database() }

    /// Returns the query plans of the writing connection. Call it under the write lock.
    func queries() throws -> SQLQueryEngine { try requireWriter().queries() }

    private func closed() -> any Error {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "no URL") cannot be used.",
            reason: "It is not open: it was removed from its coordinator.", next: "Add it again.", info: [NSAffectedStoresErrorKey: [self]])
    }

    /// Ends the read transaction of a reader when the series of faults has ended.
    func endFaultSeriesLater(of reader: SQLReader) { Self.endFaultSeriesLater(token, reader.place) }

    // The other thread receives the token only, which does not retain the store.
    private static func endFaultSeriesLater(_ token: StoreToken, _ place: Int?) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
            guard let store = token.store as? SQLiteStore else { return }
            // While the reader is in use, there may be another fault.
            if let place {
                if store.pool?.withFree(place, { $0.endFaultSeries() }) == false { endFaultSeriesLater(token, place) }
            } else if store.writeLock.tryLock() {
                defer { store.writeLock.unlock() }
                store.writer?.endFaultSeries()
            } else {
                endFaultSeriesLater(token, nil)
            }
        }
    }

    package override func didAdd(to coordinator: NSPersistentStoreCoordinator) { watchFile() }

    // MARK: Changes by others

    /// Detects changes of the file by other connections, and invalidates the caches. Call it under the write lock.
    ///
    /// - Returns: Whether there were changes.
    @discardableResult func detectExternalChanges() throws -> Bool {
        let version = try database().with("PRAGMA data_version") { try $0.step() ? $0.int64(0) : 0 }
        if version == dataVersion { return false }
        let isFirst = dataVersion < 0
        dataVersion = version
        if isFirst { return false }
        forgetRows()
        postRemoteChange()
        return true
    }

    /// Clears all caches of the file.
    func forgetRows() {
        cache.advance()
        related.removeAll()
        cache.removeAll()
    }

    // MARK: The schema

    /// Returns the mapping of an entity.
    ///
    /// - Throws: Code 134070 for an entity that the store does not hold.
    func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let found = schema?.entity(entity) { return found }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "no URL") does not keep “\(entity)”.",
            reason: "The entity is not in its configuration.", next: "Use a store whose configuration has the entity.")
    }

    /// Returns the key and the entity's mapping for an ID of this store.
    func place(of id: NSManagedObjectID) -> (entity: SQLEntity, key: Int64)? {
        guard case .integer(let key) = id.reference, id.token === token else { return nil }
        return place(of: id.owningEntity).map { ($0, key) }
    }

    func place(of description: NSEntityDescription) -> SQLEntity? {
        // Objects mostly come grouped by entity. The schema holds the entity, and the store holds the schema for as long as this may be called.
        if let last = UnsafeRawPointer(bitPattern: lastPlace.load(ordering: .relaxed)) {
            let entity = Unmanaged<SQLEntity>.fromOpaque(last)
            if entity._withUnsafeGuaranteedRef({ $0.entity === description }) { return entity.takeUnretainedValue() }
        }
        guard let entity = schema?.entity(description) else { return nil }
        lastPlace.store(UInt(bitPattern: Unmanaged.passUnretained(entity).toOpaque()), ordering: .relaxed)
        return entity
    }
}
