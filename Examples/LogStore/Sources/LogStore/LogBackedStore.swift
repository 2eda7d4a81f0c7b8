@_spi(Stores) internal import CoreData
internal import Foundation
internal import Logging
internal import Synchronization

/// The implementation of ``LogStore``: rows in memory, and a file that every save appends to.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked: `lock` guards `rows`; `writing`, which admits one writer at a time, guards `file` and `writtenRows`. `rows` and `coder` are
// set once, before the store is shared.
final class LogBackedStore: NSPersistentStore, StoreInterface, @unchecked Sendable {
    static let log = Logger(label: "logstore")

    var rows: StoredRows!
    var coder: RowCoder!
    let lock = ReadWriteLock()
    let writing = NSRecursiveLock()
    var file: LogFile?
    /// The number of rows and deletions in the file.
    var writtenRows = 0
    /// Whether the metadata differs from that in the file.
    let hasNewMetadata = Atomic<Bool>(false)

    // MARK: Opening and closing

    /// The metadata, which the next save writes.
    override var metadata: [String: Any]! { didSet { hasNewMetadata.store(true, ordering: .relaxed) } }

    /// Reads or creates the file.
    ///
    /// - Throws: Code 134080 where another process has the store open, 259 for a damaged file or another kind of file, 134100 for a file
    ///   of another model; the system's error.
    override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw LogStoreError.make(
                NSPersistentStoreOpenError, "A LogStore cannot be opened.", reason: "It has no file URL.", next: "Add it at a file URL.")
        }
        rows = StoredRows(for: self)
        coder = RowCoder(for: self)
        try writing.withLock { try open(url) }
        hasNewMetadata.store(false, ordering: .relaxed)
    }

    /// Releases the file to others.
    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { writing.withLock { file = nil } }

    /// Returns the metadata in the file of a store that is not open.
    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let file = try LogFile(url.path, isReadOnly: true, isSynchronized: true)
        if let metadata = try LogMetadata.read(file) { return metadata.list }
        throw LogStoreError.damaged(url.path, at: 8, "It has no metadata.")
    }

    func isOn(_ option: String, default standard: Bool) -> Bool {
        (options?[option] as? NSNumber)?.boolValue ?? options?[option] as? Bool ?? standard
    }

    // MARK: Reading

    /// True: all rows are in memory.
    var hasRowsInMemory: Bool { true }
    /// True: rows contain the IDs of to-many relationships.
    var rowsContainLists: Bool { true }

    /// Answers a query from the rows in memory.
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer { try lock.reading { try rows.answer(query) } }

    /// Returns the rows of objects.
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] { lock.reading { rows.rows(with: ids) } }

    /// Returns the row of one object.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { lock.reading { rows.row(with: id) } }

    /// Returns a relationship of objects.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] { lock.reading { rows.related(by: relationship, from: ids) } }
}

extension LogBackedStore: ContentsStateProviding {
    /// The number of changes since the store was opened.
    var contentsState: ContentsState? { ContentsState(current: "\(identifier ?? "") \(lock.reading { rows.changeCount })") }
}
