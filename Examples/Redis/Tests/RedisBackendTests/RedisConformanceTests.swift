import CoreData
import Foundation
import RedisBackend
import RemoteStore
import StoreConformance
import Testing

@Suite("Objects in Redis behave as Core Data's do") struct RedisConformanceTests {
    private static let store = StoreUnderTest(
        name: "Redis", capabilities: [.anyModel, .durable, .detectsConflicts],
        callCount: { ($0.log)?.all.count ?? 0 }
    ) { place in
        let model = ConformanceModel.make()
        let backend = CountedBackend(base: RedisBackend(model: model, port: try RedisServer.shared.get().port, prefix: place.identifier))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        coordinator.log = backend.log
        return coordinator
    }

    @Test("Each behaviour", arguments: Behaviour.all.filter { $0.applies(to: store) })
    func behaviour(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store) }
}

/// The logs of the backends of coordinators.
// Unchecked: `lock` guards `logs`.
private final class Logs: @unchecked Sendable {
    static let shared = Logs()
    private let lock = NSLock()
    private var logs: [ObjectIdentifier: CountedBackend.Log] = [:]

    subscript(coordinator: NSPersistentStoreCoordinator) -> CountedBackend.Log? {
        get { lock.withLock { logs[ObjectIdentifier(coordinator)] } }
        set { lock.withLock { logs[ObjectIdentifier(coordinator)] = newValue } }
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate var log: CountedBackend.Log? {
        get { Logs.shared[self] }
        set { Logs.shared[self] = newValue }
    }
}
