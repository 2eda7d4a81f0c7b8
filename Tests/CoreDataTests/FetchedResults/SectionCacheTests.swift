import CoreData
import TestSupport
import Testing

/// A card in a file, whose section name is computed; its context counts how often it is asked for.
private final class Card: NSManagedObject {
    override func value(forUndefinedKey key: String) -> Any? {
        guard key == "initial" else { return super.value(forUndefinedKey: key) }
        if let info = managedObjectContext?.userInfo { info["reads"] = (info["reads"] as? Int ?? 0) + 1 }
        return (value(forKey: "name") as? String)?.prefix(1).description
    }
}

/// An atomic store of cards: a line of its file is a name.
private final class CardFile: NSAtomicStore {
    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: url!.path, NSStoreTypeKey: "CardFile"] }

    override func load() throws {
        guard let text = try? String(contentsOf: url!, encoding: .utf8) else { return }
        let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Card"]!
        let nodes = text.split(separator: "\n").map { name in
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: String(name)))
            node.setValue(String(name), forKey: "name")
            return node
        }
        addCacheNodes(Set(nodes))
    }

    override func save() throws {
        let names = cacheNodes().compactMap { $0.value(forKey: "name") as? String }
        try names.sorted().joined(separator: "\n").write(to: url!, atomically: true, encoding: .utf8)
    }
}

/// A run of a program: a stack of its own, with a controller over cards in sections by their initials.
private final class Cards {
    let context = NSManagedObjectContext(.privateQueue)
    let controller: NSFetchedResultsController<Card>
    var reads: Int { context.performAndWait { context.userInfo["reads"] as? Int ?? 0 } }
    var sections: [String] { context.performAndWait { controller.sections!.map { "\($0.name)\($0.numberOfObjects)" } } }

    static func coordinator(at url: URL? = nil) throws -> NSPersistentStoreCoordinator {
        let card = NSEntityDescription(name: "Card", managedObjectClass: Card.self)
        card.properties = [NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "rank", type: .integer32)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [card]))
        NSPersistentStoreCoordinator.registerStoreClass(CardFile.self, forStoreType: "CardFile")
        try coordinator.addPersistentStore(ofType: url == nil ? NSInMemoryStoreType : "CardFile", configurationName: nil, at: url)
        return coordinator
    }

    init(_ coordinator: NSPersistentStoreCoordinator, cache: String?, key: String = "name", predicate: NSPredicate? = nil) {
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<Card>(entityName: "Card")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        request.predicate = predicate
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: cache)
    }

    func insert(_ names: String...) throws {
        try context.performAndWait {
            for name in names { Card(context: context).setValue(name, forKey: "name") }
            try context.save()
        }
    }

    func fetch() throws { try context.performAndWait { try controller.performFetch() } }
}

@Suite("Caches of sections") struct SectionCacheTests {
    private let name = "test \(UUID())"

