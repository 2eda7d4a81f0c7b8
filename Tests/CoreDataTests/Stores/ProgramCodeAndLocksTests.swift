import CoreData
import TestSupport
import Testing

/// An object of the program whose deinitializer uses what held it.
private final class LastWord: NSObject {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    deinit { body() }
}

private final class TalkativeTransformer: ValueTransformer {
    deinit { _ = ValueTransformer.valueTransformerNames() }
}

/// A store that is moved while another is being moved to the same place.
private final class MovingStore: NSIncrementalStore {
    static let move = Guarded<(() -> Void)?>(nil)

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: "MovingStore", NSStoreUUIDKey: UUID().uuidString] }

    override var url: URL? {
        get {
            let known = super.url
            guard known?.lastPathComponent == "b" else { return known }
            let move = Self.move.withValue { move in
                defer { move = nil }
                return move
            }
            // After the store is known to be elsewhere.
            move?()
            return known
        }
        set { super.url = newValue }
    }
}

@Suite("Code of the program that is called by what has locks") struct ProgramCodeAndLocksTests {
    /// Returns whether `body` comes to an end.
    private func ends(_ body: @escaping () -> Void) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        nonisolated(unsafe) let body = body
        Thread.detachNewThread {
            body()
            isDone.signal()
        }
        return isDone.wait(timeout: .now() + 600) == .success
    }

    @Test("The deinitializer of a transformer that is replaced may ask for transformers")
    func transformers() {
        let name = NSValueTransformerName("talkative \(UUID())")
        #expect(
            ends {
                ValueTransformer.setValueTransformer(TalkativeTransformer(), forName: name)
                ValueTransformer.setValueTransformer(nil, forName: name)
            })
    }

    @Test("The deinitializer of a value in replaced metadata may ask for the metadata")
    func metadata() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let plain = coordinator.metadata(for: store)
        var word: LastWord? = LastWord { [unowned store] in _ = store.metadata }
        var metadata = plain
        metadata["word"] = word
        word = nil
        coordinator.setMetadata(metadata, for: store)
        metadata = [:]
        #expect(ends { coordinator.setMetadata(plain, for: store) })
    }

    @Test("The deinitializer of a value in a node that is updated may ask for the node")
    func nodes() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Band"])
        let node = NSIncrementalStoreNode(
            objectID: store.newObjectID(for: entity, referenceObject: 1), withValues: ["name": "Low"], version: 1)
        node.update(withValues: ["word": LastWord { [unowned node] in _ = node.version }], version: 2)
        #expect(ends { node.update(withValues: ["name": "High"], version: 3) })
        expect(node.version, equals: 3)
    }

    @Test("Two stores that are moved to one place at once do not both get there")
    func places() throws {
        NSPersistentStoreCoordinator.registerStoreClass(MovingStore.self, forStoreType: "MovingStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let stores = try ["a", "b"].map { name in
            try coordinator.addPersistentStore(
                ofType: "MovingStore", configurationName: nil, at: URL(fileURLWithPath: "/nowhere/moving/\(name)"))
        }
        let place = URL(fileURLWithPath: "/nowhere/moving/c")
        let other = Guarded(false)
        // Called while the other is looked for at the place.
        nonisolated(unsafe) let second = stores[1]
        MovingStore.move.withValue { $0 = { other.withValue { $0 = coordinator.setURL(place, for: second) } } }
        let first = coordinator.setURL(place, for: stores[0])
        #expect(first != other.withValue { $0 })
        expect(stores.count { $0.url == place }, equals: 1)
    }

    @Test("The store that an object was assigned to is not that of another object at its address")
    func assignedStores() throws {
        let coordinator = try Music.coordinator()
        let usual = coordinator.persistentStores[0]
        let other = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let entity = try #require(coordinator.managedObjectModel.entitiesByName["Album"])
            for _ in 0..<100 {
                context.assign(Album(entity: entity, insertInto: nil), to: other)
                let album = Album(context: context)
                album.title = "Trust"
            }
            let assigned = Album(entity: entity, insertInto: nil)
            context.assign(assigned, to: other)
            context.insert(assigned)
            assigned.title = "Curtain"
            try context.save()
            for album in try context.all(Album.self) {
                #expect(album.objectID.persistentStore === (album.title == "Curtain" ? other : usual))
            }
        }
    }
}
