import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Several backends behind a cache") struct CombinedOutboxTests {
    private static let offline = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet)

    private struct Cached {
        let store: CachedStore
        let context: NSManagedObjectContext
        let clock = ManualClock()

        init(_ world: AddressWorld, at url: URL) throws {
            var options = CachedStoreOptions(defaultPolicy: .cachedThenFresh, clock: clock)
            options.sendsAutomatically = false
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AddressWorld.model())
            store = try coordinator.addCachedStore(world.backend, at: url, options: options)
            context = coordinator.context()
        }
    }

    private let folder: ScratchFolder
    private var place: URL { folder.file("cache.sqlite") }

    init() throws { folder = try ScratchFolder("cache") }

    @Test("The union is shown from the cache while no part can be reached")
    func offlineReading() async throws {
        let world = try AddressWorld()
        let cached = try Cached(world, at: place)
        let request = fetchRequest("Contact", by: ["email"])
        try expect(cached.context.texts(request, "email").count, equals: 3)
        world.book.script { _ in .fail(Self.offline) }
        world.sales.script { _ in .fail(Self.offline) }
        try await cached.context.perform {
            let found = try cached.context.fetch(request)
            expect(found.map { $0.value(forKey: "revenue") as? Int }, equals: [100, nil, 7])
            expect(found.map { $0.value(forKey: "name") as? String }, equals: ["Ann", "Bob", nil])
        }
    }

    @Test("Each part settles for itself: what one has taken is not sent again when the other comes back", arguments: [true, false])
    func partlyOffline(isNew: Bool) async throws {
        let world = try AddressWorld()
        let url = place
        let cached = try Cached(world, at: url)
        world.sales.scriptSaves { _ in .fail(Self.offline) }
        try await cached.context.perform {
            let context = cached.context
            let object =
                isNew
                ? NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
                : try #require(try context.fetch(fetchRequest("Contact", "email == 'ann@a.example'")).first)
            if isNew { object.setValue("eva@a.example", forKey: "email") }
            object.setValuesForKeys(["phone": "+1", "revenue": 8])
            try context.save()
        }
        try await cached.store.sendPending()
        let email = isNew ? "eva@a.example" : "ann@a.example"
        expect(world.values(email).book?["phone"], equals: "+1")
        #expect(world.values(email).sales?["revenue"] != 8)
        let pending = try cached.store.pendingChanges()
        expect(pending.count, equals: 1)
        world.sales.scriptSaves { _ in .answer }
        cached.clock.advance(by: .seconds(3600))
        try await cached.store.sendPending()
        #expect(try cached.store.pendingChanges().isEmpty)
        expect(world.values(email).sales?["revenue"], equals: 8)
        expect(world.book.saves.count, equals: 1)
        #expect(world.book.ids("Contact").count == (isNew ? 3 : 2) && world.sales.ids("Contact").count == (isNew ? 3 : 2))
    }

    @Test("A change that a part refuses is set aside with its name, and dropping it shows what the other part has taken")
    func refused() async throws {
        let world = try AddressWorld()
        let cached = try Cached(world, at: place)
        world.sales.scriptOutcomes { _ in .refused(Refusal()) }
        let id = try await cached.context.perform {
            let ann = try #require(try cached.context.fetch(fetchRequest("Contact", "email == 'ann@a.example'")).first)
            ann.setValuesForKeys(["phone": "+1", "revenue": 8])
            try cached.context.save()
            return ann.objectID
        }
        try await cached.store.sendPending()
        let pending = try cached.store.pendingChanges()
        let change = try #require(pending.first)
        expect(change.error?.localizedDescription.contains("“sales”"), equals: true)
        expect(change.properties, equals: ["revenue"])
        try cached.store.drop(change.objectID)
        await cached.context.perform {
            let ann = cached.context.object(with: id)
            cached.context.refresh(ann, mergeChanges: false)
            expect(ann.value(forKey: "phone") as? String, equals: "+1")
            expect(ann.value(forKey: "revenue") as? Int, equals: 100)
        }
    }

    @Test("A deletion goes on where a part could not be reached, and dropping it shows what is left", arguments: [true, false])
    func partlyDeleted(isDropped: Bool) async throws {
        let world = try AddressWorld()
        let cached = try Cached(world, at: place)
        world.sales.scriptSaves { $0.first?.entity == "Contact" ? .fail(Self.offline) : .answer }
        let id = try await cached.context.perform {
            let ann = try #require(try cached.context.fetch(fetchRequest("Contact", "email == 'ann@a.example'")).first)
            _ = ann.value(forKey: "revenue")
            cached.context.delete(ann)
            try cached.context.save()
            return ann.objectID
        }
        try await cached.store.sendPending()
        #expect(world.values("ann@a.example").book == nil && world.values("ann@a.example").sales != nil)
        if isDropped {
            try cached.store.drop(id)
            try await cached.context.perform {
                let ann = try #require(try cached.context.fetch(fetchRequest("Contact", "email == 'ann@a.example'")).first)
                #expect(ann.value(forKey: "name") == nil && ann.value(forKey: "revenue") as? Int == 100)
            }
            return
        }
        world.sales.scriptSaves { _ in .answer }
        cached.clock.advance(by: .seconds(3600))
        try await cached.store.sendPending()
        #expect(try cached.store.pendingChanges().isEmpty)
        #expect(world.values("ann@a.example").sales == nil)
        expect(world.book.saves.count, equals: 1)
    }

    @Test("A change whose answer was lost is saved once by each part")
    func lostAnswer() async throws {
        let world = try AddressWorld()
        let cached = try Cached(world, at: place)
        world.book.scriptSaves { _ in .loseAnswer(Self.offline) }
        try await cached.context.perform {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: cached.context)
            object.setValuesForKeys(["email": "eva@a.example", "phone": "+1", "revenue": 8])
            try cached.context.save()
        }
        try await cached.store.sendPending()
        world.book.scriptSaves { _ in .answer }
        cached.clock.advance(by: .seconds(3600))
        try await cached.store.sendPending()
        #expect(try cached.store.pendingChanges().isEmpty)
        #expect(world.book.saves.count == 1 && world.sales.saves.count == 1)
        #expect(world.book.ids("Contact").count == 3 && world.sales.ids("Contact").count == 3)
    }
}
