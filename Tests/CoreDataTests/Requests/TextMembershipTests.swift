import CoreData
import Foundation
import TestSupport
import Testing

/// `IN` with numbers for an attribute that holds text: SQLite compares a column of text with the numbers as texts, which Apple's stores show.
@Suite("Texts in lists of numbers") struct TextMembershipTests {
    private static func context(_ type: String, in place: Scratchpad) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : place.store)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = try context.saveBand("7", albums: ["1", "2", "3", "2.5", "3.0", "nine"])
            band.albums.first { $0.title == "nine" }?.rating = 9
            try context.save()
        }
        return context
    }

    @Test(
        "A text is in a list of numbers that has it as a number, in every store and among pending changes",
        arguments: ["SQLite", "InMemory", "XML"])
    func numbers(type: String) throws {
        let place = try Scratchpad()
        let context = try Self.context(type, in: place)
        try context.performAndWait {
            func titles(_ format: String, _ argument: Any? = nil) throws -> [String] {
                let request = NSFetchRequest<Album>()
                request.predicate = NSPredicate(format: format, argumentArray: argument.map { [$0] })
                return try context.fetch(request).map(\.title).sorted()
            }
            try expect(titles("title IN %@", [1, 2, 44]), equals: ["1", "2"])
            try expect(titles("title IN {1, 3}"), equals: ["1", "3"])
            try expect(titles("title IN %@", Set([2.5, 1.5])), equals: ["2.5"])
            try expect(titles("title IN %@", [1, "nine"] as [Any]), equals: ["1", "nine"])
            try expect(titles("title IN %@", [3.0]), equals: ["3.0"])
            try expect(titles("band.name IN %@", [7]).count, equals: 6)
            try expect(titles("NOT title IN %@", [1, 2, 3]), equals: ["2.5", "3.0", "nine"])
            try expect(titles("%@ CONTAINS title", [1]), equals: ["1"])
            try expect(titles("rating IN %@", [9]), equals: ["nine"])
            // A number is no text elsewhere.
            try expect(titles("title == 1"), equals: [])
            let album = Album(context: context)
            album.title = "44"
            try expect(titles("title IN %@", [44]), equals: ["44"])
            try expect(context.count(for: Self.request("title IN {44}")), equals: 1)
            context.rollback()
        }
    }

    private static func request(_ format: String) -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = NSPredicate(format: format)
        return request
    }

    @Test("Batch requests find such texts, too")
    func batches() throws {
        let place = try Scratchpad()
        let context = try Self.context(NSSQLiteStoreType, in: place)
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Album")
            update.predicate = NSPredicate(format: "title IN %@", [1, 2])
            update.propertiesToUpdate = ["year": 1999]
            update.resultType = .updatedObjectsCountResultType
            expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int, equals: 2)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
            request.predicate = NSPredicate(format: "title IN %@", [1])
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeCount
            expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int, equals: 1)
        }
    }
}
