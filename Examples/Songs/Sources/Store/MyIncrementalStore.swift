public import CoreData
internal import ExampleSupport

/// An incremental store over a CSV file: the second store of the article *Diving into Core Data with Incremental and Atomic Stores*.
///
/// When it is added, it reads the headers of rows, and no values. The values of an object are read from its row when its fault fires.
/// Every row has a version in the file, which each save increments; a save of an object whose row has another version, because another
/// program has written it, fails with code 133020, or is resolved by the merge policy.
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(MyIncrementalStore.self, type: MyIncrementalStore.storeType)
/// container.persistentStoreDescriptions = [MyIncrementalStore.storeDescription(at: url)]
/// ```
public final class MyIncrementalStore: NSIncrementalStore {
    // The framework calls a store for one request at a time; only `counters`, which may be read on any thread, has a lock.

    /// The counters of a store.
    public struct Statistics: Sendable, Hashable {
        /// The number of scans of the file for the headers of rows: when it was opened, and after changes by other programs.
        public internal(set) var scans = 0
        /// The number of executed fetches.
        public internal(set) var fetches = 0
        /// The number of rows whose values were read.
        public internal(set) var rowsRead = 0
        /// The number of fulfilled relationship faults.
        public internal(set) var relationshipFaults = 0
        /// The number of saves.
        public internal(set) var saves = 0
    }

    /// The type that the store is registered under.
    public static let storeType = NSPersistentStore.StoreType(rawValue: "MyIncrementalStore")

    /// Returns the description of a file's store, for a container.
    public static func storeDescription(at url: URL) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: url)
        description.type = storeType.rawValue
        return description
    }

    /// The type of the store.
    public override var type: String { Self.storeType.rawValue }

    /// The counters of the store. Use it on any thread.
    public var statistics: Statistics { counters.withLock { $0 } }

    let counters = Locked(Statistics())
    var file: SongFile!
    var format: SongFileFormat!
    /// The file as it was last scanned.
    var index: SongIndex!

    /// Checks or creates the file, reads its headers, and sets the metadata.
    ///
    /// - Throws: ``SongFileError`` for a file that cannot be reached, read or (unless the store is read-only) written, and for a damaged
    ///   one. An invalid value is reported when it is read.
    public override func loadMetadata() throws {
        file = try SongFile(url)
        format = SongFileFormat(persistentStoreCoordinator!.managedObjectModel, url: file.url)
        try file.prepare(isReadOnly: isReadOnly, contents: CSVWriter().line(format.newColumns))
        try loadHeaders()
        metadata = [NSStoreTypeKey: Self.storeType.rawValue, NSStoreUUIDKey: file.storeIdentifier]
    }

    func loadHeaders() throws {
        counters.withLock { $0.scans += 1 }
        index = try SongIndex(scanning: file, format)
    }

    /// Reads the headers again if another program has written the file.
    func updateHeaders() throws {
        if try file.stamp() != index.stamp { try loadHeaders() }
    }

    /// Executes a fetch or a save.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let context, let fetchRequest = request as? NSFetchRequest<any NSFetchRequestResult> {
            return try fetch(fetchRequest, with: context)
        } else if request.requestType == .saveRequestType, let saveRequest = request as? NSSaveChangesRequest {
            try save(saveRequest)
            return []
        }
        return try super.execute(request, with: context)
    }

    /// Returns the values of an object, read from its row. A song's album is omitted, although the row names it:
    /// ``newValue(forRelationship:forObjectWith:with:)`` returns it without reading.
    ///
    /// - Throws: Code 133000 when the file has no such row, ``SongFileError`` when the row is damaged.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        try updateHeaders()
        let header = try header(of: objectID)
        return NSIncrementalStoreNode(objectID: objectID, withValues: try values(of: header), version: header.version)
    }

    /// Returns the objects of a relationship, which the headers of rows contain. No row is read.
    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        counters.withLock { $0.relationshipFaults += 1 }
        try updateHeaders()
        let related = index.related(relationship.name, of: try header(of: objectID).id).compactMap { self.objectID($0) }
        if relationship.isToMany { return related }
        return related.first ?? NSNull()
    }

    /// Returns the permanent IDs of new objects, created from their identifiers.
    ///
    /// - Throws: ``SongFileError`` when the file has a row with the identifier already.
    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        try updateHeaders()
        return try array.map { object in
            guard let id = object.value(forKey: "id") as? UUID, index.headers[id] == nil else {
                throw SongFileError(
                    .unstorable, file.url, "A new \(object.entity) has no identifier of its own.",
                    advice: "Leave its id as awakeFromInsert() sets it.")
            }
            return newObjectID(for: object.entity, referenceObject: id)
        }
    }

    // MARK: Rows

    /// Returns the ID of the object whose row has an identifier.
    func objectID(_ id: UUID) -> NSManagedObjectID? {
        index.headers[id].map { newObjectID(for: $0.entity, referenceObject: id) }
    }

    func header(of objectID: NSManagedObjectID) throws -> SongHeader {
        if let id = referenceObject(for: objectID) as? UUID, let header = index.headers[id], header.entity === objectID.entity {
            return header
        }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
            userInfo: [NSLocalizedDescriptionKey: "\(file.url.path) has no row for \(objectID). It was deleted. Fetch again."])
    }

    /// Reads the attributes of a row.
    func values(of header: SongHeader) throws -> [String: Any] {
        counters.withLock { $0.rowsRead += 1 }
        return try format.values(index.record(of: header, in: file), index.columns, of: header)
    }
}
