public import CoreData
internal import ExampleSupport

// State that changes after `loadMetadata` is used on the queue of `backingManagedObjectContext` only, and `counters` under its lock.

/// The article's third store: it answers from a cache at once, queries the service in the background, and refreshes the fetching context
/// with the changes.
///
/// The cache is a second, private coordinator with an augmented copy of the model. A refresh begins with each fetch; when it has finished
/// or failed, ``didRefreshNotification`` is posted. Registered objects are refreshed and keep their unsaved edits; new ones are in the
/// result of the next fetch. The URL of the store is the base URL of the service; the store is read-only.
public final class CachingIncrementalStore: NSIncrementalStore, @unchecked Sendable {
    /// Posted on the queue of the fetching context when a refresh has finished or failed. See ``Refresh/init(_:)``.
    public static let didRefreshNotification = Notification.Name("CachingIncrementalStoreDidRefresh")

    private(set) var backingPersistentStoreCoordinator: NSPersistentStoreCoordinator!
    private(set) var backingManagedObjectContext: NSManagedObjectContext!
    private(set) var networkController: NetworkController!

    /// The IDs of cached palettes by the service's identifiers.
    var backingObjectIDs: [String: NSManagedObjectID] = [:]

    let counters = Locked(Statistics())

    /// The counters of the store. Use it on any thread.
    public var statistics: Statistics { counters.withLock { $0 } }

    /// The counters of a store.
    public struct Statistics: Sendable, Hashable {
        /// The number of fetches answered from the cache.
        public internal(set) var fetches = 0
        /// The number of fulfilled object faults, all of them from the cache.
        public internal(set) var cacheHits = 0
        /// The number of refreshes that have finished or failed.
        public internal(set) var refreshes = 0
        /// The number of known palettes.
        public internal(set) var objects = 0
    }

    /// The type that ``register()`` registers the store under.
    public class var storeType: String {
        return NSStringFromClass(CachingIncrementalStore.self)
    }

    /// Registers the store.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(CachingIncrementalStore.self, forStoreType: storeType)
    }

    /// Sets the metadata, and sets up the private coordinator and context of the cache.
    public override func loadMetadata() throws {
        guard let url else {
            throw NSError.failure(PaletteErrorCode.noPlace, "The store has no address. Add it with the URL of the service.")
        }
        let uuid = UUID(derivedFrom: "\(CachingIncrementalStore.storeType) \(url.absoluteString)").uuidString
        self.metadata = [NSStoreTypeKey: CachingIncrementalStore.storeType, NSStoreUUIDKey: uuid]
        networkController = NetworkController(baseURL: url)
        isReadOnly = true

        backingPersistentStoreCoordinator = try NSPersistentStoreCoordinator(checking: augmentedModel)
        try backingPersistentStoreCoordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        backingManagedObjectContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        backingManagedObjectContext.persistentStoreCoordinator = backingPersistentStoreCoordinator
    }

    /// Executes a fetch with any result type. The framework passes no saves to a read-only store.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let context {
            return try self.executeFetchRequest(request, withContext: context)
        }
        return try super.execute(request, with: context)
    }

    private func executeFetchRequest(_ request: NSPersistentStoreRequest, withContext context: NSManagedObjectContext) throws -> Any {
        let fetchRequest = request as! NSFetchRequest<any NSFetchRequestResult>
        let backingContext = self.backingManagedObjectContext!
        let backingPredicate = try backingPredicate(fetchRequest.predicate)

        // asynchronously request remote objects
        try self.fetchRemoteObjectsWithRequest(fetchRequest, context: context)
        counters.withLock { $0.fetches += 1 }

        // create new fetch request for cached resources
        let cacheFetchRequest = fetchRequest.copy() as! NSFetchRequest<any NSFetchRequestResult>
        cacheFetchRequest.entity = NSEntityDescription.entity(forEntityName: fetchRequest.entityName!, in: backingContext)
        cacheFetchRequest.predicate = backingPredicate

        if fetchRequest.resultType == .managedObjectResultType || fetchRequest.resultType == .managedObjectIDResultType {
            cacheFetchRequest.resultType = .managedObjectResultType
            cacheFetchRequest.propertiesToFetch = [kPALResourceIdentifierAttributeName]

            // immediately return cached objects, if possible
            let resourceIds = try backingContext.performAndWait {
                let results = try backingContext.fetch(cacheFetchRequest)
                return results.compactMap { ($0 as? NSManagedObject)?.value(forKey: kPALResourceIdentifierAttributeName) as? String }
            }

            let managedObjs = resourceIds.map({ (resourceId: String) -> NSManagedObject in
                let objectId = self.objectIDForEntity(fetchRequest.entity!, withResourceIdentifier: resourceId)
                let managedObject = context.object(with: objectId)
                return managedObject
            })

            return fetchRequest.resultType == .managedObjectIDResultType ? managedObjs.map(\.objectID) as Any : managedObjs
        } else if fetchRequest.resultType == .countResultType {
            return try backingContext.performAndWait { [NSNumber(value: try backingContext.count(for: cacheFetchRequest))] }
        } else {
            // the attributes of the application's own model, without those that the cache adds
            cacheFetchRequest.propertiesToFetch = try fetchRequest.attributeNames()
            return try backingContext.performAndWait { try backingContext.fetch(cacheFetchRequest).compactMap { $0 as? NSDictionary } }
        }
    }

    func objectIDForEntity(_ entity: NSEntityDescription, withResourceIdentifier resourceId: String) -> NSManagedObjectID {
        newObjectID(for: entity, referenceObject: resourceId)
    }

    /// Returns the values of an object from the cache.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let backingContext = self.backingManagedObjectContext!
        let values = try backingContext.performAndWait { () throws -> [String: Any]? in
            guard let resourceId = referenceObject(for: objectID) as? String, let backingID = backingObjectIDs[resourceId] else {
                return nil
            }
            let backingObject = try backingContext.existingObject(with: backingID)
            return Palette.transform(palette: backingObject, to: objectID.entity)
        }
        guard let values else { throw CocoaError.noPalette(objectID) }
        counters.withLock { $0.cacheHits += 1 }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 1)
    }

    /// The application's model, with a server identifier and a date added to each entity.
    private lazy var augmentedModel: NSManagedObjectModel = {
        let augmentedModel = self.persistentStoreCoordinator?.managedObjectModel.copy() as! NSManagedObjectModel
        for entity in augmentedModel.entities {
            if entity.superentity != nil {
                continue
            }

            let resourceIdProperty = NSAttributeDescription()
            resourceIdProperty.name = kPALResourceIdentifierAttributeName
            resourceIdProperty.attributeType = NSAttributeType.stringAttributeType
            resourceIdProperty.isIndexed = true

            // also augmented with last modified property
            let lastModifiedProperty = NSAttributeDescription()
            lastModifiedProperty.name = kPALLastModifiedAttributeName
            lastModifiedProperty.attributeType = NSAttributeType.dateAttributeType

            var properties = entity.properties
            properties.append(resourceIdProperty)
            properties.append(lastModifiedProperty)

            entity.properties = properties
        }

        return augmentedModel
    }()
}

/// The attribute of the cache for the server's identifier of an object.
let kPALResourceIdentifierAttributeName = "__pal__resourceIdentifier_"

/// The attribute of the cache for the date of the last change of the values.
let kPALLastModifiedAttributeName = "__pal__lastModified_"
