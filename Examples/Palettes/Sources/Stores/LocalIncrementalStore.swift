public import CoreData
internal import ExampleSupport

// Used for one request at a time, as the framework calls a store.

/// The article's basic incremental store: it reads palettes from a JSON file, whose URL is that of the store.
///
/// Every fetch reads the whole file. The store is read-only.
public final class LocalIncrementalStore: NSIncrementalStore {
    private let cache = NSMutableDictionary()

    /// The type that ``register()`` registers the store under.
    public class var storeType: String {
        return NSStringFromClass(LocalIncrementalStore.self)
    }

    /// Registers the store.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(LocalIncrementalStore.self, forStoreType: storeType)
    }

    /// The URL of the example's file of palettes.
    public static var samplePalettes: URL? {
        Bundle.module.url(forResource: "palettes", withExtension: "json", subdirectory: "Resources")
    }

    /// Sets the metadata. The UUID is derived from the file, so that the URI of an object is the same in every process.
    public override func loadMetadata() throws {
        guard let url, url.isFileURL else {
            throw NSError.failure(PaletteErrorCode.noPlace, "The store has no file. Add it with the URL of a JSON file.")
        }
        let uuid = UUID(derivedFrom: url.absoluteString).uuidString
        self.metadata = [NSStoreTypeKey: LocalIncrementalStore.storeType, NSStoreUUIDKey: uuid]
        isReadOnly = true
    }

    /// Executes a fetch with any result type.
    public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if request.requestType == .fetchRequestType, let context {
            let fetchRequest = request as! NSFetchRequest<any NSFetchRequestResult>
            if fetchRequest.resultType == .managedObjectResultType {
                return try self.entitiesForFetchRequest(fetchRequest, inContext: context)
            }
            // the additional types
            return try fetchRequest.answer(from: self.entitiesForFetchRequest(fetchRequest, inContext: context)) { values(of: $0) }
        }

        // The framework passes no saves to a read-only store.
        return try super.execute(request, with: context)
    }

    private func entitiesForFetchRequest(
        _ request: NSFetchRequest<any NSFetchRequestResult>, inContext context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        var entities: [NSManagedObject] = []
        let items = try request.finish(self.loadPalettesFromJSON(), in: self)

        for item in items {
            if let objectId = self.objectIdForNewObjectOfEntity(request.entity!, cacheValues: item) {
                let palette = context.object(with: objectId)
                entities.append(palette)
            }
        }

        return entities
    }

    private func loadPalettesFromJSON() throws -> [[String: Any]] {
        guard let url else { return [] }
        return try PaletteItems(json: Data(contentsOf: url), from: url).dictionaries
    }

    private func objectIdForNewObjectOfEntity(_ entityDescription: NSEntityDescription, cacheValues values: [String: Any])
        -> NSManagedObjectID?
    {
        if let referenceId = Palette.identifier(in: values) {
            let objectId = self.newObjectID(for: entityDescription, referenceObject: referenceId)
            cache.setObject(values, forKey: objectId)
            return objectId
        }

        return nil
    }

    /// Returns the values of an object, which a fetch has cached; for an ID from elsewhere, reads the file.
    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        if values(of: objectID) == nil {
            for item in try loadPalettesFromJSON() { _ = objectIdForNewObjectOfEntity(objectID.entity, cacheValues: item) }
        }
        if let values = values(of: objectID) {
            return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: 1)
        }

        throw CocoaError.noPalette(objectID)
    }

    /// Returns the cached values of an object.
    private func values(of objectID: NSManagedObjectID) -> [String: Any]? {
        guard let dictionary = cache.object(forKey: objectID) as? [String: Any] else { return nil }
        // attributes of the managed object from the dictionary
        return Palette.transform(dictionary: dictionary)
    }
}

extension CocoaError {
    /// Returns the error that tells the framework that an object does not exist.
    static func noPalette(_ objectID: NSManagedObjectID) -> NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
            userInfo: [NSLocalizedDescriptionKey: "\(objectID) does not exist."])
    }
}
