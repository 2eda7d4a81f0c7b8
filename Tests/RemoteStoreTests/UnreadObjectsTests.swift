import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A refusal of one resource, which does not pass.
private struct BandRefusal: PassingError, Equatable {
    let number: Int
    var mayPass: Bool { false }
    var retryAfter: Duration? { nil }
}

/// Albums with a band each. Some bands cannot be read.
private struct RefusingShop {
    let backend: ScriptedBackend
    let context: NSManagedObjectContext
    let store: CachedStore?
    let refused: Guarded<Set<Int>>

    /// - Parameter together: How many bands one request asks for.
    init(_ count: Int, refused: Set<Int>, together: Int, isCached: Bool) throws {
        let model = Shop.model()
        let lookup = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: together)])
        backend = ScriptedBackend(
            model, [Resource("Album", endpoints: [Endpoint("list", counts: true), lookup]), Resource("Band", endpoints: [lookup])])
        for number in 0..<count {
            backend.put("Band", number, ["name": .value(.string("band \(number)"))])
            backend.put(
                "Album", number, ["title": .value(.string("album \(number)")), "band": .one(ResourceReference(.integer(Int64(number))))])
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        if isCached {
            store = try coordinator.addCachedStore(
                backend, at: nil, options: CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 3600)))
        } else {
            try coordinator.addRemoteStore(backend)
            store = nil
        }
        context = coordinator.context()
        let box = Guarded(refused)
        self.refused = box
        backend.script { request in
            guard request.entity == "Band" else { return .answer }
            let refused = box.withValue { $0 }
            let hit = refused.sorted().first { request.ids("SELF").contains(.integer(Int64($0))) }
            return hit.map { .fail(BandRefusal(number: $0)) } ?? .answer
        }
    }

    func bands(of albums: [NSManagedObject]) -> [NSManagedObject] { albums.compactMap { $0.value(forKey: "band") as? NSManagedObject } }
}

@Suite("Objects that a service refuses among others") struct UnreadObjectsTests {
    @Test("One refusal hides nothing of the others, and costs no more requests than it must", arguments: [1, 50], [false, true])
    func one(together: Int, isCached: Bool) async throws {
        let shop = try RefusingShop(40, refused: [3], together: together, isCached: isCached)
        let context = shop.context
        try await context.perform {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            let before = shop.backend.requests.count
            let bands = shop.bands(of: albums)
            let names = bands.map { $0.value(forKey: "name") as? String }
            expect(names.filter { $0 == nil }.count, equals: 1)
            let sent = shop.backend.requests.count - before
            #expect(sent <= (together == 1 ? 40 : 14), "\(sent) requests")
            let refused = try #require(bands.first { $0.faultError != nil })
            expect(refused.faultError as? BandRefusal, equals: BandRefusal(number: 3))
            #expect(refused.isFault)
            expect(bands.filter { $0.faultError != nil }.count, equals: 1)

            // It is not asked for again by reads, and nothing else fails for it.
            let asked = shop.backend.requests.count
            for _ in 0..<3 { #expect(refused.value(forKey: "name") == nil) }
            #expect(throws: BandRefusal(number: 3)) { try refused.fulfillFault() }
            #expect(throws: BandRefusal(number: 3)) { try context.existingObject(with: refused.objectID) }
            expect(shop.backend.requests.count, equals: asked)
            expect(try context.count(for: fetchRequest("Album")), equals: 40)
            expect(try context.fetch(fetchRequest("Album")).count, equals: 40)

            // A save says once that something was read as nil.
            #expect(throws: BandRefusal(number: 3)) { try context.save() }
            try context.save()
            shop.refused.withValue { $0 = [] }
            context.refresh(refused, mergeChanges: true)
            expect(refused.value(forKey: "name") as? String, equals: "band 3")
            #expect(refused.faultError == nil)
        }
    }

    @Test("Prefetching and loading bring what can be read; loading tells of the rest", arguments: [1, 50], [false, true])
    func loading(together: Int, isCached: Bool) async throws {
        let shop = try RefusingShop(12, refused: [3, 7], together: together, isCached: isCached)
        let context = shop.context
        let request = fetchRequest("Album", by: ["title"])
        request.relationshipKeyPathsForPrefetching = ["band"]
        let count = try await context.fetchAsynchronously(request).count
        expect(count, equals: 12)
        try await context.perform {
            let bands = shop.bands(of: try context.fetch(request))
            expect(bands.filter { $0.value(forKey: "name") != nil }.count, equals: 10)
            #expect(context.pendingFaultError is BandRefusal)
            #expect(throws: BandRefusal.self) { try context.throwPendingFaultError() }
        }
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let albums = try await other.fetchAsynchronously(fetchRequest("Album"))
        await #expect(throws: BandRefusal.self) { try await other.load(albums, "band") }
        await other.perform {
            expect(shop.bands(of: albums).filter { !$0.isFault }.count, equals: 10)
        }
    }

    @Test("A child's read of such an object says so, too, and the others are there", arguments: [false, true])
    func child(isCached: Bool) async throws {
        let shop = try RefusingShop(12, refused: [3], together: 1, isCached: isCached)
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = shop.context
        try await child.perform {
            let bands = shop.bands(of: try child.fetch(fetchRequest("Album", by: ["title"])))
            expect(bands.filter { $0.value(forKey: "name") != nil }.count, equals: 11)
            expect(bands.compactMap { $0.faultError as? BandRefusal }, equals: [BandRefusal(number: 3)])
            #expect(throws: BandRefusal.self) { try child.save() }
        }
    }

    @Test("Whatever is refused at random, each value is read right or says why not", .timeLimit(.minutes(30)))
    func random() async throws {
        let base = TestSeed.current(for: "Unread objects")
        for round in TestRounds(seconds: 1.5, atLeast: 8) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let count = 5 + random.below(30)
            let refused = Set((0..<random.below(5)).map { _ in random.below(count) })
            let together = [1, 4, 50].randomElement(using: &random)!
            let shop = try RefusingShop(count, refused: refused, together: together, isCached: random.chance(0.5))
            let context = shop.context
            let batch = random.chance(0.3) ? 7 : 0
            try await context.perform {
                let request = fetchRequest("Album", by: ["title"])
                request.fetchBatchSize = batch
                let albums = try context.fetch(request)
                let before = shop.backend.requests.count
                for album in albums {
                    let band = try #require(album.value(forKey: "band") as? NSManagedObject)
                    let name = band.value(forKey: "name") as? String
                    let number = Int((album.value(forKey: "title") as! String).dropFirst(6))!
                    if refused.contains(number) {
                        expect(name, equals: nil, "seed \(seed)")
                        #expect(band.faultError is BandRefusal, "seed \(seed)")
                    } else {
                        expect(name, equals: "band \(number)", "seed \(seed)")
                        #expect(band.faultError == nil, "seed \(seed)")
                    }
                }
                let sent = shop.backend.requests.count - before
                #expect(sent <= (count + together - 1) / together + 8 + refused.count * 14, "seed \(seed): \(sent) requests")
                let isRead = refused.isEmpty || albums.isEmpty
                do {
                    try context.save()
                    #expect(isRead, "seed \(seed): the save says nothing")
                } catch {
                    #expect(error is BandRefusal && !isRead, "seed \(seed): \(error)")
                }
            }
        }
    }
}
