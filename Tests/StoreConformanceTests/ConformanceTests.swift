import CoreData
import Guide
import Songs
import StoreConformance
import Testing

/// The stores of the project and its examples.
enum Stores {
    static let all = [
        inMemory, guide, songs(.atomic, "Songs, atomic", .detectsConflicts), songs(.incremental, "Songs, incremental", .detectsConflicts),
    ]

    static let inMemory = StoreUnderTest(name: "In memory", capabilities: [.anyModel, .detectsConflicts]) { _ in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    static let guide = StoreUnderTest(
        name: "Guide", capabilities: [.durable, .detectsConflicts],
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

    private static func songs(
        _ kind: SongLibrary.Kind, _ name: String, _ capabilities: StoreUnderTest.Capabilities
    ) -> StoreUnderTest {
        StoreUnderTest(
            name: name, capabilities: capabilities.union(.durable),
            roles: ConformanceRoles(
                group: "Album", groupName: "title", members: "songs", member: "Song", memberName: "name", memberNumber: "trackNumber",
                memberGroup: "album")
        ) { place in
            try SongLibrary.open(csv: place.directory.appendingPathComponent("Songs.csv"), kind: kind).persistentStoreCoordinator
        }
    }
}

@Suite("Stores behave as Core Data's do") struct ConformanceTests {
    @Test("Each behaviour on each store that it can be asked of", arguments: Stores.all, Behaviour.all)
    func behaviour(_ store: StoreUnderTest, _ behaviour: Behaviour) throws {
        guard behaviour.applies(to: store) else { return }
        try behaviour.run(on: store)
    }

    @Test("A store that loses what it is given fails")
    func wrongStore() throws {
        let forgetful = StoreUnderTest(name: "Forgetful", capabilities: [.anyModel, .durable]) { try Stores.inMemory.open($0) }
        let durable = try #require(Behaviour.all.first { $0.requires == .durable })
        #expect(throws: (any Error).self) { try durable.run(on: forgetful) }
        #expect(!durable.applies(to: Stores.inMemory))
    }

    @Test("Documentation/Behaviours.md is the list of them")
    func document() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Documentation/Behaviours.md")
        let wanted = """
            # Behaviours

            What every store and context must do, and on which stores it is tried by `StoreConformanceTests`. “–” asks what a store does not
            claim to do. This list is generated: `WRITE_BEHAVIOURS=1 swift test --filter StoreConformanceTests`.

            \(BehaviourReport(on: Stores.all).markdown)
            """
        if ProcessInfo.processInfo.environment["WRITE_BEHAVIOURS"] != nil { try Data(wanted.utf8).write(to: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == wanted, "Write it anew with WRITE_BEHAVIOURS=1.")
    }
}
