import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Objects that give way to others with the same unique values") struct GivingWayTests {
    static let stores: [ProgramStore] = [.inMemory, .sqlite]
    static let storeWins: [NSMergePolicyType] = [.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType]
    static let objectWins: [NSMergePolicyType] = [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType]

    /// Saves objects in one context, and then does something in another that has a policy.
    func run(
        _ store: ProgramStore, _ policy: NSMergePolicyType, saving make: (NSManagedObjectContext) -> Void,
        then body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let (first, second) = (GivingWayModel.context(coordinator, .errorMergePolicyType), GivingWayModel.context(coordinator, policy))
        try first.performAndWait {
            make(first)
            try first.save()
        }
        try second.performAndWait { try body(second) }
    }

    @discardableResult
    func thing(_ code: Int?, _ kind: String = "Region", in context: NSManagedObjectContext) -> NSManagedObject {
        context.insert(kind, ["code": code.map { $0 as Any } ?? NSNull()])
    }

    private func related(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        switch object.value(forKey: key) {
        case let other as NSManagedObject: [other]
        case let set as Set<NSManagedObject>: Array(set)
        case let ordered as NSOrderedSet: ordered.array as! [NSManagedObject]
        default: []
        }
    }

    /// What a relationship of the object of a code leads to in the store, by code.
    func stored(_ code: Int, _ key: String, _ context: NSManagedObjectContext) throws -> [Int?] {
        let other = Music.context(context.persistentStoreCoordinator!)
        return try other.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "code == %d", code)
            let found = try #require(try other.fetch(request).first)
            return related(found, key).map { $0.value(forKey: "code") as? Int }
        }
    }

    @Test("A new object that belongs to a new object of a taken value belongs to the stored one", arguments: stores, storeWins + objectWins)
    func toOne(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            thing(1, in: $0).setValue(thing(276, "Place", in: $0), forKey: "parent")
        } then: { context in
            let mine = thing(2, in: context)
            let country = thing(276, in: context)
            mine.setValue(country, forKey: "parent")
            try context.save()
            let kept = try #require(mine.value(forKey: "parent") as? NSManagedObject)
            #expect(kept !== country && !kept.objectID.isTemporaryID)
            try expect(stored(2, "parent", context), equals: [276])
            try expect(Set(stored(276, "children", context)), equals: [1, 2])
            #expect(!context.hasChanges)
        }
    }

    @Test("Objects that give way together refer to those that stay", arguments: stores, storeWins + objectWins)
    func chain(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            thing(1, in: $0)
            thing(2, "Place", in: $0)
        } then: { context in
            let (one, two, three) = (thing(1, in: context), thing(2, in: context), thing(3, in: context))
            one.setValue(two, forKey: "parent")
            one.setValue(Set([two, three]), forKey: "friends")
            two.setValue(NSOrderedSet(array: [three, one]), forKey: "lists")
            three.setValue(one, forKey: "pointer")
            three.setValue(Set([one, two]), forKey: "pointers")
            try context.save()
            try expect(stored(1, "parent", context), equals: [2])
            try expect(Set(stored(1, "friends", context)), equals: [2, 3])
            try expect(stored(2, "lists", context), equals: [3, 1])
            try expect(stored(3, "pointer", context), equals: [1])
            try expect(Set(stored(3, "pointers", context)), equals: [1, 2])
        }
    }

    @Test("In an ordered relationship the object that stays takes the place of the one that gives way", arguments: stores, storeWins)
    func order(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            thing(5, in: $0)
        } then: { context in
            let owner = thing(1, in: context)
            let others = [2, 5, 3].map { thing($0, in: context) }
            owner.setValue(NSOrderedSet(array: others), forKey: "queue")
            owner.setValue(NSOrderedSet(array: others), forKey: "lists")
            try context.save()
            try expect(stored(1, "queue", context), equals: [2, 5, 3])
            try expect(stored(1, "lists", context), equals: [2, 5, 3])
        }
    }

    @Test("Where a place is taken, the store's destination stays or the one set here does, as the policy says", arguments: stores)
    func takenPlace(_ store: ProgramStore) throws {
        for policy in Self.storeWins + Self.objectWins {
            try run(store, policy) {
                thing(1, in: $0).setValue(thing(2, in: $0), forKey: "next")
            } then: { context in
                thing(1, in: context).setValue(thing(3, in: context), forKey: "next")
                try context.save()
                try expect(stored(1, "next", context), equals: [Self.storeWins.contains(policy) ? 2 : 3])
                try expect(stored(3, "previous", context), equals: (Self.storeWins.contains(policy) ? [] : [1]))
            }
        }
    }

    @Test("What belongs to a stored object belongs to the saved one that takes its place", arguments: stores, objectWins)
    func replaced(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            let taken = thing(1, in: $0)
            thing(2, in: $0)
            for code in 3...4 {
                let other = thing(code, in: $0)
                other.setValue(taken, forKey: "parent")
                other.setValue(taken, forKey: "pointer")
                // Without an inverse, the objects of a to-many relationship have one owner.
                if code == 3 { other.setValue(Set([taken]), forKey: "pointers") }
                other.setValue(NSOrderedSet(array: [taken]), forKey: "lists")
            }
        } then: { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "code == 2")
            let object = try #require(try context.fetch(request).first)
            object.setValue(1, forKey: "code")
            try context.save()
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")), equals: 3)
            try expect(stored(3, "pointers", context), equals: [1])
            for code in 3...4 {
                for key in ["parent", "pointer", "lists"] { try expect(stored(code, key, context), equals: [1], "\(key)") }
            }
        }
    }

    @Test("A relationship that the object that stays does not have is an error that names it, and nothing is cut")
    func misfit() throws {
        try run(.inMemory, .mergeByPropertyStoreTrumpMergePolicyType) {
            thing(1, "Region", in: $0)
        } then: { context in
            let place = thing(1, "Place", in: context)
            let region = thing(2, "Region", in: context)
            region.setValue(place, forKey: "capital")
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectConstraintMergeError)
            #expect(error.localizedFailureReason?.contains("“capitalOf”") ?? false)
            #expect(region.value(forKey: "capital") as? NSManagedObject === place)
            expect(context.insertedObjects, equals: [place, region])
        }
    }

    @Test("What has given way is deleted, its ID leads to what stays, and a change to it is an error of the next save", arguments: stores)
    func afterwards(_ store: ProgramStore) throws {
        for policy in Self.storeWins + Self.objectWins {
            try run(store, policy) {
                thing(1, in: $0)
            } then: { context in
                let new = thing(1, in: context)
                let id = new.objectID
                try context.save()
                #expect(new.isDeleted && new.managedObjectContext == nil && !new.hasChanges)
                let kept = context.object(with: id)
                #expect(kept !== new && !kept.objectID.isTemporaryID)
                try expect(context.existingObject(with: id).value(forKey: "code") as? Int, equals: 1)
                new.setValue("lost", forKey: "name")
                let error = try #require(failure { try context.save() })
                expect(error.code, equals: NSManagedObjectReferentialIntegrityError)
                #expect(error.localizedDescription.contains("“name”"))
                #expect(error.localizedFailureReason?.contains("\(kept.objectID)") ?? false)
                new.setValue(thing(9, in: context), forKey: "parent")
                expect(failure { try context.save() }?.code, equals: NSManagedObjectReferentialIntegrityError)
                context.rollback()
                kept.setValue("kept", forKey: "name")
                try context.save()
                // Inserted anew, it meets the constraint again.
                context.insert(new)
                #expect(!new.isDeleted && new.managedObjectContext === context)
                new.setValue(nil, forKey: "parent")
                new.setValue(10, forKey: "code")
                try context.save()
                try expect(stored(10, "friends", context), equals: [])
            }
        }
    }

    @Test("A child's object that has given way in the parent leads to the one that stays there")
    func child() throws {
        try run(.inMemory, .mergeByPropertyObjectTrumpMergePolicyType) {
            thing(1, in: $0)
        } then: { parent in
            for showsKept in [false, true] {
                let child = NSManagedObjectContext(.privateQueue)
                child.parent = parent
                try child.performAndWait {
                    let shown = showsKept ? try child.all("Thing") : []
                    let new = thing(1, in: child)
                    try child.save()
                    try parent.save()
                    new.setValue("by the child, \(showsKept)", forKey: "name")
                    try child.save()
                    try parent.save()
                    _ = shown
                }
                let names = try parent.all("Thing").map { $0.value(forKey: "name") as? String }
                expect(names, equals: ["by the child, \(showsKept)"])
            }
        }
    }

    @Test("What belongs to itself gives way to a stored object that keeps its place", arguments: stores, storeWins)
    func itsOwnParent(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            let (kept, other) = (thing(1, in: $0), thing(2, in: $0))
            kept.setValue(other, forKey: "parent")
            kept.setValue(other, forKey: "next")
        } then: { context in
            let new = thing(1, in: context)
            new.setValue(new, forKey: "parent")
            new.setValue(new, forKey: "next")
            new.setValue(Set([new]), forKey: "friends")
            try context.save()
            try expect(stored(1, "parent", context), equals: [2])
            try expect(stored(2, "children", context), equals: [1])
            try expect(stored(1, "next", context), equals: [2])
            try expect(stored(2, "previous", context), equals: [1])
            try expect(stored(1, "friends", context), equals: [1])
        }
    }

    @Test(
        "Where the store wins, a new object gives way to the stored one, not to one that was changed to its value", arguments: stores,
        storeWins)
    func changedToTheSameValue(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            thing(1, in: $0)
            thing(3, in: $0)
        } then: { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            let found = try context.fetch(request)
            let (one, three) = (found[0], found[1])
            one.setValue(3, forKey: "code")
            three.setValue(3, forKey: "code")
            three.setValue("also changed", forKey: "name")
            let new = thing(3, in: context)
            three.setValue(new, forKey: "next")
            try context.save()
            #expect(try context.existingObject(with: new.objectID) === three)
            expect(one.value(forKey: "code") as? Int, equals: 1)
            #expect(policy == .rollbackMergePolicyType || three.value(forKey: "next") as? NSManagedObject === three)
        }
    }

    @Test("What a stored object had before it took another's place does not list it any more", arguments: stores, objectWins)
    func formerPlace(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let (first, second) = (GivingWayModel.context(coordinator, .errorMergePolicyType), GivingWayModel.context(coordinator, policy))
        for code in [1, 4, 7] { first.performAndWait { _ = thing(code, in: first) } }
        try first.performAndWait { try first.save() }
        func found(_ code: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
            try #require(try context.all("Thing").first { $0.value(forKey: "code") as? Int == code })
        }
        try second.performAndWait {
            let old = try found(1, in: second)
            #expect(related(old, "queue").isEmpty && related(old, "children").isEmpty)
            try first.performAndWait {
                try found(4, in: first).setValue(found(1, in: first), forKey: "queueOf")
                try found(4, in: first).setValue(found(1, in: first), forKey: "parent")
                try first.save()
            }
            let new = thing(4, in: second)
            new.setValue(try found(7, in: second), forKey: "queueOf")
            new.setValue(new, forKey: "parent")
            try second.save()
            try expect(stored(4, "parent", second), equals: [4])
            try expect(stored(1, "children", second), equals: [])
            try expect(stored(4, "queueOf", second), equals: [7])
            try expect(stored(7, "queue", second), equals: [4])
            try expect(stored(1, "queue", second), equals: [])
            #expect(related(old, "queue").isEmpty)
        }
    }

    @Test("Values that were passed on from object to object all come back where the store wins", arguments: stores, storeWins)
    func passedOn(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            for code in 1...20 { thing(code, in: $0) }
        } then: { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            let found = try context.fetch(request)
            // The last one's is that of an object that is not changed.
            for index in 0..<19 { found[index].setValue(index + 2, forKey: "code") }
            let new = thing(2, in: context)
            try context.save()
            expect(found.map { $0.value(forKey: "code") as? Int }, equals: Array(1...20))
            #expect(try context.existingObject(with: new.objectID) === found[1])
            try expect(context.count(for: request), equals: 20)
        }
    }

    @Test(
        "What others have related without an inverse to an object that gives way leads to the one that stays", arguments: stores, objectWins
    )
    func relatedMeanwhile(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let (first, second) = (GivingWayModel.context(coordinator, .errorMergePolicyType), GivingWayModel.context(coordinator, policy))
        try first.performAndWait {
            for code in 1...3 { thing(code, in: first) }
            try first.save()
        }
        try second.performAndWait {
            let shown = try second.all("Thing").sorted { ($0.value(forKey: "code") as! Int) < ($1.value(forKey: "code") as! Int) }
            try first.performAndWait {
                let all = try first.all("Thing").sorted { ($0.value(forKey: "code") as! Int) < ($1.value(forKey: "code") as! Int) }
                all[2].setValue(all[0], forKey: "pointer")
                try first.save()
            }
            shown[1].setValue(1, forKey: "code")
            shown[2].setValue("changed", forKey: "name")
            try second.save()
            try expect(stored(3, "pointer", second), equals: [1])
        }
    }

    @Test("The ID of an object that gives way leads to the one that stays, although that takes another's place", arguments: stores)
    func overwrittenMeanwhile(_ store: ProgramStore) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let first = GivingWayModel.context(coordinator, .errorMergePolicyType)
        let second = GivingWayModel.context(coordinator, .overwriteMergePolicyType)
        try first.performAndWait {
            thing(3, in: first)
            try first.save()
        }
        try second.performAndWait {
            let shown = try #require(try second.all("Thing").first)
            expect(shown.value(forKey: "code") as? Int, equals: 3)
            try first.performAndWait {
                try #require(try first.all("Thing").first).setValue(0, forKey: "code")
                thing(3, "Place", in: first)
                try first.save()
            }
            let new = thing(3, in: second)
            shown.setValue(new, forKey: "next")
            try second.save()
            let id = new.objectID
            #expect(try second.existingObject(with: id) === shown)
            #expect(shown.value(forKey: "next") as? NSManagedObject === shown)
            try expect(second.all("Thing").count, equals: 1)
        }
    }
}
