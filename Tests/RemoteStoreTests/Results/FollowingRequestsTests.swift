import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Keeps a controller that is followed.
private final class Follower: NSFetchedResultsControllerDelegate {
    var changes = 0
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
}

/// Keeps a controller alive.
// Nobody uses it.
private struct HeldController: @unchecked Sendable {
    let controller: NSFetchedResultsController<NSManagedObject>
}

@Suite("Lists over services ask nobody while a change is told") struct FollowingRequestsTests {
    /// Lets everything that is under way come to its end.
    private func settle(_ store: CachedStore, _ contexts: [NSManagedObjectContext]) async {
        for _ in 0..<20 {
            await store.waitForRefreshes()
            for context in contexts { await context.perform { context.processPendingChanges() } }
            await Task.yield()
        }
    }

    @Test("A limited list and another fetch in its context cost a request each", .timeLimit(.minutes(30)))
    func limited() async throws {
        let shop = try CachedShop()
        let context = shop.context
        await context.perform { context.automaticallyMergesChangesFromParent = true }
        let fill = fetchRequest("Album", by: ["title"])
        try await context.perform { _ = try context.fetch(fill) }
        shop.backend.change("Album", 1, ["title": "Help"])
        let before = shop.backend.requests.count
        let limit = 40
        shop.backend.script { _ in shop.backend.requests.count - before < limit ? .answer : .fail(ServiceFailure("too many")) }
        let request = fetchRequest("Album", by: ["title"])
        request.fetchLimit = 3
        var results = context.results(for: request).makeAsyncIterator()
        let first = try await results.next()
        // As a view does, which shows them.
        await context.perform { context.retainsRegisteredObjects = true }
        await context.perform { _ = first?.objects(in: context) }
        let other = fetchRequest("Album", "title == 'Blur'")
        try await context.perform { _ = try context.fetch(other) }
        await settle(shop.store, [context])
        #expect(shop.backend.requests.count - before <= 4, "\(shop.backend.requests.dropFirst(before).map { "\($0)" })")
    }

