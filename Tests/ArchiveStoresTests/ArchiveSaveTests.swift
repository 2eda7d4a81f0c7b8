import CoreData
import Foundation
import TestSupport
import Testing

/// What a save to an archive refuses, and what it leaves as it is.
@Suite("Saving to archives") struct ArchiveSaveTests {
    @Test("A reference to an object in no context is an error that names both", arguments: ArchiveKind.allCases)
    func danglingReference(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        try Library.open(kind, folder.file("store")).run { (context: NSManagedObjectContext) throws in
            let shelf = context.add("Shelf", ["name": "a"])
            let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
            let book = NSManagedObject(entity: try #require(model.entitiesByName["Book"]), insertInto: nil)
            shelf.setValue(Set([book]), forKey: "books")
            do {
                try context.save()
                Issue.record("The save succeeds.")
            } catch let error as NSError {
                expect(error.code, equals: NSManagedObjectValidationError)
                expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? [], equals: [shelf, book])
            }
            context.insert(book)
            try context.save()
            try expect(context.all("Book"), equals: [book])
        }
    }

    @Test("An upsert sets what the program has set, also from children", arguments: ArchiveKind.allCases, 0...2)
    func upsert(_ kind: ArchiveKind, _ depth: Int) throws {
        let folder = try Folder()
        let url = folder.file("store")
        func model() -> NSManagedObjectModel {
            let model = Library.model()
            model.entitiesByName["Book"]?.uniquenessConstraints = [["title"]]
            model.entitiesByName["Book"]?.attributesByName["copies"]?.defaultValue = 1
            return model
        }
        var contexts = [try Library.open(kind, url, model())]
        try contexts[0].run { (context: NSManagedObjectContext) throws in
            context.add("Book", ["title": "Solaris", "pageCount": 200, "copies": 3, "rating": Float(4)])
            try context.save()
            context.reset()
        }
        for _ in 0..<depth {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = contexts.last
            contexts.append(child)
        }
        for context in contexts { context.performAndWait { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump } }
        for (index, context) in contexts.enumerated().reversed() {
            try context.run { (context: NSManagedObjectContext) throws in
                if index == depth { context.add("Book", ["title": "Solaris", "pageCount": 204]) }
                try context.save()
            }
        }
        try Library.open(kind, url, model()).run { (context: NSManagedObjectContext) throws in
            let books = try context.all("Book")
            expect(books.map { $0.value(forKey: "pageCount") as? Int }, equals: [204])
            expect(books.map { $0.value(forKey: "copies") as? Int }, equals: [3])
            expect(books.map { $0.value(forKey: "rating") as? Float }, equals: [4])
        }
    }
}
