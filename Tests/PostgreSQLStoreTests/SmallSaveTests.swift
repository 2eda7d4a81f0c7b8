#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Small saves to PostgreSQL") struct SmallSaveTests {
    static func model() -> NSManagedObjectModel {
        let tag = NSEntityDescription(name: "Tag")
        tag.properties = [NSAttributeDescription(name: "label", type: .string), NSAttributeDescription(name: "rank", type: .integer64)]
        return NSManagedObjectModel(entities: [tag])
    }

    /// Contexts of two programs that hold the objects of one store.
    private struct World {
        let (mine, other): (NSManagedObjectContext, NSManagedObjectContext)

        init(_ labels: [String]) async throws {
            let options = freshOptions()
            mine = context(try await coordinator(options, SmallSaveTests.model()))
            other = context(try await coordinator(options, SmallSaveTests.model()))
            // An object that nobody holds would be read again, as others have changed it.
            for context in [mine, other] { await context.perform { context.retainsRegisteredObjects = true } }
            try await mine.perform { [mine] in
                for label in labels { mine.insert("Tag", ["label": label, "rank": 0]) }
                try mine.save()
            }
            for context in [mine, other] { _ = try await Self.tags(context) }
        }

        static func tags(_ context: NSManagedObjectContext) async throws -> [String] {
            try await context.perform {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
                request.returnsObjectsAsFaults = false
                request.shouldRefreshRefetchedObjects = true
                return try context.fetch(request).map { "\($0.value(forKey: "label") ?? "") \($0.value(forKey: "rank") ?? "")" }
            }
        }

        /// Edits an object that the context holds.
        static func edit(
            _ context: NSManagedObjectContext, _ label: String, _ edit: @escaping @Sendable (NSManagedObject) -> Void
        ) async throws {
            try await context.perform {
                // Asking the store would find what others have saved meanwhile.
                edit(try #require(context.registeredObjects.first { $0.value(forKey: "label") as? String == label }))
            }
        }
    }

    @Test("A save of a few objects, new, changed and deleted ones, is there for others") func mixture() async throws {
        let world = try await World(["a", "b", "c"])
        try await World.edit(world.mine, "a") { $0.setValue(1, forKey: "rank") }
        try await World.edit(world.mine, "b") { $0.managedObjectContext?.delete($0) }
        await world.mine.perform { [mine = world.mine] in _ = mine.insert("Tag", ["label": "d", "rank": 4]) }
        try await world.mine.saveAsynchronously()
        #expect(try await World.tags(world.other) == ["a 1", "c 0", "d 4"])
    }

    @Test(
        "A save of one object that another program has changed or deleted is a conflict, and saves nothing; as the merge policy says, it is done",
        arguments: [false, true], [false, true])
    func conflictOfOne(isDeletedThere: Bool, deletes: Bool) async throws {
        let world = try await World(["a", "b"])
        try await World.edit(world.other, "a") { isDeletedThere ? $0.managedObjectContext?.delete($0) : $0.setValue(7, forKey: "rank") }
        try await world.other.saveAsynchronously()
        try await World.edit(world.mine, "a") { deletes ? $0.managedObjectContext?.delete($0) : $0.setValue(1, forKey: "rank") }
        let error = await #expect(throws: NSError.self) { try await world.mine.saveAsynchronously() }
        expect(error?.code, equals: NSManagedObjectMergeError)
        #expect(try await World.tags(world.other) == (isDeletedThere ? ["b 0"] : ["a 7", "b 0"]))
        await world.mine.perform { [mine = world.mine] in mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        try await world.mine.saveAsynchronously()
        #expect(try await World.tags(world.other) == (deletes ? ["b 0"] : ["a 1", "b 0"]))
        // And once more, without others.
        try await World.edit(world.mine, "b") { deletes ? $0.managedObjectContext?.delete($0) : $0.setValue(2, forKey: "rank") }
        try await world.mine.saveAsynchronously()
        #expect(try await World.tags(world.other) == (deletes ? [] : ["a 1", "b 2"]))
    }

    @Test(
        "A save of a few objects of which another program has changed or deleted one is a conflict, and saves nothing",
        arguments: [false, true])
    func conflict(isDeleted: Bool) async throws {
        let world = try await World(["a", "b"])
        try await World.edit(world.other, "a") { isDeleted ? $0.managedObjectContext?.delete($0) : $0.setValue(7, forKey: "rank") }
        try await world.other.saveAsynchronously()
        try await World.edit(world.mine, "a") { $0.setValue(1, forKey: "rank") }
        try await World.edit(world.mine, "b") { $0.setValue(2, forKey: "rank") }
        await world.mine.perform { [mine = world.mine] in _ = mine.insert("Tag", ["label": "new", "rank": 3]) }
        let error = await #expect(throws: NSError.self) { try await world.mine.saveAsynchronously() }
        expect(error?.code, equals: NSManagedObjectMergeError)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        expect(conflicts?.count, equals: 1)
        expect(conflicts?.first?.persistedSnapshot?["rank"] as? Int, equals: (isDeleted ? nil : 7))
        #expect(try await World.tags(world.other) == (isDeleted ? ["b 0"] : ["a 7", "b 0"]))
        // The connection is as usable as before.
        await world.mine.perform { [mine = world.mine] in mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        try await world.mine.saveAsynchronously()
        #expect(try await World.tags(world.other) == ["a 1", "b 2", "new 3"])
    }

    @Test("A save that refers to an object which others have deleted fails at its commit, and saves nothing")
    func missingReference() async throws {
        let (folder, document) = (NSEntityDescription(name: "Folder"), NSEntityDescription(name: "Document"))
        let documents = NSRelationshipDescription(name: "documents", destination: document, toMany: true)
        let itsFolder = NSRelationshipDescription(name: "folder", destination: folder)
        itsFolder.inverse(to: documents)
        folder.properties = [NSAttributeDescription(name: "name", type: .string), documents]
        document.properties = [NSAttributeDescription(name: "size", type: .integer64), itsFolder]
        let model = NSManagedObjectModel(entities: [folder, document])
        let options = freshOptions()
        let (mine, other) = (context(try await coordinator(options, model)), context(try await coordinator(options, model)))
        await mine.perform { mine.retainsRegisteredObjects = true }
        try await mine.perform {
            mine.insert("Folder", ["name": "a"])
            try mine.save()
        }
        try await other.perform {
            for folder in try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Folder")) { other.delete(folder) }
            try other.save()
        }
        try await mine.perform {
            let folder = try #require(mine.registeredObjects.first)
            // The inverse is to many: only the new row refers to the one that is gone.
            mine.insert("Document", ["size": 1, "folder": folder])
            let error = #expect(throws: NSError.self) { try mine.save() }
            #expect([NSManagedObjectReferentialIntegrityError, NSManagedObjectMergeError].contains(error?.code))
            #expect(mine.hasChanges)
        }
        #expect(try await other.perform { try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Document")) } == 0)
        // The connection is as usable as before.
        try await mine.perform {
            mine.rollback()
            mine.insert("Document", ["size": 2])
            try mine.save()
        }
        #expect(try await other.perform { try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Document")) } == 1)
    }
}
#endif
