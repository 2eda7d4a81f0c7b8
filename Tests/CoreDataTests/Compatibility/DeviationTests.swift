import CoreData
import TestSupport
import Testing

/// Entries of `Documentation/Deviations.md` that no other test shows.
@Suite("Differences from Apple's framework") struct DeviationTests {
    private final class Titled: NSManagedObject {
        let madeBy: String
        var title: String? { "the accessor's" }

        required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            madeBy = "the initializer"
            super.init(entity: entity, insertInto: context)
        }
    }

    private typealias NSExpression = Predicates.NSExpression

    @Test("Fetched objects are made by the required initializer, and a value by key is the stored one")
    func initializerAndValues() throws {
        let entity = NSEntityDescription(
            name: "Titled", managedObjectClass: Titled.self, properties: [NSAttributeDescription(name: "title", type: .string)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let writer = Music.context(coordinator)
        try writer.performAndWait {
            Titled(context: writer).setValue("stored", forKey: "title")
            try writer.save()
        }
        let reader = Music.context(coordinator)
        try reader.performAndWait {
            let found = try #require(try reader.fetch(NSFetchRequest<Titled>(entityName: "Titled")).first)
            expect(found.madeBy, equals: "the initializer")
            #expect(found.title == "the accessor's" && found.value(forKey: "title") as? String == "stored")
        }
    }

    @Test("The classes belong to a module that CoreData exports, and merge policies have their type")
    func names() {
        expect(String(reflecting: NSManagedObject.self), equals: "ObjectGraph.NSManagedObject")
        #expect(CoreData.NSManagedObject.self == NSManagedObject.self)
        let policies: [NSMergePolicy] = [
            NSErrorMergePolicy, NSRollbackMergePolicy, NSOverwriteMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
            NSMergeByPropertyStoreTrumpMergePolicy,
        ]
        expect(Set(policies.map(\.mergeType)).count, equals: 5)
    }

    @Test("Foundation's compound predicates are printed by formatString")
    func formats() {
        let parts = [NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2")]
        expect(NSCompoundPredicate(andPredicateWithSubpredicates: parts).formatString, equals: "a == 1 AND b == 2")
    }

    @Test("Integers are divided as in SQL, and a random number needs a bound")
    func calculations() throws {
        try expect(NSExpression(parsing: "7 / 2").value(with: nil, context: nil) as? Int, equals: 3)
        #expect(throws: InvalidPredicateError.self) { try NSExpression(parsing: "random:(0)").value(with: nil, context: nil) }
    }

    @Test("Inserting an object that was deleted does not undelete it")
    func insertingDeleted() throws {
        try withMusic { context in
            let band = try context.saveBand("Low")
            context.delete(band)
            context.insert(band)
            #expect(band.isDeleted)
            try context.save()
            let count = try context.count(for: NSFetchRequest<Band>(entityName: "Band"))
            expect(count, equals: 0)
        }
    }

    @Test("A change through the inverse leaves an object a fault")
    func changedFaults() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            context.refresh(band, mergeChanges: false)
            let album = Album(context: context)
            album.title = "Hey What"
            album.band = band
            #expect(band.isFault && band.hasChanges)
            expect(band.albums.count, equals: 2)
        }
    }

    @Test("With an undo manager, a deletion reads the relationships of the object, so that they can be restored")
    func deletionsWithUndo() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let tag = Tag(context: context)
            tag.label = "slow"
            album.tags = [tag]
            try context.save()
            context.reset()
            context.undoManager = UndoManager()
            let again = try #require(try context.all(Album.self).first)
            #expect(again.hasFault(forRelationshipNamed: "tags"))
            context.delete(again)
            context.processPendingChanges()
            #expect(!again.hasFault(forRelationshipNamed: "tags"))
            context.undo()
            #expect(again.tags.map(\.label) == ["slow"] && again.band?.name == "Low")
        }
    }

    @Test("Dictionary results show saved values only")
    func dictionaries() throws {
        try withMusic { context in
            let band = try context.saveBand("Low")
            band.name = "Lower"
            let request = NSFetchRequest<NSDictionary>(entityName: "Band")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
            let found = try context.fetch(request)
            expect(found.map { $0["name"] as? String }, equals: ["Low"])
        }
    }

    @Test("A model of several versions without a current one is an error that lists them, and is read by the name of a version")
    func versions() throws {
        let pad = try Scratchpad()
        let folder = pad.url.appendingPathComponent("Notes.xcdatamodeld")
        for name in ["Notes", "Notes 2"] {
            let note = NSEntityDescription(name: "Note", properties: [NSAttributeDescription(name: name, type: .string)])
            try NSManagedObjectModel(entities: [note]).write(toXCDataModel: folder.appendingPathComponent("\(name).xcdatamodel"))
        }
        let error = try #require(failure { _ = try NSManagedObjectModel(reading: folder) })
        #expect(error.code == 260 && error.localizedDescription.contains("Notes 2"))
        let model = try NSManagedObjectModel(reading: folder, version: "Notes 2")
        expect(model.entitiesByName["Note"]?.attributesByName.keys.map { $0 }, equals: ["Notes 2"])
    }

    @Test("Models are equal by their contents, entities and properties by identity")
    func equality() {
        let (one, other) = (Music.model(), Music.model())
        #expect(one.isEqual(other) && one.entitiesByName["Band"] != other.entitiesByName["Band"])
        #expect(one.entitiesByName["Band"]?.propertiesByName["name"] != other.entitiesByName["Band"]?.propertiesByName["name"])
    }

    @Test("Values of external binary data are not in tombstones")
    func tombstones() throws {
        let pad = try Scratchpad()
        let picture = NSAttributeDescription(name: "picture", type: .binaryData)
        picture.allowsExternalBinaryDataStorage = true
        let title = NSAttributeDescription(name: "title", type: .string)
        for attribute in [picture, title] { attribute.preservesValueInHistoryOnDeletion = true }
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Note", properties: [picture, title])])
        let context = try pad.context(model, options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        try context.performAndWait {
            let note = context.insert("Note", ["title": "t", "picture": Data(repeating: 1, count: 200_000)])
            try context.save()
            context.delete(note)
            try context.save()
            let result =
                try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) as? NSPersistentHistoryResult
            let change = try #require((result?.result as? [NSPersistentHistoryTransaction])?.last?.changes?.first)
            expect(change.tombstone?.keys.map { "\($0)" }, equals: ["title"])
        }
    }
}
