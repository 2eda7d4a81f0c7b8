import CoreData
import Foundation
import LogStore
import StoreConformance
import Testing

@Suite("The store behaves as Core Data's do") struct LogConformanceTests {
    static let store = StoreUnderTest(
        name: "Log", capabilities: .everything.union(.keepsMetadata)
    ) { place in
        LogStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(
            ofType: LogStore.storeType, configurationName: nil, at: place.directory.appendingPathComponent("Store.log"),
            options: [LogStore.synchronizesOption: false])
        return coordinator
    }

    @Test("Each behaviour", arguments: Behaviour.all.filter { $0.applies(to: store) })
    func behaviour(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store) }

    @Test("Every behaviour is asked for, but those of killed processes, which have tests of their own")
    func completeness() {
        let left = Behaviour.all.filter { !$0.applies(to: Self.store) }.map(\.sentence)
        #expect(left == ["A process that is killed while it saves loses nothing that was saved, and leaves no half of a save"])
    }
}
