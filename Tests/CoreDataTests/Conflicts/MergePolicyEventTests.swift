import CoreData
import TestSupport
import Testing

@Suite("The notifications of a merge policy to the objects whose conflicts it resolves") struct MergePolicyEventTests {
    /// A scrap that both contexts have read with the text "old"; the first has saved `theirs` since.
    private func race(
        _ theirs: (Scrap) -> Void, _ mine: (NSManagedObjectContext, Scrap) throws -> Void
    ) throws {
        let coordinator = try Scraps.coordinator()
        let (first, second) = (Music.context(coordinator), Music.context(coordinator))
        let id = try first.performAndWait {
            let scrap = Scrap(context: first)
            scrap[Scrap.textProperty] = "old"
            try first.save()
            return scrap.objectID
        }
        let scrap = try second.performAndWait { try #require(try second.existingObject(with: id) as? Scrap) }
        try first.performAndWait {
            theirs(try #require(try first.existingObject(with: id) as? Scrap))
            try first.save()
        }
        try second.performAndWait { try mine(second, scrap) }
    }

    @Test(
        "An object whose conflict a policy has resolved is notified once",
        arguments: [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .overwriteMergePolicyType,
            .rollbackMergePolicyType,
        ])
    func settled(_ type: NSMergePolicyType) throws {
        try race({ $0[Scrap.textProperty] = "theirs" }) { context, scrap in
            context.mergePolicy = NSMergePolicy(merge: type)
            scrap[Scrap.textProperty] = "mine"
            expect(scrap.snapshotEvents, equals: [])
            try context.save()
            expect(scrap.snapshotEvents, equals: [.mergePolicy])
            let wins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
            expect(scrap[Scrap.textProperty], equals: (wins ? "mine" : "theirs"))
        }
    }

    @Test("An object whose conflict is an error is told nothing, nor is one that goes with its row")
    func unsettled() throws {
        try race({ $0[Scrap.textProperty] = "theirs" }) { context, scrap in
            scrap[Scrap.textProperty] = "mine"
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            expect(scrap.snapshotEvents, equals: [])
        }
        try race({ $0.managedObjectContext?.delete($0) }) { context, scrap in
            context.mergePolicy = NSMergePolicy.rollback
            scrap[Scrap.textProperty] = "mine"
            try context.save()
            expect(scrap.snapshotEvents, equals: [])
        }
    }

    @Test("Values set while awaking are saved with the rest")
    func awakingSets() throws {
        final class Policy: NSMergePolicy, @unchecked Sendable {
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                try super.resolve(optimisticLockingConflicts: list)
                for conflict in list { conflict.sourceObject.setValue("settled", forKey: "note") }
            }
        }
        try race({ $0[Scrap.textProperty] = "theirs" }) { context, scrap in
            context.mergePolicy = Policy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
            scrap[Scrap.textProperty] = "mine"
            try context.save()
            let other = Music.context(context.persistentStoreCoordinator!)
            try other.performAndWait {
                let stored = try #require(try other.existingObject(with: scrap.objectID) as? Scrap)
                expect(stored.value(forKey: "note") as? String, equals: "settled")
                expect(stored[Scrap.textProperty], equals: "theirs")
            }
        }
    }

    @Test(
        "A saved object that takes over what a new one brings, or gives its own up, is told",
        arguments: [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType])
    func constraints(_ type: NSMergePolicyType) throws {
        let model = Scraps.model()
        model.entitiesByName["Scrap"]!.uniquenessConstraints = [["text"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let saved = Scrap(context: context)
            saved[Scrap.textProperty] = "a"
            let other = Scrap(context: context)
            other[Scrap.textProperty] = "b"
            try context.save()
            context.mergePolicy = NSMergePolicy(merge: type)
            if type == .mergeByPropertyObjectTrumpMergePolicyType {
                let new = Scrap(context: context)
                new[Scrap.textProperty] = "a"
                new[Scrap.smallProperty] = 7
                try context.save()
                expect(saved[Scrap.smallProperty], equals: 7)
                expect(saved.snapshotEvents, equals: [.mergePolicy])
            } else {
                other[Scrap.textProperty] = "a"
                try context.save()
                expect(other[Scrap.textProperty], equals: "b")
                expect(other.snapshotEvents, equals: [.mergePolicy])
                expect(saved.snapshotEvents, equals: [])
            }
        }
    }

    @Test("Text of other Unicode scalars is another value: the store's wins where the store has changed it so")
    func scalars() throws {
        for (old, new) in [("\u{e9}", "e\u{301}"), ("e\u{301}", "\u{e9}"), ("\u{212b}", "\u{c5}")] {
            let coordinator = try Scraps.coordinator()
            let (first, second) = (Music.context(coordinator), Music.context(coordinator))
            let id = try first.performAndWait {
                let scrap = Scrap(context: first)
                scrap[Scrap.textProperty] = old
                try first.save()
                return scrap.objectID
            }
            let scrap = try second.performAndWait { try #require(try second.existingObject(with: id) as? Scrap) }
            try first.performAndWait {
                (try first.existingObject(with: id) as? Scrap)?[Scrap.textProperty] = new
                try first.save()
            }
            try second.performAndWait {
                second.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
                scrap[Scrap.textProperty] = "mine"
                try second.save()
                expect(scrap[Scrap.textProperty].map { Array($0.unicodeScalars) }, equals: Array(new.unicodeScalars))
            }
        }
    }
}
