import CoreData
import TestSupport
import Testing

/// Relationships of which a context has not read all: their stores keep no lists in the rows.
@Suite("Relationships that were not read") struct UnreadRelationshipTests {
    @Test("Objects whose deletions give way to what others have saved come back together, with what leads from one to the other")
    func deletions() throws {
        let contexts = try TwoContexts(.sqlite) { context in
            let branch = context.insert("Branch", ["label": 0])
            _ = context.insert("Leaf", ["label": 1, "twigOf": branch])
        }
        contexts.second.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        // Which conflict is found first is open; each round has other versions.
        for round in 1...8 {
            try contexts.perform(contexts.second) { objects in for object in objects.values { contexts.second.delete(object) } }
            try contexts.save { objects in for object in objects.values { object.setValue(round, forKey: "number") } }
            try contexts.second.performAndWait { try contexts.second.save() }
            try expect(contexts.stored(0, "twigs"), equals: [1])
            try expect(contexts.shown(1, "twigOf"), equals: [0])
            contexts.merge()
        }
    }

    @Test("An object that leads to itself and is inserted again still does, whichever end was read")
    func toItself() throws {
        let contexts = try TwoContexts(.sqlite) { _ = $0.insert("Node", ["label": 0]) }
        contexts.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try contexts.perform(contexts.second) { objects in
            let node = try #require(objects[0])
            contexts.second.refreshAllObjects()
            node.setValue(Set([node]), forKey: "likedBy")
            try contexts.second.save()
            contexts.first.performAndWait { contexts.first.refreshAllObjects() }
            try contexts.save { contexts.first.delete($0[0]!) }
            node.setValue(5, forKey: "number")
            try contexts.second.save()
        }
        try expect(contexts.stored(0, "likes"), equals: [0])
        try expect(contexts.stored(0, "likedBy"), equals: [0])
    }

    @Test("What another process has saved of an object that is not at hand shows once it is asked for")
    func notAtHand() throws {
        let contexts = try TwoContexts(retains: false, .sqliteFile) { _ = $0.insert("Node", ["label": 0]) }
        var id: NSManagedObjectID?
        try contexts.perform(contexts.second) { id = $0[0]?.objectID }
        try contexts.save { $0[0]!.setValue(5, forKey: "number") }
        contexts.merge()
        let known = try #require(id)
        contexts.second.performAndWait { expect(contexts.second.object(with: known).value(forKey: "number") as? Int, equals: 5) }
    }

    @Test("An object that another process has deleted and that is inserted again has its relationships back at both ends")
    func insertedAgain() throws {
        let contexts = try TwoContexts(.sqliteFile) { context in
            let parent = context.insert("Node", ["label": 0])
            _ = context.insert("Node", ["label": 1, "parent": parent])
        }
        contexts.second.mergePolicy = NSMergePolicy.overwrite
        try contexts.perform(contexts.second) { objects in
            try contexts.save { contexts.first.delete($0[0]!) }
            objects[0]!.setValue(5, forKey: "number")
            try contexts.second.save()
        }
        try expect(contexts.stored(0, "children"), equals: [1])
        try expect(contexts.stored(1, "parent"), equals: [0])
    }

    @Test("An object without changes once a conflict is resolved is not in conflict afterwards")
    func settled() throws {
        let contexts = try TwoContexts(.sqlite) { context in for label in 0...1 { _ = context.insert("Node", ["label": label]) } }
        contexts.second.mergePolicy = NSMergePolicy.rollback
        try contexts.perform(contexts.second) { objects in
            objects[0]!.setValue(NSOrderedSet(object: objects[1]!), forKey: "queue")
            try contexts.save { $0[0]!.setValue(5, forKey: "number") }
            try contexts.second.save()
            #expect(objects[1]!.value(forKey: "queueOf") == nil)
            #expect(objects[1]!.committedValues(forKeys: ["queueOf"])["queueOf"] is NSNull)
            contexts.second.mergePolicy = NSMergePolicy.error
            objects[1]!.setValue(7, forKey: "number")
            try contexts.second.save()
        }
        try expect(contexts.stored(0, "queue"), equals: [])
    }

    @Test("What a child has put into an order and taken out again is none of its changes")
    func child() throws {
        let contexts = try TwoContexts(.sqlite) { context in for label in 0...1 { _ = context.insert("Node", ["label": label]) } }
        let (parent, child) = (contexts.first, NSManagedObjectContext(.privateQueue))
        child.parent = parent
        try child.performAndWait {
            let objects = Dictionary(uniqueKeysWithValues: try child.all("Node").map { ($0.value(forKey: "label") as? Int ?? -1, $0) })
            let (owner, member) = (try #require(objects[0]), try #require(objects[1]))
            owner.mutableOrderedSetValue(forKey: "queue").add(member)
            owner.mutableOrderedSetValue(forKey: "queue").remove(member)
            owner.setValue(5, forKey: "number")
            try contexts.perform(parent) { $0[1]!.setValue($0[0]!, forKey: "queueOf") }
            try child.save()
        }
        try contexts.perform(parent) { objects in
            expect((objects[0]!.value(forKey: "queue") as? NSOrderedSet)?.array as? [NSManagedObject], equals: [objects[1]!])
            expect(objects[0]!.value(forKey: "number") as? Int, equals: 5)
        }
    }
}
