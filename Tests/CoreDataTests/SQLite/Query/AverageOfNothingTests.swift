import CoreData
import Foundation
import TestSupport
import Testing

@Suite("The average of nothing is nil") struct AverageOfNothingTests {
    private func withBands(_ isInMemory: Bool, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(
            ofType: isInMemory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: isInMemory ? nil : pad.store)
        let context = Music.context(coordinator)
        try context.performAndWait {
            try context.saveBand("silent")
            try context.saveBand("unrated", albums: ["Trust"])
            let band = try context.saveBand("rated", albums: ["Curtain"])
            band.albums.first?.rating = 0
            try context.save()
            try body(context)
        }
    }

    @Test("In predicates and by value(forKeyPath:)", arguments: [true, false]) func bands(_ isInMemory: Bool) throws {
        try withBands(isInMemory) { context in
            try expect(Set(context.all(Band.self, "albums.@avg.rating == nil").map(\.name)), equals: ["silent", "unrated"])
            try expect(context.all(Band.self, "albums.@avg.rating == 0").map(\.name), equals: ["rated"])
            try expect(context.all(Band.self, "albums.@avg.rating < 1").map(\.name), equals: ["rated"])
            for band in try context.all(Band.self) {
                let average = band.value(forKeyPath: "albums.@avg.rating")
                expect(average as? Double, equals: (band.name == "rated" ? 0 : nil))
                expect((average == nil), equals: NSPredicate(format: "albums.@avg.rating == nil").evaluate(with: band))
            }
        }
    }

    @Test("In fetched dictionaries", arguments: [true, false]) func columns(_ isInMemory: Bool) throws {
        try withBands(isInMemory) { context in
            let average = NSExpressionDescription()
            average.name = "mean"
            average.expression = NSExpression(format: "average:(rating)")
            average.expressionResultType = .doubleAttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Album")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [average]
            request.predicate = NSPredicate(format: "title == 'Trust'")
            let row = try #require(try context.fetch(request).first)
            #expect(row["mean"] == nil)
        }
    }
}
