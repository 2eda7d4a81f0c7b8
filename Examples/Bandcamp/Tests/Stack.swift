import Bandcamp
import CoreData
import Foundation
import SampleService

/// A service for each test, and coordinators that read from it.
///
/// Tests use contexts with `await perform`: the store waits for its answers, and on a thread of the tests it would prevent the service,
/// which runs in the same process, from answering.
struct Stack {
    let service: SampleService
    let coordinator: NSPersistentStoreCoordinator
    let store: BandCampIS
    let context: NSManagedObjectContext

    init() async throws {
        let service = try await SampleService.start()
        KeptServices.shared.keep(service)
        try self.init(service: service)
    }

    /// Creates another stack over a service, like a second run of a program.
    init(service: SampleService) throws {
        self.service = service
        BandCampIS.register()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        store =
            try coordinator.addPersistentStore(
                ofType: BandCampIS.storeType, configurationName: nil, at: service.baseURL, options: [BandCampIS.timeoutOption: 20.0])
            as! BandCampIS
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    /// Returns another context over the same store.
    func anotherContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The requests the service has received, as path and query.
    var asked: [String] { service.requests.map(\.target) }
}

extension NSManagedObjectContext {
    /// Fetches by a predicate. Call it on the context's queue.
    func fetch<Object: NSManagedObject>(
        _ type: Object.Type, _ predicate: NSPredicate?, sortedBy key: String? = nil, ascending: Bool = true
    ) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: "\(type)")
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: ascending)] }
        return try fetch(request)
    }
}

/// Returns the band with a name in the service's data.
func sample(_ name: String) -> SampleBand {
    SampleService.bands.first { $0.name == name }!
}

/// Keeps the services of all tests alive until the process ends: in concurrent tests, the number of a closed socket may be reused for
/// another service before the first has noticed.
// `lock` guards `services`.
private final class KeptServices: @unchecked Sendable {
    static let shared = KeptServices()
    private let lock = NSLock()
    private var services: [SampleService] = []

    func keep(_ service: SampleService) { lock.withLock { services.append(service) } }
}
