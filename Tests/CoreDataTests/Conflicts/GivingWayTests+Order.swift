import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Several objects of one save give way, one after the other.
extension GivingWayTests {
    @Test(
        "What was in the way of a reference and gives way itself leaves the place to it, in whatever order they give way",
        arguments: stores,
        storeWins)
    func placeThatIsLeft(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        // The codes decide about the order.
        for (first, second) in [(1, 3), (3, 1)] {
            try run(store, policy) {
                thing(first, in: $0)
                let other = thing(second, "Place", in: $0)
                other.setValue(other, forKey: "next")
            } then: { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(format: "code == %d", first)
                let kept = try #require(try context.fetch(request).first)
                thing(first, in: context).setValue(kept, forKey: "previous")
                kept.setValue(thing(second, "Place", in: context), forKey: "previous")
                try context.save()
                try expect(stored(first, "next", context), equals: [first])
                try expect(stored(second, "next", context), equals: [second])
            }
        }
    }

    @Test("New objects give way to one another before they take what a stored one has", arguments: stores, objectWins)
    func amongNewObjects(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        for (taken, new) in [(1, 3), (3, 1)] {
            try run(store, policy) {
                let kept = thing(taken, in: $0)
                kept.setValue(kept, forKey: "next")
            } then: { context in
                let rival = thing(taken, in: context)
                let (one, other) = (thing(new, "Place", in: context), thing(new, in: context))
                let last = thing(nil, "Place", in: context)
                one.setValue(rival, forKey: "previous")
                last.setValue(other, forKey: "next")
                try context.save()
                let before = try #require(try stored(new, "previous", context).first)
                // Either of the two is before it; if that is the new one, the stored object keeps what it had.
                try expect(stored(taken, "next", context), equals: [before == nil ? taken : new])
            }
        }
    }

    @Test("A reference without an inverse to what others have deleted holds no place", arguments: stores, storeWins + objectWins)
    func placeOfWhatIsGone(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        try run(store, policy) {
            thing(1, in: $0).setValue(thing(9, in: $0), forKey: "pointer")
            thing(2, in: $0).setValue(thing(3, in: $0), forKey: "pointer")
        } then: { context in
            let other = Music.context(context.persistentStoreCoordinator!)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "code == 9")
            try other.performAndWait {
                other.delete(try #require(try other.fetch(request).first))
                try other.save()
            }
            let found = try context.all("Thing").sorted { ($0.value(forKey: "code") as! Int) < ($1.value(forKey: "code") as! Int) }
            // A saved object takes the value of another, or a new one gives way.
            if Self.objectWins.contains(policy) {
                found[0].setValue(2, forKey: "code")
            } else {
                thing(1, in: context).setValue(found[2], forKey: "pointer")
            }
            try context.save()
            try expect(stored(Self.storeWins.contains(policy) ? 1 : 2, "pointer", context), equals: [3])
        }
    }

    @Test("What others have related to an object that gives way does not list it any more", arguments: stores, objectWins)
    func relatedUnnoticed(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        for keepsDestination in [true, false] {
            try run(store, policy) {
                for code in 1...4 { thing(code, in: $0) }
            } then: { context in
                func things(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
                    try context.all("Thing").sorted { ($0.value(forKey: "code") as! Int) < ($1.value(forKey: "code") as! Int) }
                }
                let found = try things(context)
                expect((found[2].value(forKey: "queue") as? NSOrderedSet)?.count, equals: 0)
                let other = Music.context(context.persistentStoreCoordinator!)
                try other.performAndWait {
                    let found = try things(other)
                    found[1].setValue(found[2], forKey: "queueOf")
                    try other.save()
                }
                found[0].setValue(2, forKey: "code")
                if keepsDestination { found[0].setValue(found[3], forKey: "queueOf") }
                try context.save()
                try expect(stored(3, "queue", context), equals: (keepsDestination ? [] : [2]))
                context.refreshAllObjects()
                expect((found[2].value(forKey: "queue") as? NSOrderedSet)?.count, equals: (keepsDestination ? 0 : 1))
            }
        }
    }

    @Test(
        "A reference without an inverse from one saved object that gives way to another leads from what stays to what stays",
        arguments: stores)
    func bothEndsReplaced(_ store: ProgramStore) throws {
        for policy in Self.objectWins {
            // The codes decide about the order.
            for (first, second) in [(1, 2), (2, 1)] {
                try run(store, policy) {
                    thing(first, in: $0).setValue(thing(second, in: $0), forKey: "pointer")
                    for code in 3...4 { thing(code, in: $0) }
                } then: { context in
                    let found = try context.all("Thing").sorted { ($0.value(forKey: "code") as! Int) < ($1.value(forKey: "code") as! Int) }
                    found[2].setValue(first, forKey: "code")
                    found[3].setValue(second, forKey: "code")
                    try context.save()
                    try expect(stored(first, "pointer", context), equals: [second])
                }
            }
        }
    }

    @Test(
        "A value that is taken from an object that others have changed, and given to another one, is a conflict for the merge policy",
        arguments: stores, objectWins)
    func valueOfWhatOthersHaveChanged(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        for (first, second) in [(1, 2), (2, 1)] {
            let coordinator = try GivingWayModel.coordinator(store)
            let other = GivingWayModel.context(coordinator, .errorMergePolicyType)
            let context = GivingWayModel.context(coordinator, policy)
            try other.performAndWait {
                thing(first, in: other)
                thing(second, in: other)
                try other.save()
            }
            try context.performAndWait {
                let shown = try context.all("Thing").sorted {
                    ($0.value(forKey: "code") as? Int ?? 0) < ($1.value(forKey: "code") as? Int ?? 0)
                }
                try other.performAndWait {
                    for object in try other.all("Thing") { object.setValue("changed", forKey: "name") }
                    try other.save()
                }
                shown[0].setValue(nil, forKey: "code")
                shown[1].setValue(1, forKey: "code")
                try context.save()
                try expect(context.all("Thing").count, equals: 2)
                #expect(shown[0].value(forKey: "code") == nil && shown[1].value(forKey: "code") as? Int == 1)
            }
        }
    }
}
