import CoreData
import TestSupport
import Testing

extension NSManagedObjectContext {
    @discardableResult
    fileprivate func node(_ label: Int, _ values: [String: Any] = [:]) -> NSManagedObject {
        insert("Node", ["label": label].merging(values) { $1 })
    }
}

@Suite("Both ends of a relationship agree") struct BothEndsTests {
    @Test(
        "What others relate to an object that is deleted here is taken back when it is merged, friends of themselves too",
        arguments: [false, true])
    func friendsOfADeletedObject(_ retains: Bool) throws {
        let contexts = try TwoContexts(retains: retains) {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) { contexts.second.delete($0[1]!) }
        try contexts.save { $0[1]!.setValue(Set([$0[0]!, $0[1]!]), forKey: "friends") }
        contexts.merge()
        let friends = try contexts.shown(0, "friends")
        expect(friends, equals: [])
    }

    @Test("An undo that brings an object back keeps what others have related to it since out at both ends")
    func returnAfterAMerge() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        let manager = UndoManager()
        contexts.second.performAndWait { contexts.second.undoManager = manager }
        try contexts.perform(contexts.second) { contexts.second.delete($0[1]!) }
        try contexts.save { $0[1]!.setValue(Set([$0[0]!, $0[1]!]), forKey: "friends") }
        contexts.merge()
        contexts.second.performAndWait { contexts.second.undo() }
        let friends = try [0, 1].map { try contexts.shown($0, "friends") }
        expect(friends, equals: [[], [1]])
        try contexts.second.performAndWait { try contexts.second.save() }
        let stored = try [0, 1].map { try contexts.stored($0, "friends") }
        expect(stored, equals: [[], [1]])
    }

    @Test("An attribute that was set back to what it was takes what others have saved")
    func setBack() throws {
        let contexts = try TwoContexts { $0.node(0) }
        try contexts.perform(contexts.second) {
            $0[0]!.setValue(7, forKey: "number")
            $0[0]!.setValue(0, forKey: "number")
        }
        try contexts.save { $0[0]!.setValue(5, forKey: "number") }
        contexts.merge()
        try contexts.perform(contexts.second) { expect($0[0]!.value(forKey: "number") as? Int, equals: 5) }
    }

    @Test("The rollback policy puts back what was taken out of relationships, at both ends")
    func rollbackPolicy() throws {
        let contexts = try TwoContexts { $0.node(1, ["parent": $0.node(0)]) }
        try contexts.perform(contexts.second) { $0[1]!.setValue(nil, forKey: "parent") }
        try contexts.save { $0[1]!.setValue("theirs", forKey: "name") }
        try contexts.second.performAndWait {
            contexts.second.mergePolicy = NSMergePolicy.rollback
            try contexts.second.save()
        }
        let (parent, children) = (try contexts.shown(1, "parent"), try contexts.shown(0, "children"))
        expect(parent, equals: [0])
        expect(children, equals: [1])
        let stored = try contexts.stored(0, "children")
        expect(stored, equals: [1])
    }

    @Test("A delete that wins over what others have saved takes the object out of what they have related to it")
    func deleteWins() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) { contexts.second.delete($0[0]!) }
        try contexts.save { $0[1]!.setValue($0[0]!, forKey: "parent") }
        try contexts.second.performAndWait {
            contexts.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try contexts.second.save()
        }
        let context = Music.context(contexts.first.persistentStoreCoordinator!)
        try context.performAndWait {
            let left = try #require(try context.all("Node").first)
            expect(left.value(forKey: "label") as? Int, equals: 1)
            #expect(left.value(forKey: "parent") == nil)
        }
    }

    @Test(
        "A delete that would win over what others have saved is denied by what they have related to it, until that is gone too",
        arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func deleteIsDenied(_ policy: NSMergePolicy) throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) { contexts.second.delete($0[0]!) }
        try contexts.save { $0[0]!.setValue(Set([$0[1]!]), forKey: "guards") }
        contexts.second.performAndWait {
            contexts.second.mergePolicy = policy
            let error = #expect(throws: (any Error).self) { try contexts.second.save() }
            expect((error as NSError?)?.code, equals: NSValidationRelationshipDeniedDeleteError)
            expect(contexts.second.deletedObjects.count, equals: 1)
        }
        let guards = try contexts.stored(0, "guards")
        expect(guards, equals: [1])
        try contexts.perform(contexts.second) {
            contexts.second.delete($0[1]!)
            try contexts.second.save()
            let left = try contexts.second.all("Node")
            expect(left, equals: [])
        }
    }

    @Test("What a refresh puts back into a relationship of a deleted object is deleted with it, or denies its deletion")
    func refreshBesideADeletion() throws {
        let contexts = try TwoContexts {
            let leaf = $0.insert("Leaf", ["label": 1])
            _ = $0.insert("Branch", ["label": 0, "twigs": Set([leaf])])
            $0.node(3, ["guardedBy": $0.node(2)])
        }
        try contexts.perform(contexts.second) {
            $0[1]!.setValue(nil, forKey: "twigOf")
            $0[3]!.setValue(nil, forKey: "guardedBy")
            contexts.second.delete($0[0]!)
            contexts.second.delete($0[2]!)
            contexts.second.processPendingChanges()
            contexts.second.refresh($0[1]!, mergeChanges: false)
            contexts.second.refresh($0[3]!, mergeChanges: false)
            #expect($0[1]!.isDeleted)
            let error = #expect(throws: (any Error).self) { try contexts.second.save() }
            expect((error as NSError?)?.code, equals: NSValidationRelationshipDeniedDeleteError)
        }
    }

    @Test("An object that wins over its deletion has its relationships back at both ends, and late news of the deletion leaves it alone")
    func insertedAgain() throws {
        let contexts = try TwoContexts { $0.node(1, ["parent": $0.node(0)]) }
        try contexts.save { contexts.first.delete($0[0]!) }
        try contexts.second.performAndWait {
            let node = try #require(contexts.second.registeredObjects.first { $0.value(forKey: "label") as? Int == 0 })
            node.setValue(3, forKey: "number")
            contexts.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try contexts.second.save()
        }
        contexts.merge()
        let (shown, stored) = (try contexts.shown(0, "children"), try contexts.stored(0, "children"))
        expect(shown, equals: [1])
        expect(stored, equals: [1])
        let parent = try contexts.stored(1, "parent")
        expect(parent, equals: [0])
    }

    @Test("Objects that win over their deletion together keep what leads from one to the other")
    func insertedAgainTogether() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) { $0[0]!.setValue(NSOrderedSet(array: [$0[1]!]), forKey: "queue") }
        try contexts.save { for node in $0.values { contexts.first.delete(node) } }
        try contexts.second.performAndWait {
            contexts.second.mergePolicy = NSMergePolicy.overwrite
            try contexts.second.save()
        }
        let (queue, owner) = (try contexts.stored(0, "queue"), try contexts.stored(1, "queueOf"))
        expect(queue, equals: [1])
        expect(owner, equals: [0])
    }

    @Test("An undo of an insertion takes the object out of where others have moved it since")
    func undoOfAnInsertionAfterAMove() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(2)
        }
        let manager = UndoManager()
        contexts.second.performAndWait { contexts.second.undoManager = manager }
        try contexts.perform(contexts.second) {
            contexts.second.node(1, ["parent": $0[0]!])
            try contexts.second.save()
        }
        try contexts.save { $0[1]!.setValue($0[2]!, forKey: "parent") }
        contexts.merge()
        contexts.second.performAndWait { contexts.second.undo() }
        let children = try contexts.shown(2, "children")
        expect(children, equals: [])
    }

    @Test("A refresh without merging drops changes of relationships at both ends, and is not undone")
    func refresh() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        let manager = UndoManager()
        manager.groupsByEvent = false
        contexts.second.performAndWait { contexts.second.undoManager = manager }
        try contexts.perform(contexts.second) {
            $0[1]!.setValue($0[0]!, forKey: "parent")
            contexts.second.processPendingChanges()
            contexts.second.refresh($0[1]!, mergeChanges: false)
            contexts.second.processPendingChanges()
            expect(manager.undoCount, equals: 1)
        }
        let children = try contexts.shown(0, "children")
        expect(children, equals: [])
    }

    @Test("An undo over what others have saved since leaves both ends in agreement")
    func undoOverAMerge() throws {
        let contexts = try TwoContexts { for label in 0...2 { $0.node(label) } }
        contexts.second.performAndWait { contexts.second.undoManager = UndoManager() }
        try contexts.perform(contexts.second) { $0[1]!.setValue($0[0]!, forKey: "next") }
        try contexts.save { $0[1]!.setValue($0[2]!, forKey: "next") }
        contexts.merge()
        let merged = try [contexts.shown(1, "next"), contexts.shown(0, "previous"), contexts.shown(2, "previous")]
        expect(merged, equals: [[0], [1], []])
        contexts.second.performAndWait { contexts.second.undo() }
        let undone = try [contexts.shown(1, "next"), contexts.shown(0, "previous"), contexts.shown(2, "previous")]
        expect(undone, equals: [[], [], []])
    }

    @Test("Late news of a deletion that was overruled leave a child's changes of the object alone")
    func overruledForChild() throws {
        let contexts = try TwoContexts { _ = $0.insert("Node", ["label": 0]) }
        let parent = contexts.second
        parent.mergePolicy = NSMergePolicy.overwrite
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        let id = try child.performAndWait {
            let node = try #require(try child.all("Node").first)
            node.setValue(4, forKey: "number")
            return node.objectID
        }
        try contexts.perform(parent) { objects in
            try contexts.save { contexts.first.delete($0[0]!) }
            objects[0]!.setValue("n5", forKey: "name")
            try parent.save()
        }
        contexts.merge()
        child.performAndWait {
            let object = child.registeredObject(for: id)
            expect(object?.value(forKey: "number") as? Int, equals: 4)
            expect(object?.value(forKey: "name") as? String, equals: "n5")
        }
    }

    @Test("A deletion that wins may take an object with it that was never saved")
    func deletedWithNew() throws {
        let contexts = try TwoContexts { _ = $0.insert("Node", ["label": 0]) }
        contexts.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try contexts.perform(contexts.second) { objects in
            let new = contexts.second.insert("Node", ["label": 1, "previous": objects[0]!])
            contexts.second.delete(objects[0]!)
            contexts.second.delete(new)
            contexts.second.processPendingChanges()
            try contexts.save { $0[0]!.setValue(5, forKey: "number") }
            try contexts.second.save()
        }
        try contexts.perform(contexts.first) { _ in
            contexts.first.refreshAllObjects()
            let left = try contexts.first.all("Node")
            #expect(left.isEmpty)
        }
    }

    @Test(
        "An order that others have changed since stays as they have it, and an undo inserts restored objects behind their former predecessors"
    )
    func undoneOrder() throws {
        let contexts = try TwoContexts { context in
            let members = (0...3).map { context.insert("Node", ["label": $0]) }
            _ = context.insert("Node", ["label": 9, "queue": NSOrderedSet(array: members)])
        }
        let manager = UndoManager()
        contexts.second.performAndWait { contexts.second.undoManager = manager }
        try contexts.perform(contexts.second) { $0[1]!.setValue(nil, forKey: "queueOf") }
        try contexts.save { $0[9]!.mutableOrderedSetValue(forKey: "queue").moveObjects(at: [3], to: 0) }
        contexts.merge()
        try expect(contexts.shown(9, "queue"), equals: [3, 0, 2])
        contexts.second.performAndWait { contexts.second.undo() }
        try expect(contexts.shown(9, "queue"), equals: [3, 0, 1, 2])
        contexts.second.performAndWait { contexts.second.redo() }
        try expect(contexts.shown(9, "queue"), equals: [3, 0, 2])
    }

    @Test("Deny rules hold for saved objects alone, and count what is still there")
    func deny() throws {
        let contexts = try TwoContexts { $0.node(0) }
        try contexts.perform(contexts.second) {
            let new = contexts.second.node(1, ["guards": Set([$0[0]!])])
            contexts.second.delete(new)
            contexts.second.processPendingChanges()
            #expect($0[0]!.value(forKey: "guardedBy") == nil)
            let other = contexts.second.node(2, ["guardedBy": $0[0]!])
            contexts.second.delete($0[0]!)
            contexts.second.delete(other)
            try contexts.second.save()
            try expect(contexts.second.all("Node"), equals: [])
        }
    }

    @Test("What was added to a relationship and taken out again is not a change, whether or not the store was asked")
    func addedAndRemoved() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) {
            contexts.second.refreshAllObjects()
            $0[0]!.addObjects([$0[1]!], toRelationship: "likes")
            $0[0]!.removeObjects([$0[1]!], fromRelationship: "likes")
            #expect($0[0]!.changedValues().isEmpty)
        }
        try contexts.save { $0[0]!.setValue(Set([$0[1]!]), forKey: "likes") }
        contexts.merge()
        let likes = try contexts.shown(0, "likes")
        expect(likes, equals: [1])
    }

    @Test("Setting the objects that a relationship has, in whatever order, changes nothing")
    func sameSet() throws {
        let contexts = try TwoContexts { context in
            context.node(0, ["likes": Set((1...8).map { context.node($0) })])
        }
        try contexts.perform(contexts.second) {
            for _ in 0..<8 { $0[0]!.setValue(Set($0.values.filter { $0.value(forKey: "label") as? Int != 0 }), forKey: "likes") }
            #expect(!contexts.second.hasChanges)
        }
    }
}