    @Test(
        "Lists, fetches, merges, saves and deletions at random cost no more requests than the program has asked for",
        .timeLimit(.minutes(30)))
    func budget() async throws {
        let base = TestSeed.current(for: "Requests of lists")
        for round in TestRounds(seconds: 1.5, atLeast: 5) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let shop = try CachedShop(backend: OutboxWorld.backend(.init(isIdempotent: true), .numbers))
            for number in 1..<40 {
                shop.backend.put("Album", number, ["title": .value(.string("A\(number)")), "year": .value(.int64(Int64(1960 + number)))])
            }
            let (shown, editor) = (shop.context, shop.coordinator.context())
            for context in [shown, editor] { await context.perform { context.automaticallyMergesChangesFromParent = true } }
            let followers = [Follower(), Follower(), Follower()]
            let controllers = try await shown.perform {
                try followers.enumerated().map { index, follower in
                    let request = fetchRequest("Album", index == 1 ? "year > 1970" : "TRUEPREDICATE", by: ["title"])
                    if index == 2 { request.fetchLimit = 5 }
                    let controller = NSFetchedResultsController(
                        fetchRequest: request, managedObjectContext: shown, sectionNameKeyPath: nil, cacheName: nil)
                    controller.delegate = follower
                    try controller.performFetch()
                    return HeldController(controller: controller)
                }
            }
            await settle(shop.store, [shown, editor])
            var (allowed, steps) = (0, [String]())
            let before = shop.backend.requests.count
            let limit = 400
            shop.backend.script { _ in shop.backend.requests.count - before < limit ? .answer : .fail(ServiceFailure("too many")) }
            for _ in 0..<12 {
                let context = random.chance(0.5) ? shown : editor
                let kind = random.below(5)
                let number = 1 + random.below(39)
                steps.append("\(kind) \(number)")
                switch kind {
                case 0:
                    let request = fetchRequest("Album", random.chance(0.5) ? "year > 1980" : "title BEGINSWITH 'A1'", by: ["title"])
                    if random.chance(0.5) { request.fetchLimit = 3 }
                    try await context.perform { _ = try context.fetch(request) }
                    // The refresh, and a look at what an answer has left out.
                    allowed += 2
                case 1: shop.backend.change("Album", number, ["title": .value(.string("B\(number)"))])
                case 2, 3:
                    let request = fetchRequest("Album", "year == \(1960 + number)")
                    request.cachePolicy = .cacheOnly
                    let deletes = kind == 3 && random.chance(0.5)
                    try await editor.perform {
                        guard let album = try editor.fetch(request).first else { return }
                        if deletes { editor.delete(album) } else { album.setValue("C\(number)", forKey: "title") }
                        try editor.save()
                    }
                    allowed += 3
                default:
                    let request = fetchRequest("Album", by: ["title"])
                    request.fetchLimit = 1 + random.below(4)
                    var results = shown.results(for: request).makeAsyncIterator()
                    _ = try await results.next()
                    allowed += 2
                }
                await settle(shop.store, [shown, editor])
            }
            let sent = shop.backend.requests.count - before
            #expect(sent <= allowed, "seed \(seed): \(steps): \(shop.backend.requests.dropFirst(before).map { "\($0)" })")
            withExtendedLifetime(controllers) {}
        }
    }

    @Test(
        "Without a cache, too, a list does not ask the service while a change is told, and afterwards it is what a fresh fetch finds",
        .timeLimit(.minutes(30)))
    func uncached() async throws {
        let base = TestSeed.current(for: "Changes of lists without a cache")
        for round in TestRounds(seconds: 1, atLeast: 5) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let backend = OutboxWorld.backend(.init(isIdempotent: true), .numbers)
            for number in 1..<20 {
                backend.put("Album", number, ["title": .value(.string("A\(number)")), "year": .value(.int64(Int64(1960 + number)))])
            }
            let shown = try backend.context()
            let editor = try #require(shown.persistentStoreCoordinator).context()
            await shown.perform { shown.automaticallyMergesChangesFromParent = true }
            let follower = Follower()
            let request = fetchRequest("Album", random.chance(0.5) ? "year > 1970" : "TRUEPREDICATE", by: ["title"])
            request.fetchLimit = random.chance(0.5) ? 0 : 2 + random.below(4)
            request.fetchOffset = random.chance(0.3) ? 1 : 0
            let held = try await shown.perform {
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: shown, sectionNameKeyPath: nil, cacheName: nil)
                controller.delegate = follower
                try controller.performFetch()
                return HeldController(controller: controller)
            }
            var steps: [String] = []
            for _ in 0..<8 {
                let (kind, number, pick) = (random.below(5), 1 + random.below(99), random.below(20))
                steps.append("\(kind) \(number) \(pick)")
                let context = kind == 4 ? editor : shown
                try await context.perform {
                    let all = try context.fetch(fetchRequest("Album", by: ["title"]))
                    switch kind {
                    case 0:
                        NSManagedObject(entity: all[0].entity, insertInto: context).setValue("B\(number) \(steps.count)", forKey: "title")
                    case 1: context.delete(all[pick % all.count])
                    default: all[pick % all.count].setValue("C\(number) \(steps.count)", forKey: "title")
                    }
                    // What a change itself reads, it may ask for.
                    let before = backend.requests.count
                    context.processPendingChanges()
                    // The rules of a deletion read relationships.
                    if kind != 1 {
                        expect(backend.requests.count, equals: before, "seed \(seed): \(steps): \(backend.requests.dropFirst(before))")
                    }
                    if kind > 2 { try context.save() }
                }
                for _ in 0..<5 {
                    await shown.perform { shown.processPendingChanges() }
                    await Task.yield()
                }
                try await shown.perform {
                    let found = try shown.fetch(request).map(\.objectID)
                    expect(held.controller.fetchedObjects?.map(\.objectID), equals: found, "seed \(seed): \(steps)")
                }
            }
        }
    }
}
