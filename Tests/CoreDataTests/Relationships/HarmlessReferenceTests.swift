import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

/// Saves that look as if a reference dangled, and lose nothing: none of them is refused.
@Suite("References that look dangling and lead somewhere") struct HarmlessReferenceTests {
    /// A parcel with a pointer that has no inverse, a code that may be unique, and a box with parcels.
    private static func model(isUnique: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        let parcel = NSEntityDescription(
            name: "Parcel",
            properties: [NSAttributeDescription(name: "code", type: .string), NSAttributeDescription(name: "note", type: .string)])
        let pointer = NSRelationshipDescription(name: "pointer", destination: parcel)
        let box = NSRelationshipDescription(name: "box", destination: parcel)
        let parcels = NSRelationshipDescription(name: "parcels", destination: parcel, toMany: true, isOrdered: true, deleteRule: rule)
        box.inverse(to: parcels)
        parcel.properties += [pointer, box, parcels]
        if isUnique { parcel.uniquenessConstraints = [["code"]] }
        return NSManagedObjectModel(entities: [parcel])
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.parent = parent
        return context
    }

    private func run(
        _ store: ProgramStore, _ model: NSManagedObjectModel = model(),
        _ body: (_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> Void
    ) throws {
        let coordinator = try store.coordinators(model)[0]
        defer { store.discard([coordinator]) }
        let context = context(coordinator)
        try context.performAndWait { try body(context, coordinator) }
    }

    private static let stores = [ProgramStore.inMemory, .atomic, .sqlite, .incremental, .server]

    /// What another context reads: each parcel with the one that its pointer leads to, and with its box.
    private func stored(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = context(coordinator)
        return try context.performAndWait {
            try context.all("Parcel").map { parcel in
                let related = ["pointer", "box"].map { key in
                    ((parcel.value(forKey: key) as? NSManagedObject)?.value(forKey: "code") as? String) ?? "-"
                }
                return "\(parcel.value(forKey: "code") ?? "-") \(related[0]) \(related[1])"
            }.sorted()
        }
    }

    @Test("A new object that gives way is replaced by the one that stays", arguments: [ProgramStore.inMemory, .sqlite])
    func givenWay(_ store: ProgramStore) throws {
        try run(store, Self.model(isUnique: true)) { context, coordinator in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = context.insert("Parcel", ["code": "a"])
            try context.save()
            context.reset()
            let twin = context.insert("Parcel", ["code": "a", "note": "new"])
            let owner = context.insert("Parcel", ["code": "b", "pointer": twin, "box": twin])
            try context.save()
            try expect(stored(coordinator), equals: ["a - -", "b a a"])
            // Its ID leads to the one that stays, also in a later save.
            let late = context.insert("Parcel", ["code": "c"])
            let kept = context.object(with: twin.objectID)
            late.setValue(kept, forKey: "pointer")
            owner.setValue("changed", forKey: "note")
            try context.save()
            try expect(stored(coordinator), equals: ["a - -", "b a a", "c a -"])
        }
    }

    @Test("What is undone and done again is there", arguments: stores)
    func undo(_ store: ProgramStore) throws {
        try run(store) { context, coordinator in
            context.undoManager = UndoManager()
            let target = context.insert("Parcel", ["code": "a"])
            let owner = context.insert("Parcel", ["code": "b", "pointer": target, "box": target])
            try context.save()
            context.processPendingChanges()
            context.undoManager?.removeAllActions()
            context.delete(target)
            context.processPendingChanges()
            expect(failure { try context.save() }?.code, equals: nil)
            context.undo()
            try context.save()
            try expect(stored(coordinator), equals: ["a - -", "b a a"])
            #expect(owner.value(forKey: "pointer") as? NSManagedObject === target)
        }
    }

    @Test("A child refers to what its parents have not saved, and to what it has saved to them", arguments: stores)
    func unsavedInParents(_ store: ProgramStore) throws {
        try run(store) { root, coordinator in
            let target = root.insert("Parcel", ["code": "a"])
            let early = root.insert("Parcel", ["code": "e"])
            // A server gives no IDs early.
            if store.name != ProgramStore.server.name { try root.obtainPermanentIDs(for: [early]) }
            let middle = child(of: root)
            let leaf = child(of: middle)
            try leaf.performAndWait {
                _ = leaf.insert(
                    "Parcel", ["code": "b", "pointer": leaf.object(with: target.objectID), "box": leaf.object(with: early.objectID)])
                try leaf.save()
                let sent = try #require(leaf.all("Parcel").first { $0.value(forKey: "code") as? String == "b" })
                _ = leaf.insert("Parcel", ["code": "c", "pointer": sent, "box": sent])
                try leaf.save()
            }
            try middle.performAndWait { try middle.save() }
            try root.save()
            try expect(stored(coordinator), equals: ["a - -", "b a e", "c b b", "e - -"])
        }
    }

    @Test("A parent that has deleted the target clears the reference of its child", arguments: stores)
    func deletedByTheParent(_ store: ProgramStore) throws {
        try run(store) { root, coordinator in
            let target = root.insert("Parcel", ["code": "a"])
            try root.save()
            let child = child(of: root)
            try child.performAndWait {
                let target = child.object(with: target.objectID)
                expect(target.value(forKey: "code") as? String, equals: "a")
                root.performAndWait { root.delete(root.object(with: target.objectID)) }
                _ = child.insert("Parcel", ["code": "b", "pointer": target, "box": target])
                try child.save()
            }
            try root.save()
            try expect(stored(coordinator), equals: ["b - -"])
        }
    }

    @Test(
        "What others have deleted is taken out of a relationship with an inverse when it is merged",
        arguments: [ProgramStore.inMemory, .sqlite])
    func deletedByOthers(_ store: ProgramStore) throws {
        try run(store) { context, coordinator in
            let target = context.insert("Parcel", ["code": "a"])
            try context.save()
            let owner = context.insert("Parcel", ["code": "b", "box": target])
            let other = self.context(coordinator)
            try other.performAndWait {
                other.delete(other.object(with: target.objectID))
                let observer = NotificationCenter.default.addObserver(
                    forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
                ) { context.mergeChanges(fromContextDidSave: $0) }
                defer { NotificationCenter.default.removeObserver(observer) }
                try other.save()
            }
            #expect(owner.value(forKey: "box") == nil)
            try context.save()
            try expect(stored(coordinator), equals: ["b - -"])
        }
    }

    @Test("A denied deletion that is taken back leaves what can be saved", arguments: stores)
    func denied(_ store: ProgramStore) throws {
        try run(store, Self.model(rule: .denyDeleteRule)) { context, coordinator in
            let box = context.insert("Parcel", ["code": "a"])
            _ = context.insert("Parcel", ["code": "b", "box": box])
            try context.save()
            context.delete(box)
            #expect(failure { try context.save() } != nil)
            context.rollback()
            _ = context.insert("Parcel", ["code": "c", "box": context.object(with: box.objectID)])
            try context.save()
            try expect(stored(coordinator), equals: ["a - -", "b - a", "c - a"])
        }
    }

    @Test("What an asynchronous save is writing can be referred to by the next", arguments: [ProgramStore.inMemory, .sqlite, .server])
    func asynchronously(_ store: ProgramStore) async throws {
        let coordinator = try store.coordinators(Self.model())[0]
        defer { store.discard([coordinator]) }
        let root = context(coordinator)
        let contexts = [child(of: root), root]
        let target = contexts[0].performAndWait { contexts[0].insert("Parcel", ["code": "a"]) }
        for context in contexts {
            async let saved: Void = context.saveAsynchronously()
            await context.perform {
                let target = context.object(with: target.objectID)
                _ = context.insert("Parcel", ["code": context === root ? "c" : "b", "pointer": target, "box": target])
            }
            try await saved
            try await context.saveAsynchronously()
        }
        try await root.saveAsynchronously()
        try expect(stored(coordinator), equals: ["a - -", "b a a", "c a a"])
    }
}
