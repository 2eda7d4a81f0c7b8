import CoreData
import TestSupport
import Testing

@Suite("Uniqueness constraints") struct ConstraintTests {
    enum StoreKind: CaseIterable { case inMemory, atomic }

    private static func music() -> NSManagedObjectModel {
        let model = Music.model()
        model.entitiesByName["Tag"]!.uniquenessConstraints = [["label"]]
        model.entitiesByName["Band"]!.uniquenessConstraints = [["name"]]
        let album = model.entitiesByName["Album"]!
        album.uniquenessConstraints = [[album.attributesByName["title"]!, "year"]]
        return model
    }

    /// Runs `body` in a context of a new store whose tags, bands and albums are unique.
    private func withStore(_ kind: StoreKind, _ policy: NSMergePolicy = .error, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.music())
        switch kind {
        case .inMemory: try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        case .atomic:
            NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.typeName)
            try coordinator.addPersistentStore(
                ofType: ListStore.typeName, configurationName: nil, at: nil, options: ["disk": FakeDisk()])
        }
        let context = Music.context(coordinator)
        context.mergePolicy = policy
        try context.performAndWait { try body(context) }
    }

    private func tag(_ label: String?, _ context: NSManagedObjectContext) -> Tag {
        let tag = Tag(context: context)
        tag.label = label
        return tag
    }

    /// What another context reads.
    private func stored<Value>(_ context: NSManagedObjectContext, _ read: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let other = Music.context(context.persistentStoreCoordinator!)
        return try other.performAndWait { try read(other) }
    }

    private func labels(_ context: NSManagedObjectContext) throws -> [String?] {
        try stored(context) { try $0.all(Tag.self).map(\.label).sorted { ($0 ?? "") < ($1 ?? "") } }
    }

    @Test("A value that a stored object has is refused with code 133021, the constraint and both objects", arguments: StoreKind.allCases)
    func refusedByStored(_ kind: StoreKind) throws {
        try withStore(kind) { context in
            let first = tag("slow", context)
            try context.save()
            let second = tag("slow", context)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectConstraintMergeError)
            expect(error.code, equals: 133021)
            let conflict = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
            expect(conflict.constraint, equals: ["label"])
            expect(conflict.constraintValues["label"] as? String, equals: "slow")
            #expect(conflict.databaseObject === first)
            expect(conflict.databaseSnapshot?["label"] as? String, equals: "slow")
            expect(conflict.conflictingObjects, equals: [second])
            expect(conflict.conflictingSnapshots.map { $0["label"] as? String }, equals: ["slow"])
            expect(context.insertedObjects, equals: [second])
            second.label = "slower"
            try context.save()
            try expect(labels(context), equals: ["slow", "slower"])
        }
    }

    @Test("Two objects of one save are refused as well; nil conflicts with nothing", arguments: StoreKind.allCases)
    func refusedWithinSave(_ kind: StoreKind) throws {
        try withStore(kind) { context in
            _ = [tag(nil, context), tag(nil, context)]
            try context.save()
            let twins = Set([tag("slow", context), tag("slow", context)])
            let error = try #require(failure { try context.save() })
            let conflict = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
            #expect(conflict.databaseObject == nil)
            expect(Set(conflict.conflictingObjects), equals: twins)
            context.rollback()
            _ = tag(nil, context)
            try context.save()
            try expect(labels(context), equals: [nil, nil, nil])
        }
    }

    @Test("A constraint over several attributes wants them to differ together", arguments: StoreKind.allCases)
    func compound(_ kind: StoreKind) throws {
        try withStore(kind) { context in
            for year in [2001, 2002] as [Int16] {
                let album = Album(context: context)
                album.title = "Trust"
                album.year = year
            }
            try context.save()
            let album = try #require(try context.all(Album.self, "year == 2001").first)
            album.year = 2002
            expect(failure { try context.save() }?.code, equals: NSManagedObjectConstraintMergeError)
            album.title = "Distrust"
            try context.save()
        }
    }

    @Test("Values may change hands within one save, and become free by deletion", arguments: StoreKind.allCases)
    func swap(_ kind: StoreKind) throws {
        try withStore(kind) { context in
            let (first, second) = (tag("a", context), tag("b", context))
            try context.save()
            (first.label, second.label) = ("b", "a")
            try context.save()
            try expect(labels(context), equals: ["a", "b"])
            context.delete(first)
            second.label = "b"
            _ = tag("a", context)
            try context.save()
            try expect(labels(context), equals: ["a", "b"])
            context.delete(second)
            try context.save()
            _ = tag("b", context)
            try context.save()
            try expect(labels(context), equals: ["a", "b"])
        }
    }

    @Test("A subentity's objects are held to the constraint together with those of the entity above", arguments: StoreKind.allCases)
    func inherited(_ kind: StoreKind) throws {
        try withStore(kind) { context in
            _ = context.insert("Band", ["name": "Low"])
            try context.save()
            _ = context.insert("Duo", ["name": "Low"])
            expect(failure { try context.save() }?.code, equals: NSManagedObjectConstraintMergeError)
        }
    }

    @Test(
        "Where this context wins, the stored object takes what was set on the new one, which goes; its identity and the rest stay",
        arguments: StoreKind.allCases)
    func upsert(_ kind: StoreKind) throws {
        try withStore(kind, .mergeByPropertyObjectTrump) { context in
            let old = context.insert("Band", ["name": "Low", "founded": Date(timeIntervalSinceReferenceDate: 0)]) as! Band
            let first = Album(context: context)
            first.band = old
            try context.save()
            let new = context.insert("Band", ["name": "Low"]) as! Band
            let second = Album(context: context)
            second.year = 2013
            second.band = new
            try context.save()
            #expect(new.managedObjectContext == nil)
            #expect(second.band === old)
            #expect(!context.hasChanges)
            try stored(context) { other in
                let bands = try other.all(Band.self)
                expect(bands.map(\.objectID), equals: [old.objectID])
                expect(bands[0].albums.count, equals: 2)
                expect(bands[0].founded, equals: Date(timeIntervalSinceReferenceDate: 0))
            }
        }
    }

    @Test("Overwrite takes every attribute of the new object")
    func overwrite() throws {
        try withStore(.inMemory, .overwrite) { context in
            let old = context.insert("Band", ["name": "Low", "founded": Date(timeIntervalSinceReferenceDate: 0)]) as! Band
            try context.save()
            _ = context.insert("Band", ["name": "Low"])
            try context.save()
            #expect(old.founded == nil)
            try expect(stored(context) { try $0.all(Band.self).map(\.founded) }, equals: [nil])
        }
    }

    @Test(
        "Where the store wins, the new object goes; the stored one keeps its values, and gets what belonged to the new one",
        arguments: [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType])
    func storeWins(_ type: NSMergePolicyType) throws {
        try withStore(.inMemory, NSMergePolicy(merge: type)) { context in
            let old = context.insert("Band", ["name": "Low"]) as! Band
            try context.save()
            let new = context.insert("Band", ["name": "Low", "founded": Date()]) as! Band
            let album = Album(context: context)
            album.band = new
            try context.save()
            #expect(album.band === old)
            #expect(old.founded == nil)
            try expect(stored(context) { try $0.all(Band.self).count }, equals: 1)
            try expect(stored(context) { try $0.all(Album.self).count }, equals: 1)
        }
    }

    @Test("A saved object that is changed to a value in use takes its stored one back, or the place of the other, as the policy says")
    func changedToTaken() throws {
        let expected: [NSMergePolicyType: [String]] = [
            .mergeByPropertyStoreTrumpMergePolicyType: ["a", "b"], .rollbackMergePolicyType: ["a", "b"],
            .mergeByPropertyObjectTrumpMergePolicyType: ["b"], .overwriteMergePolicyType: ["b"],
        ]
        for (type, left) in expected {
            try withStore(.inMemory, NSMergePolicy(merge: type)) { context in
                let (first, second) = (tag("a", context), tag("b", context))
                try context.save()
                first.label = "b"
                try context.save()
                try expect(labels(context), equals: left)
                #expect(!context.hasChanges)
                expect(first.label, equals: (left.count == 1 ? "b" : "a"))
                expect((second.managedObjectContext == nil), equals: (left.count == 1))
            }
        }
    }

    @Test("Equal objects of one save become one", arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .rollback])
    func twins(_ policy: NSMergePolicy) throws {
        try withStore(.inMemory, policy) { context in
            let twins = (0..<5).map { _ in tag("slow", context) }
            try context.save()
            try expect(labels(context), equals: ["slow"])
            expect(twins.filter { $0.managedObjectContext != nil }.count, equals: 1)
        }
    }

    @Test("A policy of one's own is asked for every kind of conflict in one place, and for each in its own")
    func customPolicy() throws {
        // Used on the context's queue only.
        final class Renaming: NSMergePolicy, @unchecked Sendable {
            nonisolated(unsafe) var asked: [String] = []
            override func resolve(mergeConflicts list: [Any]) throws {
                asked.append("all \(list.count)")
                try super.resolve(mergeConflicts: list)
            }
            override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
                asked.append("constraints \(list.count)")
                for conflict in list {
                    for (index, object) in conflict.conflictingObjects.enumerated() {
                        object.setValue("slow \(index + 2)", forKey: "label")
                    }
                }
            }
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                asked.append("versions \(list.count)")
                try NSMergePolicy.mergeByPropertyObjectTrump.resolve(optimisticLockingConflicts: list)
            }
        }
        let policy = Renaming(merge: .errorMergePolicyType)
        try withStore(.inMemory, policy) { context in
            let mine = tag("slow", context)
            try context.save()
            try stored(context) { other in
                try #require(try other.all(Tag.self).first).label = "slow, theirs"
                try other.save()
            }
            mine.label = "fast"
            _ = tag("fast", context)
            try context.save()
            expect(policy.asked, equals: ["all 1", "versions 1", "all 1", "constraints 1"])
            try expect(labels(context), equals: ["slow 2", "slow 3"])
        }
    }

    @Test("A constraint that names no attribute is a mistake of the model")
    func mistakes() throws {
        let model = Music.model()
        model.entitiesByName["Tag"]!.uniquenessConstraints = [["albums"], [], [3]]
        let error = try #require(failure { _ = try NSPersistentStoreCoordinator(checking: model) })
        #expect(error.localizedDescription.contains("“Tag” names “albums”"))
        #expect(error.localizedDescription.contains("“Tag” names no attribute"))
        #expect(error.localizedDescription.contains("neither a name nor an attribute"))
    }

    @Test("A copy of a model has the constraints of its own attributes")
    func copies() throws {
        let model = try #require(Self.music().copy() as? NSManagedObjectModel)
        expect(model.entitiesByName["Album"]?.uniquenessConstraints as? [[String]], equals: [["title", "year"]])
    }

    @Test("An import of thousands of known values costs one look at each")
    func manyUpserts() throws {
        try withStore(.inMemory, .mergeByPropertyObjectTrump) { context in
            for _ in 0..<3 {
                for number in 0..<2000 { _ = tag("t\(number)", context) }
                try context.save()
            }
            try expect(stored(context) { try $0.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }, equals: 2000)
        }
    }
}
