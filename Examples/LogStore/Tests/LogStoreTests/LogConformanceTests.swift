import CoreData
import Foundation
import LogStore
import StoreConformance
import Testing

@Suite("The store behaves as Core Data's do") struct LogConformanceTests {
    static let store = StoreUnderTest(
        name: "Log", capabilities: .everything
    ) { place in
        LogStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(
            ofType: LogStore.storeType, configurationName: nil, at: place.directory.appendingPathComponent("Store.log"),
            options: [LogStore.synchronizesOption: false])
        return coordinator
    }

    @Test("Each behaviour", arguments: Behaviour.all)
    func behaviour(_ behaviour: Behaviour) throws {
        try #require(behaviour.applies(to: Self.store))
        try behaviour.run(on: Self.store)
    }
}
