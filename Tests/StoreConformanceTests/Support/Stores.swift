import CoreData
import Guide
import Songs
import StoreConformance

/// The stores of the project and its examples.
enum Stores {
    static let all = [
        inMemory, sqlite, xml, binary, shelf, records, guide, songs(.atomic, "Songs, atomic", .detectsConflicts),
        songs(.incremental, "Songs, incremental", .detectsConflicts),
    ]

    static let inMemory = StoreUnderTest(name: "In memory", capabilities: .everything.subtracting(.durable)) { _ in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    static let sqlite = StoreUnderTest(
        name: "SQLite", capabilities: .everything.union(.keepsMetadata)
    ) { place in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place.directory.appendingPathComponent("Store.sqlite"))
        return coordinator
    }

    static let xml = archive("XML", NSXMLStoreType)
    static let binary = archive("Binary", NSBinaryStoreType)

    private static func archive(_ name: String, _ type: String) -> StoreUnderTest {
        StoreUnderTest(name: name, capabilities: .everything.union(.keepsMetadata)) { place in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.directory.appendingPathComponent("Store"))
            return coordinator
        }
    }

    static let shelf = StoreUnderTest(
        name: "JSON file, atomic", capabilities: .everything
    ) { place in
        NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(
            ofType: ShelfStore.storeType, configurationName: nil, at: place.directory.appendingPathComponent("Shelf.json"))
        return coordinator
    }

    static let records = records(nil)

    /// A store that makes a mistake; nil for one that makes none.
    static func records(_ mistake: RecordStore.Mistake?) -> StoreUnderTest {
        StoreUnderTest(
            name: mistake.map { "Records, \($0)" } ?? "Records, incremental",
            capabilities: .everything.subtracting([.durable, .enforcesUniqueness]),
            callCount: { ($0.persistentStores.first as? RecordStore)?.callCount ?? 0 }
        ) { _ in
            NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, forStoreType: RecordStore.storeType)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
            try coordinator.addPersistentStore(
                ofType: RecordStore.storeType, configurationName: nil, at: nil, options: mistake.map { ["mistake": $0] })
            return coordinator
        }
    }

    static let guide = StoreUnderTest(
        name: "Guide", capabilities: .everything.subtracting([.anyModel, .enforcesUniqueness]),
        roles: ConformanceRoles(
            group: "Department", groupName: "name", members: "employees", member: "Employee", memberName: "name", memberNumber: "salary",
            memberGroup: "department")
    ) { place in
        XYZApplication.applicationDidFinishLaunching()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GuideModel.toMany())
        try coordinator.addPersistentStore(
            ofType: XYZMyIncrementalStore.storeType, configurationName: nil, at: URL(string: "xyz://\(place.identifier)")!)
        return coordinator
    }

    /// The guide's store with a planted fault; nil for none.
    static func faultyGuide(_ fault: FaultyGuideStore.Fault?) -> StoreUnderTest {
        StoreUnderTest(
            name: fault.map { "Guide, \($0)" } ?? "Guide", capabilities: guide.capabilities, roles: guide.roles
        ) { place in
            NSPersistentStoreCoordinator.registerStoreClass(FaultyGuideStore.self, forStoreType: FaultyGuideStore.faultyType)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GuideModel.toMany())
            try coordinator.addPersistentStore(
                ofType: FaultyGuideStore.faultyType, configurationName: nil, at: URL(string: "xyz://\(place.identifier)")!,
                options: fault.map { ["fault": $0] })
            return coordinator
        }
    }

    private static func songs(
        _ kind: SongLibrary.Kind, _ name: String, _ capabilities: StoreUnderTest.Capabilities
    ) -> StoreUnderTest {
        StoreUnderTest(
            name: name, capabilities: capabilities.union([.durable, .savesAtomically, .identifiesBeforeSaving]),
            roles: ConformanceRoles(
                group: "Album", groupName: "title", members: "songs", member: "Song", memberName: "name", memberNumber: "trackNumber",
                memberGroup: "album")
        ) { place in
            try SongLibrary.open(csv: place.directory.appendingPathComponent("Songs.csv"), kind: kind).persistentStoreCoordinator
        }
    }
}
