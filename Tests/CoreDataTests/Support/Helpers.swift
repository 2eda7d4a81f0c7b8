import CoreData

/// Runs `body` in a new context of a new in-memory store of the music model.
func withMusic<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    let context = try Music.context()
    // A change has given the queue the end of its event, which holds the context while it runs: what comes after it finds it done.
    defer { context.performAndWait {} }
    return try context.performAndWait { try body(context) }
}

/// Runs `body` in two contexts of one in-memory store of the music model, each on its own queue.
func withTwoContexts(_ body: (_ first: NSManagedObjectContext, _ second: NSManagedObjectContext) throws -> Void) throws {
    let coordinator = try Music.coordinator()
    try body(Music.context(coordinator), Music.context(coordinator))
}

/// The error that `body` throws; nil when it throws none.
func failure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch {
        return error as NSError
    }
}

extension NSManagedObjectContext {
    /// A new object of an entity without a class of its own.
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        object.setValuesForKeys(values)
        return object
    }

    /// A saved band with albums of the given titles.
    @discardableResult
    func saveBand(_ name: String, albums titles: [String] = []) throws -> Band {
        let band = Band(context: self)
        band.name = name
        for title in titles {
            let album = Album(context: self)
            album.title = title
            album.band = band
        }
        try save()
        return band
    }

    /// Every object of a class.
    func all<Object: NSManagedObject>(_ type: Object.Type, _ format: String? = nil, by key: String? = nil) throws -> [Object] {
        let request = NSFetchRequest<Object>()
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    /// Every object of an entity.
    func all(_ entity: String) throws -> [NSManagedObject] { try fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) }
}

extension NSError {
    /// The errors it is made of: itself, or those it gathers.
    var parts: [NSError] { userInfo[NSDetailedErrorsKey] as? [NSError] ?? [self] }
    /// The property that failed validation.
    var key: String? { userInfo[NSValidationKeyErrorKey] as? String }
}
