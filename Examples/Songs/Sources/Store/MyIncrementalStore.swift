public import CoreData
internal import ExampleSupport

/// An incremental store over a CSV file: the second store of the article *Diving into Core Data with Incremental and Atomic Stores*.
///
/// When it is added it reads what each row is known by, and no values. The values of an object are read from its row when its fault
/// fires. Every row has a version, which is kept in the file and counted up by each save; a save that meets a row with another version
/// than the object was read with, because another program has written it, fails with code 133020, or is settled by the merge policy.
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(MyIncrementalStore.self, type: MyIncrementalStore.storeType)
/// container.persistentStoreDescriptions = [MyIncrementalStore.storeDescription(at: url)]
/// ```
public final class MyIncrementalStore: NSIncrementalStore {
    // The framework calls a store for one thing at a time; only `counters`, which may be read from anywhere meanwhile, is locked.

    /// What a store has had to do.
    public struct Statistics: Sendable, Hashable {
        /// How many times the file was read through for what its rows are known by: when it was opened, and when another program had
        /// written it.
        public internal(set) var scans = 0
        /// How many fetches were answered.
        public internal(set) var fetches = 0
        /// How many rows were read for their values.
        public internal(set) var rowsRead = 0
        /// How many relationships were asked for.
        public internal(set) var relationshipFaults = 0
        /// How many saves were written.
        public internal(set) var saves = 0
    }

    /// The type under which the store is registered.
    public static let storeType = NSPersistentStore.StoreType(rawValue: "MyIncrementalStore")

    /// Describes the store of a file, for a container.
    public static func storeDescription(at url: URL) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: url)
        description.type = storeType.rawValue
        return description
    }

    /// The type of the store.
    public override var type: String { Self.storeType.rawValue }

    /// What the store has had to do so far. May be read from any thread.
    public var statistics: Statistics { counters.withLock { $0 } }

    let counters = Locked(Statistics())
    var file: SongFile!
    var format: SongFileFormat!
    /// The file as it was last read through.
    var index: SongIndex!

    /// Checks the file, begins one where there is none, reads what its rows are known by, and sets the metadata.
    ///
    /// - Throws: ``SongFileError`` for a file that cannot be reached, read or (unless the store is read-only) written, and for one that is
    ///   corrupt. What is wrong with a value shows when the value is read.
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

    /// Answers a fetch or a save.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let context, let fetchRequest = request as? NSFetchRequest<any NSFetchRequestResult> {
            return try fetch(fetchRequest, with: context)
        } else if request.requestType == .saveRequestType, let saveRequest = request as? NSSaveChangesRequest {
            try save(saveRequest)
            return []
        }
        return try super.execute(request, with: context)
    }

    /// The values of an object, read from its row. A song's album is not among them, though the row names it: it is asked for by
    /// ``newValue(forRelationship:forObjectWith:with:)``, which reads nothing.
    ///
    /// - Throws: code 133000 when the file has no such row, ``SongFileError`` when the row is corrupt.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        try updateHeaders()
        let header = try header(of: objectID)
        return NSIncrementalStoreNode(objectID: objectID, withValues: try values(of: header), version: header.version)
    }

    /// The objects of a relationship: the row names them, or rows elsewhere name this one. No row is read for it.
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

    /// The permanent IDs of new objects, made of their identifiers.
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

    /// The ID of the object whose row has an identifier.
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
