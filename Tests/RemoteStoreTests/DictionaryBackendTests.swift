import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing

/// A backend of forty lines: two dictionaries, and one call that lists each.
private struct Shelf: Backend {
    let location = URL(string: "shelf:music")!
    let resources = [
        Resource("Band", endpoints: [Endpoint("all")]),
        Resource("Album", endpoints: [Endpoint("all")]),
    ]
    let bands: [Int: String]
    let albums: [Int: (title: String, year: Int64, band: Int64)]

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        var answer = request.answer()
        if request.entity == "Band" {
            for (id, name) in bands { try answer.add(id, ["name": .value(.string(name))]) }
        } else {
            for (id, album) in albums {
                try answer.add(
                    id,
                    [
                        "title": .value(.string(album.title)), "year": .value(.int64(album.year)),
                        "band": .one(.init(.integer(album.band))),
                    ])
            }
        }
        return answer
    }
}

@Suite("A backend over dictionaries") struct DictionaryBackendTests {
    private func context() throws -> NSManagedObjectContext {
        let shelf = Shelf(
            bands: [1: "Beatles", 2: "Björk"],
            albums: [10: ("Abbey Road", 1969, 1), 11: ("Help!", 1965, 1), 12: ("Debut", 1993, 2), 13: ("Post", 1995, 2)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(shelf)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func predicatesOrderAndPagesAreFinishedInMemory() throws {
        let context = try context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            request.predicate = NSPredicate(format: "year > 1965 AND band.name BEGINSWITH 'B'")
            request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
            let titles = try context.fetch(request).map { $0.value(forKey: "title") as? String }
            expect(titles, equals: ["Post", "Debut", "Abbey Road"])
            request.fetchLimit = 1
            request.fetchOffset = 1
            try expect(context.fetch(request).map { $0.value(forKey: "title") as? String }, equals: ["Debut"])
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Album")), equals: 4)
        }
    }

    @Test func relationshipsAreWalkedBothWays() throws {
        let context = try context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Band")
            request.predicate = NSPredicate(format: "name == 'Beatles'")
            let band = try #require(try context.fetch(request).first)
            let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
            expect(Set(albums.compactMap { $0.value(forKey: "title") as? String }), equals: ["Abbey Road", "Help!"])
            #expect(albums.allSatisfy { $0.value(forKey: "band") as? NSManagedObject === band })
        }
    }

    @Test func awaitedFetchesGiveTheSame() async throws {
        let context = try context()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: "title CONTAINS 'e'")
        let ids = try await context.fetchAsynchronously(request)
        expect(Set(ids.map { $0.uriRepresentation().lastPathComponent }), equals: ["p10", "p11", "p12"])
    }
}
