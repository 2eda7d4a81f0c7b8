public import CoreData
internal import ExampleSupport

// Used for one request at a time, as the framework calls a store.

/// The article's second store: every fetch queries the service, and waits for the answer.
///
/// The URL of the store is the base URL of the service. Execute an `NSAsynchronousFetchRequest`, or `await` the fetch, to wait in the
/// background. Unsupported parts of a fetch are evaluated in memory; see ``paletteBudget``.
public final class RemoteIncrementalStore: NSIncrementalStore {
    /// The maximum number of palettes that are read to evaluate a fetch in memory. A fetch that needs more is an error.
    public static var paletteBudget: Int { PaletteRequest.budget }

    private var cache: [NSManagedObjectID: [String: Any]] = [:]
    private var networkController: NetworkController!

    /// The type that ``register()`` registers the store under.
    public class var storeType: String {
        return NSStringFromClass(RemoteIncrementalStore.self)
    }

    /// Registers the store.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(RemoteIncrementalStore.self, forStoreType: storeType)
    }

    /// Sets the metadata. The UUID is derived from the URL, so that the URI of an object is the same in every process.
    public override func loadMetadata() throws {
        guard let url else {
            throw NSError.failure(PaletteErrorCode.noPlace, "The store has no address. Add it with the URL of the service.")
        }
        let uuid = UUID(derivedFrom: "\(RemoteIncrementalStore.storeType) \(url.absoluteString)").uuidString
        self.metadata = [NSStoreTypeKey: RemoteIncrementalStore.storeType, NSStoreUUIDKey: uuid]
        networkController = NetworkController(baseURL: url)
        isReadOnly = true
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

        if fetchRequest.resultType == .managedObjectResultType {
            let managedObjects = try self.fetchRemoteObjectsWithRequest(fetchRequest, context: context)
            return managedObjects
        } else {
            return try fetchRequest.answer(from: self.fetchRemoteObjectsWithRequest(fetchRequest, context: context)) { objectID in
                cache[objectID].map { Palette.transform(dictionary: $0) }
            }
        }
    }

    private func fetchRemoteObjectsWithRequest(
        _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let offset = fetchRequest.fetchOffset
        let limit = fetchRequest.fetchLimit
        // what is more than a page is asked for otherwise, and finished here
        let httpRequest =
            try PaletteRequest(beyondPageOf: fetchRequest) ?? ColourLovers.topPalettes.request(offset: offset, limit: limit)

        let jsonResult = try networkController.sendSynchronousRequest(httpRequest)

        let paletteObjs = try fetchRequest.finish(jsonResult, in: self, isPage: httpRequest.isPage)

        let entities = paletteObjs.compactMap({ (item: [String: Any]) -> NSManagedObject? in
            guard let objectId = self.objectIdForNewObjectOfEntity(fetchRequest.entity!, cacheValues: item) else { return nil }
            let palette = context.object(with: objectId)
            return palette
        })

        return entities
    }

    private func objectIdForNewObjectOfEntity(_ entityDescription: NSEntityDescription, cacheValues values: [String: Any])
        -> NSManagedObjectID?
    {
        guard let referenceId = Palette.identifier(in: values) else { return nil }
        let objectId = self.newObjectID(for: entityDescription, referenceObject: referenceId)
        cache[objectId] = values
        return objectId
    }

    /// Returns the values of an object, which a fetch has cached; an ID from elsewhere needs a request.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        if cache[objectID] == nil, let identifier = referenceObject(for: objectID) as? String {
            for item in try networkController.sendSynchronousRequest(.identifiers([identifier])) {
                _ = objectIdForNewObjectOfEntity(objectID.entity, cacheValues: item)
            }
        }
        guard let values = cache[objectID] else { throw CocoaError.noPalette(objectID) }
        // use dictionary values for the managed object
        return NSIncrementalStoreNode(objectID: objectID, withValues: Palette.transform(dictionary: values), version: 1)
    }
}
