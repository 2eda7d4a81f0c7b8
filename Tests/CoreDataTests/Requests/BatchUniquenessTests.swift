import CoreData
import TestSupport
import Testing

@Suite("Batch requests and uniqueness constraints") struct BatchUniquenessTests {
    private func withTags(_ policy: NSMergePolicy, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let model = Music.model()
        model.entitiesByName["Album"]!.uniquenessConstraints = [["title"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        context.mergePolicy = policy
        try context.performAndWait {
            let album = Album(context: context)
            (album.title, album.year, album.rating) = ("A", 1999, 5)
            try context.save()
            context.reset()
            try body(context)
        }
    }

    private func shown(_ context: NSManagedObjectContext) throws -> [String] {
        context.reset()
        return try context.all(Album.self, by: "title").map { "\($0.title) \($0.year) \($0.rating ?? -1)" }
    }

    private let objects: [[String: Any]] = [["title": "B", "year": 1], ["title": "A", "year": 2], ["title": "B", "rating": 9.0]]

    @Test(
        "An insert of values that are taken does what the merge policy says",
        arguments: [
            (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, ["A 1999 5.0", "B 1 -1.0"]),
            (.rollbackMergePolicyType, ["A 1999 5.0", "B 1 -1.0"]), (.mergeByPropertyObjectTrumpMergePolicyType, ["A 2 5.0", "B 1 9.0"]),
            (.overwriteMergePolicyType, ["A 2 -1.0", "B 2001 9.0"]),
        ])
    func settled(_ type: NSMergePolicyType, _ wanted: [String]) throws {
        try withTags(NSMergePolicy(merge: type)) { context in
            try context.execute(NSBatchInsertRequest(entityName: "Album", objects: objects))
            let found = try shown(context)
            expect(found, equals: wanted)
        }
    }

    @Test("Without a policy it is an error, and nothing is inserted")
    func refused() throws {
        try withTags(.error) { context in
            let error = failure { try context.execute(NSBatchInsertRequest(entityName: "Album", objects: objects)) }
            expect(error?.code, equals: NSManagedObjectConstraintMergeError)
            let found = try shown(context)
            expect(found, equals: ["A 1999 5.0"])
        }
    }

    @Test("An update that would share values is an error, and nothing is updated")
    func update() throws {
        try withTags(.overwrite) { context in
            try context.execute(NSBatchInsertRequest(entityName: "Album", objects: [["title": "B"]]))
            let request = NSBatchUpdateRequest(entityName: "Album")
            request.propertiesToUpdate = ["title": "C"]
            expect(failure { try context.execute(request) }?.code, equals: NSManagedObjectConstraintMergeError)
            try expect(shown(context), equals: ["A 1999 5.0", "B 2001 -1.0"])
            request.predicate = NSPredicate(format: "title == 'B'")
            try context.execute(request)
            try expect(shown(context), equals: ["A 1999 5.0", "C 2001 -1.0"])
        }
    }

    @Test("What a batch has inserted, renamed or deleted counts for the constraints of a save")
    func later() throws {
        try withTags(.error) { context in
            // The constraints have been looked at before the batch.
            try context.execute(NSBatchInsertRequest(entityName: "Album", objects: [["title": "B"]]))
            Album(context: context).title = "B"
            expect(failure { try context.save() }?.code, equals: NSManagedObjectConstraintMergeError)
            context.rollback()
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Album"))
            try context.execute(delete)
            Album(context: context).title = "B"
            try context.save()
            try expect(shown(context), equals: ["B 2001 -1.0"])
        }
    }
}
