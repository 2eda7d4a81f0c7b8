public import CoreData
internal import ExampleSupport

// The framework calls a store for one thing at a time; only `counters`, which may be read from anywhere meanwhile, is locked.

/// An incremental store whose objects live at Bandcamp: the store of the article *Accessing an API using CoreData's NSIncrementalStore*.
///
/// The address of the service is the URL of the store. Everything is read only, and every question is asked and waited for on the queue
/// of the context that needs the answer.
///
/// ```swift
/// BandCampIS.register()
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
/// try coordinator.addPersistentStore(ofType: BandCampIS.storeType, configurationName: nil, at: URL(string: "http://api.bandcamp.com"))
/// ```
public final class BandCampIS: NSIncrementalStore {
    /// The type under which ``register()`` makes the store known.
    public static let storeType = "BandCampIS"

    /// The option that says how many seconds an answer may take, a `Double`; 30 unless set.
    public static let timeoutOption = "BandCampTimeout"

    /// Makes the store known to coordinators.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(BandCampIS.self, forStoreType: storeType)
    }

    /// What the service sent about each object, by ID. Nothing is ever dropped from it: it lives as long as the store.
    private var cache: [NSManagedObjectID: [String: Any]] = [:]

    private var api: BandCampAPI!
    private let counters = Locked(Statistics())

    /// How often the store was asked, and how often that cost a request.
    public var statistics: Statistics {
        var statistics = counters.withLock { $0 }
        statistics.requests = api?.requestCount ?? 0
        return statistics
    }

    /// What a store has had to do.
    public struct Statistics: Sendable, Hashable {
        /// How many fetches it answered.
        public internal(set) var fetches = 0
        /// How many faults of objects it fulfilled.
        public internal(set) var objectFaults = 0
        /// How many faults of relationships it fulfilled.
        public internal(set) var relationshipFaults = 0
        /// How many faults of objects needed no request, for an earlier answer held the values.
        public internal(set) var cacheHits = 0
        /// How many requests went to the service.
        public internal(set) var requests = 0
        /// How many objects it knows.
        public internal(set) var objects = 0
    }

    /// Sets the metadata. The UUID follows from the address, so that the URI of an object is the same in every process.
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

    /// Answers a fetch, in whichever form it asks for. Saves do not get here: the store is read-only.
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

    /// Asks the service for what it can find, and finishes the rest of the request here.
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

    /// The ID of an object that the service has sent. Its values are kept for when its fault fires.
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

    /// The values of an object. A fetch or a relationship has left them in the cache; only an ID that came from elsewhere, such as a
    /// URI kept from an earlier run, costs a request.
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

    /// The objects of a relationship. Where the values name the object at the other end, its node says so already; what is left to ask
    /// for is the discography of a band and the tracks of an album.
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
            // By this code the framework knows that the object does not exist, as opposed to a service that does not answer.
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
                userInfo: [
                    NSLocalizedDescriptionKey: "\(objectID) does not exist. \(error.localizedDescription)",
                    NSUnderlyingErrorKey: error as NSError,
                ])
        }
    }
}
