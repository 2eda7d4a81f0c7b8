public import CoreData
internal import ExampleSupport

// The framework calls a store for one request at a time; only `counters`, which may be read on any thread, has a lock.

/// An incremental store for Bandcamp: the store of the article *Accessing an API using CoreData's NSIncrementalStore*.
///
/// The URL of the store is the base URL of the service. The store is read-only, and requests block the queue of the context that needs
/// the answer.
///
/// ```swift
/// BandCampIS.register()
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
/// try coordinator.addPersistentStore(ofType: BandCampIS.storeType, configurationName: nil, at: URL(string: "http://api.bandcamp.com"))
/// ```
public final class BandCampIS: NSIncrementalStore {
    /// The type that ``register()`` registers the store under.
    public static let storeType = "BandCampIS"

    /// The option for the maximum number of seconds for an answer, a `Double`. The default is 30.
    public static let timeoutOption = "BandCampTimeout"

    /// Registers the store.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(BandCampIS.self, forStoreType: storeType)
    }

    /// The service's values of each object, by ID. They are cached for the lifetime of the store.
    private var cache: [NSManagedObjectID: [String: Any]] = [:]

    private var api: BandCampAPI!
    private let counters = Locked(Statistics())

    /// The number of calls to the store, and of requests to the service.
    public var statistics: Statistics {
        var statistics = counters.withLock { $0 }
        statistics.requests = api?.requestCount ?? 0
        return statistics
    }

    /// The counters of a store.
    public struct Statistics: Sendable, Hashable {
        /// The number of executed fetches.
        public internal(set) var fetches = 0
        /// The number of fulfilled object faults.
        public internal(set) var objectFaults = 0
        /// The number of fulfilled relationship faults.
        public internal(set) var relationshipFaults = 0
        /// The number of object faults that needed no request.
        public internal(set) var cacheHits = 0
        /// The number of requests to the service.
        public internal(set) var requests = 0
        /// The number of known objects.
        public internal(set) var objects = 0
    }

    /// Sets the metadata. The UUID is derived from the URL, so that the URI of an object is the same in every process.
    public override func loadMetadata() throws {
        guard let url, url.scheme == "http" || url.scheme == "https" else {
            throw NSError.failure(
                BandCampErrorCode.unreachable,
                "The store has no address. Add it with the URL of the service, such as http://api.bandcamp.com.")
        }
        api = BandCampAPI(baseURL: url, timeout: options?[Self.timeoutOption] as? Double ?? 30)
        isReadOnly = true
        metadata = [
            NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID(derivedFrom: "\(Self.storeType) \(url.absoluteString)").uuidString,
        ]
    }

    /// Executes a fetch with any result type. The framework passes no saves to a read-only store.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let fetchRequest = request as? NSFetchRequest<any NSFetchRequestResult>, let context {
            let objects = try fetchObjects(fetchRequest, with: context)
            switch fetchRequest.resultType {
            case .countResultType: return [NSNumber(value: objects.count)]
            case .managedObjectIDResultType: return objects.map(\.objectID)
            case .dictionaryResultType: return try dictionaries(of: objects, for: fetchRequest)
            default: return objects
            }
        }
        return try super.execute(request, with: context)
    }

    /// Requests what the service can find, and completes the request in memory.
    private func fetchObjects(
        _ request: NSFetchRequest<any NSFetchRequestResult>, with context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        guard let entity = request.entity, let entityName = request.entityName else { return [] }
        counters.withLock { $0.fetches += 1 }
        let items = try api.apiRequestEntities(withName: entityName, predicate: request.predicate)
        let objects = try items.map { item in
            let oid = try objectIdForNewObject(ofEntity: entity, cacheValues: item)
            return context.object(with: oid)
        }
        return try finish(request, objects)
    }

    /// Returns the ID of an object from the service, and caches its values for its fault.
    private func objectIdForNewObject(ofEntity entityDescription: NSEntityDescription, cacheValues values: [String: Any]) throws
        -> NSManagedObjectID
    {
        let nativeKey = try nativeKey(forEntityName: entityDescription.name ?? "")
        guard let referenceId = values[nativeKey] as? Int else {
            throw NSError.failure(
                BandCampErrorCode.malformedAnswer, asking: url, "An answer has a “\(entityDescription)” without the number “\(nativeKey)”.")
        }
        let objectId = newObjectID(for: entityDescription, referenceObject: referenceId)
        cache[objectId] = values
        counters.withLock { [count = cache.count] in $0.objects = count }
        return objectId
    }

    /// Returns the values of an object, cached by a fetch or a relationship; only an ID from elsewhere, such as a saved URI, needs a
    /// request.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        counters.withLock { $0.objectFaults += 1 }
        let values: [String: Any]
        if let cachedValues = cache[objectID] {
            counters.withLock { $0.cacheHits += 1 }
            values = cachedValues
        } else {
            values = try info(about: objectID)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: try propertyValues(values, of: objectID), version: 1)
    }

    /// Returns the objects of a relationship. The node contains destinations that the values name; requests are sent for the discography
    /// of a band and the tracks of an album.
    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        counters.withLock { $0.relationshipFaults += 1 }
        guard let destination = relationship.destinationEntity else { return NSNull() }
        if relationship.name == "discography" {
            return try fetchDiscographyForBand(withId: objectID, albumEntity: destination)
        } else if relationship.name == "tracks" {
            return try fetchTracksForAlbum(withId: objectID, trackEntity: destination)
        }
        throw NSError.failure(
            BandCampErrorCode.unanswerableFetch, "Bandcamp does not answer the relationship “\(relationship.name)” of \(objectID).")
    }

    private func fetchDiscographyForBand(withId objectID: NSManagedObjectID, albumEntity entity: NSEntityDescription) throws
        -> [NSManagedObjectID]
    {
        let bandId = try identifier(of: objectID)
        let discographyData = try api.apiDiscographyForBand(withId: bandId)
        return try discographyData.map { album in
            try objectIdForNewObject(ofEntity: entity, cacheValues: album)
        }
    }

    private func fetchTracksForAlbum(withId objectID: NSManagedObjectID, trackEntity entity: NSEntityDescription) throws
        -> [NSManagedObjectID]
    {
        let albumId = try identifier(of: objectID)
        let tracksData = try api.apiTracksForAlbum(withId: albumId)
        return try tracksData.map { track in
            try objectIdForNewObject(ofEntity: entity, cacheValues: track)
        }
    }

    // MARK: Identifiers

    private func nativeKey(forEntityName name: String) throws -> String {
        switch name {
        case "Band": "band_id"
        case "Album": "album_id"
        case "Track": "track_id"
        default: throw NSError.failure(BandCampErrorCode.unanswerableFetch, "Bandcamp has no entity “\(name)”.")
        }
    }

    private func identifier(of objectID: NSManagedObjectID) throws -> Int {
        guard let number = referenceObject(for: objectID) as? Int else {
            throw NSError.failure(BandCampErrorCode.unanswerableFetch, "Bandcamp has no number for \(objectID).")
        }
        return number
    }

    private func info(about objectID: NSManagedObjectID) throws -> [String: Any] {
        let entity = objectID.entity
        do {
            let values = try api.apiInfoForEntity(withName: entity.name ?? "", id: try identifier(of: objectID))
            _ = try objectIdForNewObject(ofEntity: entity, cacheValues: values)
            return values
        } catch  where error.isUnknownIdentifier {
            // This code tells the framework that the object does not exist, unlike an error of the service.
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
                userInfo: [
                    NSLocalizedDescriptionKey: "\(objectID) does not exist. \(error.localizedDescription)",
                    NSUnderlyingErrorKey: error as NSError,
                ])
        }
    }
}
