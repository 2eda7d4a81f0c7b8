public import CoreData
internal import ExampleSupport

/// The store of Apple's *Incremental Store Programming Guide*, over an ``XYZDatabase``.
///
/// Its URL has the form `xyz://name`. An entity has a table of its name; attributes and to-one relationships are columns, and a to-many
/// relationship is a column of primary keys, each in one direction, as in the guide.
public class XYZMyIncrementalStore: NSIncrementalStore {
    // The framework calls a store for one request at a time; only `log`, which may be read on any thread, has a lock.

    /// The calls from the framework.
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
        /// ``XYZMyIncrementalStore/obtainPermanentIDs(for:)`` for a number of objects.
        case permanentIDs(Int)
        /// Objects were registered with a context.
        case registered([NSManagedObjectID])
        /// Objects are no longer registered with a context.
        case unregistered([NSManagedObjectID])
    }

    /// The type that the store is registered under.
    public static let storeType = "XYZMyIncrementalStore"

    /// The calls from the framework, in order. Use it on any thread.
    public var calls: [Call] { log.withLock { $0 } }

    private let log = Locked<[Call]>([])
    private(set) var database: XYZDatabase!

    func note(_ call: Call) { log.withLock { $0.append(call) } }

    // MARK: Setting Up an Incremental Store

    /// Checks the URL and sets the store's UUID from the database.
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

    /// Returns the ID of the object with a primary key.
    func objectID(_ uniqueIdentifier: String, of entityDescription: NSEntityDescription) -> NSManagedObjectID {
        let objectID = self.newObjectID(for: entityDescription, referenceObject: uniqueIdentifier)
        return objectID
    }

    /// Returns the primary key of an object.
    func uniqueIdentifier(of objectID: NSManagedObjectID) throws -> String {
        let referenceObject = self.referenceObject(for: objectID)
        guard let uniqueIdentifier = referenceObject as? String else {
            throw IncrementalStoreError.invalidReferenceObject("\(referenceObject)")
        }
        return uniqueIdentifier
    }

    /// Returns the table of an entity.
    func table(_ entity: NSEntityDescription) -> String { entity.name ?? "" }

    // MARK: Responding to Requests

    /// Executes a fetch, which returns faults, or a save.
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

    /// Requests a primary key for each new object from the database.
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

    /// A caching store would keep the values of these objects.
    public override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { note(.registered(objectIDs)) }

    /// A caching store would release the values of these objects.
    public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { note(.unregistered(objectIDs)) }

    private func missingRow(_ objectID: NSManagedObjectID) -> NSError {
        // This code tells the framework that the object does not exist, unlike an error of the database.
        NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
            userInfo: [NSLocalizedDescriptionKey: "The database has no row for \(objectID). It was deleted. Fetch again."])
    }
}
