import CoreData
import TestSupport
import Testing

/// What those read who have made one of the mistakes that everybody makes once: the name of what is wrong, and what to do.
@Suite("Typical mistakes") struct MistakeTests {
    /// Something that is wrong, and what its error is to say.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The code of the error; nil for an error of a predicate, which has none of Apple's.
        let code: Int?
        let words: [String]
        let make: @Sendable (NSManagedObjectContext) throws -> Void

        init(_ name: String, _ code: Int?, _ words: String..., make: @escaping @Sendable (NSManagedObjectContext) throws -> Void) {
            (testDescription, self.code, self.words, self.make) = (name, code, words, make)
        }
    }

    private static func request(_ format: String, _ arguments: [Any] = []) -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return request
    }

    private static let inObjects = [
        Mistake("a number in a text", 1550, "“Album.title”", "42", "it is of type Int, not a string") { context in
            Album(context: context).setValue(42, forKey: "title")
            try context.save()
        },
        Mistake("a text in a number", 1550, "“Album.year”", "it is of type String, not a 16-bit integer") { context in
            Album(context: context).setValue("1969", forKey: "year")
            try context.save()
        },
        Mistake("a number that is too large", 1550, "“Album.year”", "40000", "it does not fit into a 16-bit integer") { context in
            Album(context: context).setValue(40_000, forKey: "year")
            try context.save()
        },
        Mistake("a text in a relationship", 1550, "“Album.band”", "it is of type String, not one managed object") { context in
            Album(context: context).setValue("Can", forKey: "band")
            try context.save()
        },
        Mistake("a value that is missing", 1570, "“Band.name” has no value, and is not optional.", "Set it before saving") { context in
            _ = Band(context: context)
            try context.save()
        },
        Mistake("an object of another context", 1550, "“Album.band”", "context") { context in
            let other = Music.context(try #require(context.persistentStoreCoordinator))
            let band = try other.performAndWait { try other.saveBand("Can") }
            Album(context: context).band = band
            try context.save()
        },
        Mistake("an object that was never saved", 133_000, "It was never saved.", "Save the object") { context in
            let other = Music.context(try #require(context.persistentStoreCoordinator))
            _ = try other.existingObject(with: Album(context: context).objectID)
        },
        Mistake("no store", 134_070, "There is no store for “Album”.", "The coordinator has no stores.", "Add a store") { _ in
            let context = Music.context(NSPersistentStoreCoordinator(managedObjectModel: Music.model()))
            try context.performAndWait { _ = try context.fetch(NSFetchRequest<Album>(entityName: "Album")) }
        },
    ]

    private static let inRequests = [
        Mistake("a key that is misspelled in a predicate", nil, "Album has no property named \"titel\"", "titel == \"x\"") {
            _ = try $0.fetch(request("titel == 'x'"))
        },
        Mistake("a key that is misspelled behind a relationship", nil, "Band has no property named \"nme\"") {
            _ = try $0.fetch(request("band.nme == 'x'"))
        },
        Mistake("a key that is misspelled in an order", nil, "titel", "Album") { context in
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.sortDescriptors = [NSSortDescriptor(key: "titel", ascending: true)]
            _ = try context.fetch(request)
        },
        Mistake("a sign too many", nil, "Expected an expression, found \"=\"\n  title = = 'x'\n          ^") {
            _ = try $0.fetch(request("title = = 'x'"))
        },
        Mistake("a bracket too few", nil, "Expected \"]\", found a string\n  title CONTAINS[c 'x'\n") {
            _ = try $0.fetch(request("title CONTAINS[c 'x'"))
        },
        Mistake("an argument too few", nil, "%d", "title == %@ AND year == %d") {
            _ = try $0.fetch(request("title == %@ AND year == %d", ["x"]))
        },
        Mistake("an entity that is misspelled", 134_060, "Albm", "Its entities are: Album, Band, Duo, Tag, Track.") {
            _ = try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Albm"))
        },
        Mistake("another class than the entity's", 134_060, "The fetched Album is no Band.", "managedObjectClassName") { context in
            _ = Album(context: context)
            _ = try context.fetch(NSFetchRequest<Band>(entityName: "Album"))
        },
        Mistake("a controller without an order", 134_060, "Its fetch request has no sort descriptors.", "Set sortDescriptors") { context in
            let request = NSFetchRequest<Album>(entityName: "Album")
            try NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil
            ).performFetch()
        },
    ]

    private static let inFiles = [
        Mistake("a folder that cannot be made", 260, "/proc/nowhere/Music.sqlite", "Check the URL") { _ in
            try NSPersistentStoreCoordinator(managedObjectModel: Music.model()).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/proc/nowhere/Music.sqlite"))
        },
        Mistake("an address of the web", 134_080, "example.com/Music.sqlite", "Its place must be a file.") { _ in
            try NSPersistentStoreCoordinator(managedObjectModel: Music.model()).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(string: "http://example.com/Music.sqlite"))
        },
        Mistake("a file of another kind", 259, "no-database.txt", "file is not a database", "Restore the file") { _ in
            let folder = try ScratchFolder("mistakes")
            let file = folder.file("no-database.txt")
            try Data(String(repeating: "text ", count: 400).utf8).write(to: file)
            try NSPersistentStoreCoordinator(managedObjectModel: Music.model()).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        },
        Mistake("a store of another model", 134_100, "music.sqlite", "These entities differ: Tag.", "migrate it") { _ in
            let folder = try ScratchFolder("mistakes")
            let file = folder.file("music.sqlite")
            let first = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
            try first.remove(first.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file))
            let model = Music.model()
            model.entitiesByName["Tag"]?.properties.append(NSAttributeDescription(name: "colour", type: .string))
            try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: [NSMigratePersistentStoresAutomaticallyOption: false])
        },
    ]

    @Test("are told by name, with what to do", arguments: inObjects + inRequests + inFiles)
    func told(_ mistake: Mistake) throws {
        try withMusic { context in
            let thrown = #expect(throws: (any Error).self) { try mistake.make(context) }
            let error = try #require(thrown)
            if let code = mistake.code { expect((error as NSError).code, equals: code) } else { #expect(error is InvalidPredicateError) }
            let text = error.localizedDescription
            for word in mistake.words { #expect(text.contains(word), "\(text)") }
            #expect(!text.contains("Optional"), "\(text)")
        }
    }

    private func isTold(_ words: String, _ result: ExitTest.Result?) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(words), "\(text.prefix(2000))")
    }

    @Test("that stop the program are told before") func stops() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withMusic { Band(context: $0).setValue("x", forKey: "nmae") }
        }
        isTold("The entity “Band” has no property “nmae”. Its properties: ", result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withMusic { _ = NSEntityDescription.insertNewObject(forEntityName: "Bnad", into: $0) }
        }
        isTold("There is no entity “Bnad” in the context's model, which has: Album, Band, Duo, Tag, Track.", result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withMusic { _ = Band(context: $0)[ManagedProperty<Int64>("name")] }
        }
        isTold("“Band.name” cannot be read as Int64: the model gives it another type.", result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let coordinator = try Music.coordinator()
            coordinator.managedObjectModel.entities[0].properties.append(NSAttributeDescription(name: "late", type: .string))
        }
        isTold("cannot be changed: its model is in use by a coordinator. Change a copy of the model.", result)
    }
}
