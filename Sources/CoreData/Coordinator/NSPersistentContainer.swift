public import Foundation
internal import Logging

/// A model, a coordinator and a main-queue context, set up together.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Music", managedObjectModel: model)
/// container.loadPersistentStores { description, error in … }
/// let albums = try container.viewContext.fetch(NSFetchRequest<Album>(entityName: "Album"))
/// ```
///
/// Source: [NSPersistentContainer](https://developer.apple.com/documentation/coredata/nspersistentcontainer).
// `lock` guards the descriptions; the rest is immutable or guards itself.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    /// The name of the container.
    public let name: String
    /// The main-queue context.
    open var viewContext: NSManagedObjectContext { mainContext }
    private let mainContext: NSManagedObjectContext
    /// The model.
    open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }
    /// The coordinator of the stores.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    private let coordinator: NSPersistentStoreCoordinator

    /// Why the model of the container's name could not be read; nil if it could, or was given.
    // Set by the initializer that reads the model alone.
    var modelError: NSError?

    private let lock = NSLock()
    private var descriptions: [NSPersistentStoreDescription] = []

    /// The stores to open. Unless set, a SQLite store with the name of the container in ``defaultDirectoryURL()``.
    ///
    /// For a store that is gone with the container, as tests like it, set the URL of the description to `/dev/null`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { lock.withLock { descriptions } }
        set { lock.withLock { descriptions = newValue } }
    }

    /// Makes a container of `model`, which cannot be changed from then on.
    ///
    /// A model with mistakes stops the program with a message that lists them.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        super.init()
        descriptions = [
            NSPersistentStoreDescription(url: Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
        ]
    }

    /// The directory of stores that are given no other place.
    ///
    /// On Linux it is `$XDG_DATA_HOME`, or `~/.local/share` without it, and in it a directory with the name of the program; opening a store makes
    /// it. On Apple's platforms it is the application's own below Application Support.
    open class func defaultDirectoryURL() -> URL {
        let manager = FileManager.default
        let data =
            manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? manager.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return data.appendingPathComponent(Bundle.main.executableURL?.lastPathComponent ?? ProcessInfo.processInfo.processName)
    }

    /// Makes the directory of stores that are given no other place, where it is needed.
    private func makeDefaultDirectory(for description: NSPersistentStoreDescription) throws {
        guard let url = description.url, !description.isReadOnly else { return }
        let folder = Self.defaultDirectoryURL()
        guard url.deletingLastPathComponent().standardizedFileURL.path == folder.standardizedFileURL.path else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Opens the stores.
    ///
    /// - Parameter block: called once for each, with nil or with the error that opening it met; on the calling thread, or in the
    ///   background where the description says so.
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

    /// Makes a context with a queue of its own, which merges by itself what others save.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = makeTaskContext()
        context.automaticallyMergesChangesFromParent = true
        return context
    }

    private func makeTaskContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` with a new context, on its queue, and returns at once.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = makeTaskContext()
        context.perform { block(context) }
    }

    /// Runs `block` with a new context, on its queue, and suspends until it is done.
    ///
    /// - Returns: what `block` returns; objects of the context are of no use outside.
    public func performBackgroundTask<T, Failure: Error>(
        _ block: @escaping (NSManagedObjectContext) throws(Failure) -> T
    ) async throws(Failure) -> T {
        let context = makeTaskContext()
        return try await context.perform { () throws(Failure) -> T in try block(context) }
    }
}
