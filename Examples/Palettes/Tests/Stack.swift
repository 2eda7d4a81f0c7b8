import CoreData
import Palettes
import SampleService

/// A coordinator with one store, and a context.
///
/// Tests use contexts with `await perform`: a store that blocks a thread of the tests would prevent the service, which runs in the same
/// process, from answering.
struct Stack<Store: NSIncrementalStore> {
    let store: Store
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(_ type: String, at url: URL?) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: PaletteModel.make())
        store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url) as! Store
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }
}

extension Stack<LocalIncrementalStore> {
    static func local(at url: URL? = LocalIncrementalStore.samplePalettes) throws -> Self {
        LocalIncrementalStore.register()
        return try Self(LocalIncrementalStore.storeType, at: url)
    }
}

extension Stack<RemoteIncrementalStore> {
    static func remote(_ service: SampleService) throws -> Self {
        RemoteIncrementalStore.register()
        return try Self(RemoteIncrementalStore.storeType, at: service.baseURL)
    }
}

extension Stack<CachingIncrementalStore> {
    static func caching(_ service: SampleService) throws -> Self {
        CachingIncrementalStore.register()
        return try Self(CachingIncrementalStore.storeType, at: service.baseURL)
    }
}

/// Returns a fetch request for palettes.
func palettes(
    _ predicate: NSPredicate? = nil, sortedBy sortDescriptors: [NSSortDescriptor]? = Palette.defaultSortDescriptors, offset: Int = 0,
    limit: Int = 0
) -> NSFetchRequest<Palette> {
    let request = NSFetchRequest<Palette>(entityName: Palette.entityName)
    request.predicate = predicate
    request.sortDescriptors = sortDescriptors
    request.fetchOffset = offset
    request.fetchLimit = limit
    return request
}

/// The refreshes of a caching store, in the order of their completion.
final class Refreshes: Sendable {
    private let stream: AsyncStream<CachingIncrementalStore.Refresh>
    private let stop: @Sendable () -> Void

    init(of store: CachingIncrementalStore) {
        let (stream, continuation) = AsyncStream.makeStream(of: CachingIncrementalStore.Refresh.self)
        self.stream = stream
        nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
            forName: CachingIncrementalStore.didRefreshNotification, object: store, queue: nil
        ) { notification in
            if let refresh = CachingIncrementalStore.Refresh(notification) { continuation.yield(refresh) }
        }
        stop = { NotificationCenter.default.removeObserver(observer) }
    }

    deinit { stop() }

    /// Waits for the next refresh to end.
    func next() async -> CachingIncrementalStore.Refresh? {
        for await refresh in stream { return refresh }
        return nil
    }
}
