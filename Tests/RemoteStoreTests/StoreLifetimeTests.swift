import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A program that opens stores for a while, such as a server with one for each tenant, gets their memory back.
@Suite("Stores that nothing refers to any more", .serialized) struct StoreLifetimeTests {
    /// What was done with a store before.
    enum Use: CaseIterable, Sendable {
        case nothing, fetched, saved, offlineWithPendingChanges, shownInResults, shownInResultsForAWhile, shownLive, busyWithARequest,
            refreshing, observed
    }

    private struct Left {
        weak var store: NSPersistentStore?
        weak var coordinator: NSPersistentStoreCoordinator?
        weak var context: NSManagedObjectContext?
        weak var backend: ScriptedBackend?

        var names: [String] {
            [
                store == nil ? nil : "store", coordinator == nil ? nil : "coordinator", context == nil ? nil : "context",
                backend == nil ? nil : "backend",
            ].compactMap { $0 }
        }
    }

    /// A shop that takes changes.
    private static func backend() -> ScriptedBackend {
        let model = Shop.model()
        let resources = CachedShop.resources(model).map { resource in
            var resource = resource
            resource.saving = .init(isIdempotent: true)
            return resource
        }
        let backend = ScriptedBackend(model, resources)
        for number in 1...5 { backend.put("Album", number, ["title": .init("\(number)"), "year": .init(1964 + number)]) }
        return backend
    }

    private func use(_ use: Use, at url: URL?) async throws -> Left {
        let shop = try CachedShop(at: url, use == .refreshing ? .cachedThenFresh : .cacheFirst(maximumAge: 60), backend: Self.backend())
        let left = Left(store: shop.store, coordinator: shop.coordinator, context: shop.context, backend: shop.backend)
        let albums = fetchRequest("Album", "year < 1990", by: ["year"])
        func edit(_ title: String = "changed") async throws {
            try await shop.context.perform {
                let album = try #require(try shop.context.fetch(albums).first)
                album.setValue(title, forKey: "title")
                _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: shop.context)
                try shop.context.save()
            }
        }
        switch use {
        case .nothing: break
        case .fetched: try expect(shop.context.texts(albums).count, equals: 5)
        case .saved:
            try await edit()
            try await shop.store.sendPending()
        case .offlineWithPendingChanges:
            _ = try shop.context.texts(albums)
            shop.goOffline()
            try await edit()
            try? await shop.store.sendPending()
        case .shownInResults:
            for try await _ in shop.context.results(for: albums) { break }
        case .shownInResultsForAWhile:
            _ = try shop.context.texts(albums)
            let cached = fetchRequest("Album", by: ["year"])
            cached.cachePolicy = .cacheOnly
            var count = 0
            for try await _ in shop.context.results(for: cached) {
                count += 1
                if count == 3 { break }
                try await edit("title \(count)")
            }
        case .shownLive:
            _ = try shop.context.texts(albums)
            var count = 0
            for try await _ in shop.context.liveResults(for: albums) {
                count += 1
                if count == 3 { break }
                try await edit("title \(count)")
            }
        case .busyWithARequest:
            shop.backend.script { _ in .hold }
            let context = shop.context
            let task = Task { try await context.perform { _ = try context.fetch(albums) } }
            await shop.backend.untilHeld()
            task.cancel()
            shop.backend.release()
            _ = try? await task.value
        case .refreshing:
            _ = try shop.context.texts(albums)
            _ = try shop.context.texts(albums)
            await shop.store.waitForRefreshes()
        case .observed:
            for await _ in shop.store.statuses { break }
            try await edit()
        }
        return left
    }

    @Test(
        "A cached store goes, with its coordinator, its contexts and its backend", .timeLimit(.minutes(30)), arguments: Use.allCases,
        [false, true])
    func cached(_ use: Use, inFile: Bool) async throws {
        let folder = try ScratchFolder("lifetime")
        defer { folder.remove() }
        let left = try await self.use(use, at: inFile ? folder.file("cache.sqlite") : nil)
        for _ in 0..<2_000_000 where !left.names.isEmpty { await Task.yield() }
        #expect(left.names.isEmpty, "\(use): \(left.names)")
    }
}
