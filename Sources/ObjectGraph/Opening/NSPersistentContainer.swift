public import Foundation
internal import Logging
internal import Platform
internal import Predicates

/// Sets up a model, a coordinator and a main-queue context.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Music", managedObjectModel: model)
/// container.loadPersistentStores { description, error in … }
/// let albums = try container.viewContext.fetch(NSFetchRequest<Album>(entityName: "Album"))
/// ```
///
/// Source: [NSPersistentContainer](https://developer.apple.com/documentation/coredata/nspersistentcontainer).
// The descriptions are in a `LockedBox`; the rest is immutable or guards itself.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    /// The name of the container.
    public let name: String
    /// The main-queue context of the container.
    open var viewContext: NSManagedObjectContext { mainContext }
    private let mainContext: NSManagedObjectContext
    /// The model of the container.
    open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }
    /// The coordinator of the stores.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    private let coordinator: NSPersistentStoreCoordinator

    /// The error of loading the model by its name, or of a model that is invalid; nil if the container has the model.
    // Set by the initializer only.
    package var modelError: NSError?

    private let descriptions = LockedBox<[NSPersistentStoreDescription]>([])

    /// The stores to open. The default is a SQLite store with the name of the container in ``defaultDirectoryURL()``.
    ///
    /// For a store that exists only as long as the container, as in tests, set the URL of the description to `/dev/null`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.set(newValue) }
    }

    /// Creates a container with `model`, which becomes immutable.
    ///
    /// If the model is invalid, the container has an empty model instead, and opening its stores reports the errors of the model.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        do {
            coordinator = try NSPersistentStoreCoordinator(checking: model)
        } catch {
            Log.model.error("\(error.localizedDescription)")
            modelError = error as NSError
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        }
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        super.init()
        let standard = NSPersistentStoreDescription(url: Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
        descriptions.set([standard])
    }

    /// Returns the default directory of stores.
    ///
    /// On Linux it is a directory with the name of the program in `$XDG_DATA_HOME`, or in `~/.local/share` if the variable is not set;
    /// opening a store creates it. On Apple's platforms it is the program's directory in Application Support.
    open class func defaultDirectoryURL() -> URL {
        let manager = FileManager.default
        let data =
            manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? manager.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return data.appendingPathComponent(Bundle.main.executableURL?.lastPathComponent ?? ProcessInfo.processInfo.processName)
    }

    /// Creates the default directory if the store is opened there.
    private func makeDefaultDirectory(for description: NSPersistentStoreDescription) throws {
        guard let url = description.url, !description.isReadOnly else { return }
        let folder = Self.defaultDirectoryURL()
        guard url.deletingLastPathComponent().standardizedFileURL.path == folder.standardizedFileURL.path else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Opens the stores.
    ///
    /// - Parameter block: Called once for each store, with nil or with the error of opening it; on the calling thread, or in the background if the
    ///   description requests that.
    open func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            if let modelError {
                block(description, modelError)
                continue
            }
            do {
                try makeDefaultDirectory(for: description)
            } catch {
                block(description, error)
                continue
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Creates a context with a private queue.
    ///
    /// Its loaded values stay unchanged until it refreshes or merges them, because ``NSManagedObjectContext/automaticallyMergesChangesFromParent`` is
    /// false: set it to true to see the saves of other contexts.
    open func newBackgroundContext() -> NSManagedObjectContext { makeTaskContext() }

    private func makeTaskContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` with a new context on its queue and returns at once.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = makeTaskContext()
        context.perform { block(context) }
    }

    /// Runs `block` with a new context on its queue and suspends until it is done.
    ///
    /// - Returns: The result of `block`; objects of the context must not be used outside.
    public func performBackgroundTask<T, Failure: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(Failure) -> T
    ) async throws(Failure) -> T {
        let context = makeTaskContext()
        return try await context.perform { () throws(Failure) -> T in try block(context) }
    }
}
