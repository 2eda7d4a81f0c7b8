public import CoreData
internal import ExampleSupport

/// The store of Apple's *Incremental Store Programming Guide*, over an ``XYZDatabase``.
///
/// Its URL has the form `xyz://name`. An entity has a table of its name; attributes and to-one relationships are columns, and a to-many
/// relationship is a column of primary keys, each in one direction, as the guide has it.
public final class XYZMyIncrementalStore: NSIncrementalStore {
    // The framework calls a store for one thing at a time; only `log`, which may be read from anywhere meanwhile, is locked.

    /// What the framework has called.
    public enum Call: Hashable, Sendable {
        /// ``XYZMyIncrementalStore/loadMetadata()``.
        case loadMetadata
        /// ``XYZMyIncrementalStore/execute(_:with:)`` with a fetch of an entity.
        case fetch(String)
        /// ``XYZMyIncrementalStore/execute(_:with:)`` with a save.
        case save
        /// ``XYZMyIncrementalStore/newValuesForObject(with:with:)`` for a primary key.
        case values(String)
        /// ``XYZMyIncrementalStore/newValue(forRelationship:forObjectWith:with:)``.
        case relationship(String, of: String)
        /// ``XYZMyIncrementalStore/obtainPermanentIDs(for:)`` for so many objects.
        case permanentIDs(Int)
        /// Objects came to live in a context.
        case registered([NSManagedObjectID])
        /// Objects live in a context no longer.
        case unregistered([NSManagedObjectID])
    }

    /// The type under which the store is registered.
    public static let storeType = "XYZMyIncrementalStore"

    /// What the framework has called, in order. May be read from any thread.
    public var calls: [Call] { log.withLock { $0 } }

    private let log = Locked<[Call]>([])
    private(set) var database: XYZDatabase!

    func note(_ call: Call) { log.withLock { $0.append(call) } }

    // MARK: Setting Up an Incremental Store

    /// Checks the URL and takes the store's UUID from the database.
    public override func loadMetadata() throws {
        note(.loadMetadata)
        guard let storeURL = self.url else {
            throw IncrementalStoreError.noStoreURL
        }
        // Metadata validation: the URL must be this store's.
        guard storeURL.scheme == "xyz" else {
            throw IncrementalStoreError.unsupportedURL(storeURL)
        }
        database = XYZDatabase.database(at: storeURL)
        let metadata = [NSStoreUUIDKey: database.identifier, NSStoreTypeKey: Self.storeType]
        self.metadata = metadata
    }

    // MARK: Translating Between Custom Unique Identifiers and Managed Object IDs

    /// The ID of the object of an entity that has a primary key.
    func objectID(_ uniqueIdentifier: String, of entityDescription: NSEntityDescription) -> NSManagedObjectID {
        let objectID = self.newObjectID(for: entityDescription, referenceObject: uniqueIdentifier)
        return objectID
    }

    /// The primary key of an object.
    func uniqueIdentifier(of objectID: NSManagedObjectID) throws -> String {
        let referenceObject = self.referenceObject(for: objectID)
        guard let uniqueIdentifier = referenceObject as? String else {
            throw IncrementalStoreError.invalidReferenceObject("\(referenceObject)")
        }
        return uniqueIdentifier
    }

    /// The table of an entity.
    func table(_ entity: NSEntityDescription) -> String { entity.name ?? "" }

    // MARK: Responding to Requests

    /// Answers a fetch with faults, or carries out a save.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let fetchRequest as NSFetchRequest<any NSFetchRequestResult>:
            guard let entity = fetchRequest.entity, let context else { throw IncrementalStoreError.invalidRequest }
            note(.fetch(table(entity)))
            return try fetch(fetchRequest, of: entity, with: context)
        case let saveRequest as NSSaveChangesRequest:
            note(.save)
            try save(saveRequest)
            return [Any]()
        default:
            throw IncrementalStoreError.invalidRequest
        }
    }

    // MARK: Fulfilling Attribute and To-One Relationship Faults

    /// Reads one row: the attributes, and the to-one relationships as object IDs.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let uniqueIdentifier = try uniqueIdentifier(of: objectID)
        note(.values(uniqueIdentifier))
        // Retrieve the values and version for the object with the specified unique identifier from the backing store.
        guard let row = try database.row(uniqueIdentifier, of: table(objectID.entity)) else { throw missingRow(objectID) }
        let values = values(of: row, objectID.entity)
        let version: UInt64 = row.version
        let node = NSIncrementalStoreNode(objectID: objectID, withValues: values, version: version)
        return node
    }

    // MARK: Fulfilling To-Many Relationship Faults

    /// Reads the primary keys of a to-many relationship. The framework asks for it separately, and only when it is needed.
    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let relationshipName = relationship.name
        let uniqueIdentifier = try uniqueIdentifier(of: objectID)
        note(.relationship(relationshipName, of: uniqueIdentifier))
        guard let row = try database.row(uniqueIdentifier, of: table(objectID.entity)) else { throw missingRow(objectID) }
        let objectIDs = relatedIDs(of: relationship, in: row)
        if relationship.isToMany { return objectIDs }
        return objectIDs.first ?? NSNull()
    }

    // MARK: Special Case: Creating Objects

    /// Asks the database for a primary key for each new object.
    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        note(.permanentIDs(array.count))
        var objectIDs = [NSManagedObjectID]()
        for managedObject in array {
            let objectID = objectID(try database.newPrimaryKey(for: table(managedObject.entity)), of: managedObject.entity)
            objectIDs.append(objectID)
        }
        return objectIDs
    }

    // MARK: Reference Counting

    /// A store that caches could keep what it knows of these objects.
    public override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { note(.registered(objectIDs)) }

    /// A store that caches could forget what it knows of these objects.
    public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { note(.unregistered(objectIDs)) }

    private func missingRow(_ objectID: NSManagedObjectID) -> NSError {
        // By this code the framework knows that the object does not exist, as opposed to a database that does not answer.
        NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
            userInfo: [NSLocalizedDescriptionKey: "The database has no row for \(objectID). It was deleted. Fetch again."])
    }
}
