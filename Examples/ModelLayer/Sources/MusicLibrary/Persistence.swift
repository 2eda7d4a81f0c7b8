import CoreData

public final class Persistence {

    public let container: NSPersistentContainer

    public init(inMemory: Bool = false) throws {
        container = NSPersistentContainer(name: "Library")
        if inMemory {
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            container.persistentStoreDescriptions = [description]
        }
        var failure: Error?
        container.loadPersistentStores { _, error in failure = failure ?? error }
        if let failure { throw failure }
        container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    /// The URL of the compiled model in the resources, for tools that read it.
    public static var modelFile: URL? {
        return Bundle.module.url(forResource: "Library", withExtension: "momd")
    }
}