    @Test("While nothing changes, a second fetch reads the section names of the first and last objects only")
    func sparesReading() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name)
        try first.insert("ab", "ac", "ad", "ae", "ba", "bb", "bc")
        try first.fetch()
        expect(first.reads, equals: 7)
        let second = Cards(coordinator, cache: name)
        try second.fetch()
        expect(second.sections, equals: ["a4", "b3"])
        expect(second.reads, equals: 4)
        expect(second.controller.fetchedObjects?.count, equals: 7)
        let uncached = Cards(coordinator, cache: nil)
        try uncached.fetch()
        expect(uncached.reads, equals: 7)
    }

    @Test("After a save, whoever made it, and over unsaved changes sections are computed again")
    func changes() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name)
        try first.insert("ab", "ac", "ba")
        try first.fetch()
        try Cards(coordinator, cache: nil).insert("ca")
        let second = Cards(coordinator, cache: name)
        try second.fetch()
        expect(second.sections, equals: ["a2", "b1", "c1"])
        second.context.performAndWait { second.controller.fetchedObjects?.first.map { $0.setValue("b", forKey: "name") } }
        try second.fetch()
        expect(second.sections, equals: ["a1", "b2", "c1"])
        // What is unsaved there is in no cache.
        let third = Cards(coordinator, cache: name)
        try third.fetch()
        expect(third.sections, equals: ["a2", "b1", "c1"])
    }

    @Test("A batch request changes what the store holds, so that sections are computed again")
    func batch() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name)
        try first.insert("ab", "ba")
        try first.fetch()
        try first.context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Card")
            update.predicate = NSPredicate(format: "name == 'ba'")
            update.propertiesToUpdate = ["name": "ac"]
            try first.context.execute(update)
        }
        let second = Cards(coordinator, cache: name)
        try second.fetch()
        expect(second.sections, equals: ["a2"])
    }

    @Test("A context that shows older values than the store does not leave them to others")
    func staleContext() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name)
        try first.insert("ab", "ac")
        try first.fetch()
        let editor = Cards(coordinator, cache: nil)
        try editor.fetch()
        try editor.context.performAndWait {
            editor.controller.fetchedObjects?.last?.setValue("zz", forKey: "name")
            try editor.context.save()
        }
        try first.fetch()
        expect(first.sections, equals: ["a2"], "The objects still show what was read before.")
        let fresh = Cards(coordinator, cache: name)
        try fresh.fetch()
        expect(fresh.sections, equals: ["a1", "z1"])
    }

    @Test("A cache of another request is an error that names it, until it is deleted; other stores have their own")
    func anotherRequest() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name)
        try first.insert("ab", "ba")
        try first.fetch()
        for other in [
            Cards(coordinator, cache: name, predicate: NSPredicate(format: "name BEGINSWITH 'a'")),
            Cards(coordinator, cache: name, key: "rank"),
        ] {
            let error = failure { try other.fetch() }
            expect(error?.code, equals: NSCoreDataError)
            #expect(error!.localizedDescription.contains("“\(name)”"))
            #expect(error!.localizedDescription.contains("deleteCache"))
            #expect(other.controller.fetchedObjects == nil)
        }
        first.controller.fetchRequest.predicate = NSPredicate(format: "name BEGINSWITH 'b'")
        expect(failure { try first.fetch() }?.code, equals: NSCoreDataError)
        expect(first.sections, equals: ["a1", "b1"])
        NSFetchedResultsController<Card>.deleteCache(withName: name)
        try first.fetch()
        expect(first.sections, equals: ["b1"])
        let elsewhere = Cards(try Cards.coordinator(), cache: name)
        try elsewhere.fetch()
        expect(elsewhere.sections, equals: [])
    }

    @Test("A predicate with an unknown inside, such as a block, is served without a cache")
    func block() throws {
        let coordinator = try Cards.coordinator()
        let first = Cards(coordinator, cache: name, predicate: NSPredicate { _, _ in true })
        try first.insert("ab")
        try first.fetch()
        let second = Cards(coordinator, cache: name)
        try second.fetch()
        expect(second.reads, equals: 1)
    }

    @Test("The next run of the program finds the sections of an unchanged file; those of a changed or a deleted one are computed again")
    func files() async throws {
        let folder = try ScratchFolder("cards of a test")
        defer { folder.remove() }
        let url = folder.file("cards.txt")
        func write(_ names: String, at seconds: TimeInterval) throws {
            try names.write(to: url, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: url.path)
        }
        defer { NSFetchedResultsController<Card>.deleteCache(withName: name) }
        try write("ab\nac\nad\nba", at: 1_000_000)
        await #expect(processExitsWith: .success) { [url = url as URL, name = name as String] in
            let first = Cards(try Cards.coordinator(at: url), cache: name)
            try first.fetch()
            expect(first.reads, equals: 4)
        }
        let second = Cards(try Cards.coordinator(at: url), cache: name)
        try second.fetch()
        expect(second.sections, equals: ["a3", "b1"])
        expect(second.reads, equals: 3)
        try write("ab\nbc\nbd\nbe", at: 2_000_000)
        let third = Cards(try Cards.coordinator(at: url), cache: name)
        try third.fetch()
        expect(third.sections, equals: ["a1", "b3"])
        NSFetchedResultsController<Card>.deleteCache(withName: name)
        let fourth = Cards(try Cards.coordinator(at: url), cache: name)
        try fourth.fetch()
        expect(fourth.reads, equals: 4)
    }
}

@Suite("Index titles") struct IndexTitleTests {
    @Test("Each title belongs to its first section; a title that is not at the index stops the program with a message")
    func sections() async throws {
        try withMusic { context in
            for title in ["low", "lower", "high", "mid"] { Album(context: context).title = title }
            let request = NSFetchRequest<Album>()
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
            try controller.performFetch()
            expect(controller.sectionIndexTitles, equals: ["H", "L", "M"])
            expect(["H", "L", "M"].enumerated().map { controller.section(forSectionIndexTitle: $1, at: $0) }, equals: [0, 1, 3])
            expect(controller.sectionIndexTitle(forSectionName: "éclair"), equals: "É")
            #expect(controller.sectionIndexTitle(forSectionName: "") == nil)
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withMusic { context in
                Album(context: context).title = "low"
                let request = NSFetchRequest<Album>()
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
                try controller.performFetch()
                _ = controller.section(forSectionIndexTitle: "X", at: 0)
            }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("is not “X”"))
    }
}
