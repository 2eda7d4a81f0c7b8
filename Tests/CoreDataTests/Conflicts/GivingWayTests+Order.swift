import CoreData
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
                #expect(try stored(first, "next", context) == [first])
                #expect(try stored(second, "next", context) == [second])
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
                #expect(try stored(taken, "next", context) == [before == nil ? taken : new])
            }
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
                #expect((found[2].value(forKey: "queue") as? NSOrderedSet)?.count == 0)
                let other = Music.context(context.persistentStoreCoordinator!)
                try other.performAndWait {
                    let found = try things(other)
                    found[1].setValue(found[2], forKey: "queueOf")
                    try other.save()
                }
                found[0].setValue(2, forKey: "code")
                if keepsDestination { found[0].setValue(found[3], forKey: "queueOf") }
                try context.save()
                #expect(try stored(3, "queue", context) == (keepsDestination ? [] : [2]))
                context.refreshAllObjects()
                #expect((found[2].value(forKey: "queue") as? NSOrderedSet)?.count == (keepsDestination ? 0 : 1))
            }
        }
    }
}
