import CoreData
import TestSupport
import Testing

@testable import ObjectGraph
@testable import Predicates

/// How often the predicates of fetches are compiled. Work is counted in debug builds only.
@Suite struct CompiledFetchTests {
    @Test func theSamePredicateIsCompiledOnceForTheStoreAndOnceForObjects() throws {
        try withMusic { context in
            try context.saveBand("X", albums: ["a", "b"])
            let predicate = NSPredicate(format: "ANY albums.title == 'a' AND name == %@", "X")
            let parts = [predicate, NSPredicate(format: "name != 'Y'")]
            for compound in [predicate, NSCompoundPredicate(andPredicateWithSubpredicates: parts)] {
                let request = NSFetchRequest<Band>()
                request.predicate = compound
                let first = try WorkCount.counting { try expect(context.fetch(request).count, equals: 1) }
                expect(first.compilations, equals: 1)
                let again = try WorkCount.counting {
                    for _ in 0..<5 { try expect(context.fetch(request).count, equals: 1) }
                    try expect(context.count(for: request), equals: 1)
                }
                expect(again.compilations, equals: 0)
                let bands = try context.fetch(request)
                let filtered = WorkCount.counting { for _ in 0..<5 { expect(bands.filtered(using: compound).count, equals: 1) } }
                expect(filtered.compilations, equals: 1)
                // What is pending is looked at as objects are: that has been compiled already.
                bands[0].founded = Date(timeIntervalSinceReferenceDate: 0)
                let pending = try WorkCount.counting { try expect(context.fetch(request).count, equals: 1) }
                expect(pending.compilations, equals: 0)
                context.rollback()
            }
        }
    }

    @Test func aPredicateFindsAnObjectAlsoAfterASaveHasGivenItAnotherID() throws {
        try withMusic { context in
            let band = Band(context: context)
            band.name = "X"
            let album = Album(context: context)
            album.band = band
            let predicate = NSPredicate(format: "band == %@", band)
            expect([album].filtered(using: predicate), equals: [album])
            try context.save()
            expect([album].filtered(using: predicate), equals: [album])
            let request = NSFetchRequest<Album>()
            request.predicate = predicate
            try expect(context.fetch(request), equals: [album])
        }
    }

    @Test func aPredicateDoesNotKeepAStoreOrAModelAlive() throws {
        let predicate = NSPredicate(format: "ANY albums.title == 'a' AND SELF != nil")
        weak var model: NSManagedObjectModel?
        weak var coordinator: NSPersistentStoreCoordinator?
        weak var entity: NSEntityDescription?
        try autoreleased {
            let context = try Music.context()
            coordinator = context.persistentStoreCoordinator
            model = coordinator?.managedObjectModel
            entity = model?.entitiesByName["Band"]
            try context.performAndWait {
                let band = try context.saveBand("X", albums: ["a"])
                let request = NSFetchRequest<Band>()
                request.predicate = predicate
                try expect(context.fetch(request), equals: [band])
                expect([band].filtered(using: predicate), equals: [band])
            }
        }
        #expect(model == nil && coordinator == nil && entity == nil)
    }

    /// Everything that `body` makes is gone when it returns.
    private func autoreleased(_ body: () throws -> Void) rethrows { try body() }
}
