public import CoreData

// Used for one thing at a time, as the framework calls a store.

/// The article's second store: it asks the service at every fetch, and waits for the answer.
///
/// The URL of the store is the address of the service. Execute an `NSAsynchronousFetchRequest`, or `await` the fetch, to wait in the
/// background. What the service cannot do is finished in memory; see ``paletteBudget``.
public final class RemoteIncrementalStore: NSIncrementalStore {
    /// The most palettes that are read to finish a fetch in memory. A fetch that needs more is an error.
    public static var paletteBudget: Int { PaletteQuestion.budget }

    private var cache: [NSManagedObjectID: [String: Any]] = [:]
    private var reader: PaletteReader!

    /// The type under which ``register()`` makes the store known.
    public class var storeType: String {
        return NSStringFromClass(RemoteIncrementalStore.self)
    }

    /// Makes the store known to coordinators.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(RemoteIncrementalStore.self, forStoreType: storeType)
    }

    /// Sets the metadata. The UUID follows from the address, so that the URI of an object is the same in every process.
    public override func loadMetadata() throws {
        guard let url else { throw PaletteError.make(.noPlace, "The store has no address. Add it with the URL of the service.") }
        let uuid = UUID(derivedFrom: "\(RemoteIncrementalStore.storeType) \(url.absoluteString)").uuidString
        self.metadata = [NSStoreTypeKey: RemoteIncrementalStore.storeType, NSStoreUUIDKey: uuid]
        reader = PaletteReader(baseURL: url)
        isReadOnly = true
    }

    /// Answers a fetch, in whichever form it asks for. Saves do not get here: the store is read-only.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let context {
            return try self.executeFetchRequest(request as! NSFetchRequest<any NSFetchRequestResult>, withContext: context)
        }
        return try super.execute(request, with: context)
    }

    private func executeFetchRequest(
        _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, withContext context: NSManagedObjectContext
    ) throws -> Any {
        let question = try PaletteQuestion(fetchRequest)
        let managedObjects = try self.fetchRemoteObjectsWithRequest(fetchRequest, question, context: context)
        return try fetchRequest.answer(from: managedObjects, isPaged: question.isPaged)
    }

    private func fetchRemoteObjectsWithRequest(
        _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, _ question: PaletteQuestion, context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let paletteObjs = try reader.read(question)

        let entities = paletteObjs.compactMap { item -> NSManagedObject? in
            guard let objectId = self.objectIdForNewObjectOfEntity(fetchRequest.entity!, cacheValues: item) else { return nil }
            let palette = context.object(with: objectId)
            return palette
        }

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

    /// The values of an object, which a fetch has left in the cache; an ID from elsewhere costs a request.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        if cache[objectID] == nil, let identifier = referenceObject(for: objectID) as? String {
            for item in try reader.read(.identifiers([identifier])) {
                _ = objectIdForNewObjectOfEntity(objectID.entity, cacheValues: item)
            }
        }
        guard let values = cache[objectID] else { throw CocoaError.noPalette(objectID) }
        return NSIncrementalStoreNode(objectID: objectID, withValues: Palette.values(dictionary: values), version: 1)
    }
}
