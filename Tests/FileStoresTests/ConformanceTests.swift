import CoreData
import FileStores
import StoreConformance
import Testing

@Suite("Stores in files behave as Core Data's do") struct FileConformanceTests {
    static let stores = [
        store("CSV folder") { CSVStore.description(at: $0.directory.appendingPathComponent("Store")) },
        store("CSV file") { CSVStore.description(at: $0.directory.appendingPathComponent("Store.csv")) },
        store("CSV, decoded when wanted") { place in
            var layout = FileLayout()
            layout.keepsRowsUpTo = 0
            layout.versionColumn = "version"
            return CSVStore.description(at: place.directory.appendingPathComponent("Store"), layout: layout)
        },
        store("JSON document") { JSONStore.description(at: $0.directory.appendingPathComponent("Store.json")) },
        store("JSON folder, decoded when wanted") { place in
            var layout = FileLayout()
            layout.keepsRowsUpTo = 0
            return JSONStore.description(at: place.directory.appendingPathComponent("Store"), layout: layout)
        },
        store("CSV folder, join files") {
            CSVStore.description(at: $0.directory.appendingPathComponent("Store"), layout: joins)
        },
        store("JSON document, join lists") {
            JSONStore.description(at: $0.directory.appendingPathComponent("Store.json"), layout: joins)
        },
    ]

    /// The many-to-many relationships of the kit's model: one ordered, one to objects of the same kind.
    private static var joins: FileLayout {
        var layout = FileLayout()
        layout["Group"].joins["ranked"] = JoinLayout(file: "ranked", owner: ["group"], member: ["member"], order: "rank")
        layout["Tag"].joins["tagged"] = JoinLayout(file: "tagged", owner: ["tag"], member: ["member"])
        layout["Member"].joins["friends"] = JoinLayout(file: "friends", owner: ["one"], member: ["other"])
        return layout
    }

    private static func store(
        _ name: String, _ description: @escaping @Sendable (StorePlace) -> NSPersistentStoreDescription
    ) -> StoreUnderTest {
        StoreUnderTest(name: name, capabilities: .everything) { place in
            try FileManager.default.createDirectory(
                at: place.directory.appendingPathComponent("Store"), withIntermediateDirectories: true)
            let description = description(place)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
            try coordinator.addPersistentStore(
                ofType: description.type, configurationName: nil, at: description.url, options: description.options)
            return coordinator
        }
    }

    @Test("Each behaviour on each store", arguments: stores, Behaviour.all)
    func behaviour(_ store: StoreUnderTest, _ behaviour: Behaviour) throws {
        guard behaviour.applies(to: store) else { return }
        try behaviour.run(on: store)
    }
}
