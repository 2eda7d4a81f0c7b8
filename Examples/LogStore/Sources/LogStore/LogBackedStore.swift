@_spi(Stores) internal import CoreData
internal import Foundation
internal import Logging
internal import Synchronization

/// The store behind ``LogStore``: rows in memory, and a file that grows by every save.
///
/// It is no part of what the library shows: coordinators make it, and programs see an `NSPersistentStore`.
// Unchecked: `lock` guards `rows`; `writing`, which lets one write at a time, guards `file` and `writtenRows`. `rows` and `coder` are set once, before
// the store is known to others.
final class LogBackedStore: NSPersistentStore, StoreInterface, @unchecked Sendable {
    static let log = Logger(label: "logstore")

    var rows: StoredRows!
    var coder: RowCoder!
    let lock = ReadWriteLock()
    let writing = NSRecursiveLock()
    var file: LogFile?
    /// How many rows and deletions the file holds.
    var writtenRows = 0
    /// Whether the metadata are others than those in the file.
    let hasNewMetadata = Atomic<Bool>(false)

    // MARK: Opening and closing

    /// Metadata that the program sets are written with the next save.
    override var metadata: [String: Any]! { didSet { hasNewMetadata.store(true, ordering: .relaxed) } }

    /// Reads the file, or makes one.
    ///
    /// - Throws: code 134080 where another has the store open, 259 for a file that is something else or damaged, 134100 for one of another model;
    ///   the system's error.
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

    /// Lets others have the file.
    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { writing.withLock { file = nil } }

    /// The metadata in the file of a store that is not open.
    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let file = try LogFile(url.path, isReadOnly: true, isSynchronized: true)
        if let metadata = try LogMetadata.read(file) { return metadata.list }
        throw LogStoreError.damaged(url.path, at: 8, "It has no metadata.")
    }

    func isOn(_ option: String, default standard: Bool) -> Bool {
        (options?[option] as? NSNumber)?.boolValue ?? options?[option] as? Bool ?? standard
    }

    // MARK: Reading

    /// All rows are in memory.
    var holdsRows: Bool { true }
    /// Rows hold the IDs of to-many relationships.
    var keepsLists: Bool { true }

    /// Answers a query from the rows in memory.
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer { try lock.reading { try rows.answer(query) } }

    /// The rows of objects.
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] { lock.reading { rows.rows(with: ids) } }

    /// The row of one object.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { lock.reading { rows.row(with: id) } }

    /// The objects of a relationship.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] { lock.reading { rows.related(by: relationship, from: ids) } }
}

extension LogBackedStore: ContentsTelling {
    /// A count of what has been written since the store was opened.
    var contentsState: ContentsState? { ContentsState(current: "\(identifier ?? "") \(lock.reading { rows.changeCount })") }
}
