import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Undoing after others have saved") struct UndoAfterMergeTests {
    /// Two contexts with the saved nodes 0 to 2, the second with an undo manager.
    private func withNodes(_ body: (TwoContexts) throws -> Void) throws {
        let contexts = try TwoContexts { context in for label in 0..<3 { _ = context.insert("Node", ["label": label]) } }
        contexts.second.performAndWait { contexts.second.undoManager = UndoManager() }
        try body(contexts)
    }

    @Test("What others have linked of two deleted objects is there when both are back, because no delete rule has cut it")
    func bothEnds() throws {
        try withNodes { contexts in
            try contexts.perform(contexts.second) { nodes in for label in 0...1 { contexts.second.delete(nodes[label]!) } }
            try contexts.save { $0[0]!.setValue($0[1], forKey: "parent") }
            contexts.merge()
            try contexts.perform(contexts.second) { _ in
                contexts.second.undo()
                try contexts.second.save()
            }
            try expect(contexts.shown(0, "parent"), equals: [1])
            try expect(contexts.shown(1, "children"), equals: [0])
            try expect(contexts.stored(0, "parent"), equals: [1])
        }
    }

    @Test("What others have linked to a deleted object is cut by its delete rules when it is merged, and an undo does not bring it back")
    func oneEnd() throws {
        try withNodes { contexts in
            try contexts.perform(contexts.second) { nodes in contexts.second.delete(nodes[0]!) }
            try contexts.save { $0[2]!.setValue($0[0], forKey: "parent") }
            contexts.merge()
            try contexts.perform(contexts.second) { _ in
                contexts.second.undo()
                #expect(contexts.second.deletedObjects.isEmpty)
                try contexts.second.save()
            }
            try expect(contexts.shown(2, "parent"), equals: [])
            try expect(contexts.shown(0, "children"), equals: [])
            try expect(contexts.stored(2, "parent"), equals: [])
        }
    }

    @Test(
        "What a delete rule has cut is there when its object is back, also where others have cut it since",
        arguments: ProgramModel.relationships.filter { $0.owner == .node }.map(\.name), [0, 1])
    func cutByBoth(_ name: String, _ deleted: Int) throws {
        let relationship = ProgramModel.relationship(named: name)
        // A rule that denies the deletion cuts nothing.
        if (deleted == 0 ? relationship : relationship.inverse).deleteRule == .deny { return }
        try withNodes { contexts in
            try contexts.save { nodes in
                let value: Any = relationship.isOrdered ? NSOrderedSet(array: [nodes[1]!]) : Set([nodes[1]!])
                nodes[0]!.setValue(relationship.isToMany ? value : nodes[1]!, forKey: name)
            }
            contexts.merge()
            try contexts.perform(contexts.second) { nodes in contexts.second.delete(nodes[deleted]!) }
            try contexts.save { $0[0]!.setValue(nil, forKey: name) }
            contexts.merge()
            contexts.second.performAndWait { contexts.second.undo() }
            try expect(contexts.shown(0, name), equals: [1])
            try expect(contexts.shown(1, relationship.inverseName), equals: [0])
        }
    }

    @Test("An undo of a replaced set restores what the replacement has removed, and not what others have removed since")
    func replaced() throws {
        try withNodes { contexts in
            try contexts.save { $0[0]!.setValue(Set([$0[1]!, $0[2]!]), forKey: "likes") }
            contexts.merge()
            try contexts.perform(contexts.second) { $0[0]!.setValue(Set([$0[1]!, $0[0]!]), forKey: "likes") }
            try contexts.save { $0[0]!.mutableSetValue(forKey: "likes").remove($0[1]!) }
            contexts.merge()
            contexts.second.performAndWait { contexts.second.undo() }
            try expect(contexts.shown(0, "likes"), equals: [2])
            try expect(contexts.shown(1, "likedBy"), equals: [])
            try expect(contexts.shown(2, "likedBy"), equals: [0])
        }
    }

    @Test("What a refresh has dropped is not there for an undo to take back, nor for a redo to bring back")
    func refreshed() throws {
        try withNodes { contexts in
            let context = contexts.second
            try contexts.perform(context) { $0[0]!.mutableSetValue(forKey: "likedBy").add($0[0]!) }
            try contexts.perform(context) { context.refresh($0[0]!, mergeChanges: false) }
            context.performAndWait { context.undo() }
            context.performAndWait { context.redo() }
            try expect(contexts.shown(0, "likedBy"), equals: [])
            try expect(contexts.shown(0, "likes"), equals: [])
        }
    }
}

@Suite("Undoing the deletion of two related objects after others have saved") struct UndoOfTwoDeletionsTests {
    /// How the two objects are deleted.
    enum Deletion: CaseIterable { case both, cascade }

    /// The relationships of any two nodes.
    static let names = ProgramModel.relationships.filter { $0.owner == .node }.map(\.name)

    /// Two contexts with a saved branch 0 and its twig 1, which are related besides, and a node 2. The second context deletes branch and twig.
    private func deletion(
        _ deletion: Deletion, _ relationships: [String: [Int]], _ store: ProgramStore
    ) throws -> TwoContexts {
        let contexts = try TwoContexts(store) { context in
            let nodes = ["Branch", "Leaf", "Node"].enumerated().map { context.insert($1, ["label": $0]) }
            nodes[0].setValue(Set([nodes[1]]), forKey: "twigs")
            for (name, labels) in relationships {
                let relationship = ProgramModel.relationship(named: name)
                let members = labels.map { nodes[$0] }
                let value: Any = relationship.isOrdered ? NSOrderedSet(array: members) : Set(members)
                nodes[0].setValue(relationship.isToMany ? value : members[0], forKey: name)
            }
        }
        try contexts.perform(contexts.second) { nodes in
            contexts.second.undoManager = UndoManager()
            contexts.second.delete(nodes[0]!)
            if deletion == .both { contexts.second.delete(nodes[1]!) }
        }
        return contexts
    }

    @Test(
        "What others have cut between two deleted objects stays cut when both are back, because no delete rule has cut it",
        arguments: names, Deletion.allCases)
    func cut(_ name: String, _ deletion: Deletion) throws {
        for store in [ProgramStore.inMemory, .sqlite, .incremental] {
            let contexts = try self.deletion(deletion, [name: [1]], store)
            try contexts.save { $0[0]!.setValue(nil, forKey: name) }
            contexts.merge()
            contexts.second.performAndWait {
                contexts.second.undo()
                #expect(!contexts.second.hasChanges)
            }
            try expect(contexts.shown(0, name), equals: [])
            try expect(contexts.shown(1, ProgramModel.relationship(named: name).inverseName), equals: [])
            try expect(contexts.shown(0, "twigs"), equals: [1])
        }
    }

    @Test("What a child's parent takes back of two objects that the child has deleted is not there when the child has both back")
    func child() throws {
        let parent = Music.context(try ProgramStore.inMemory.coordinators(ProgramModel.make())[0])
        try parent.performAndWait {
            let nodes = (0..<2).map { parent.insert("Node", ["label": $0]) }
            try parent.save()
            parent.undoManager = UndoManager()
            nodes[0].setValue(Set([nodes[1]]), forKey: "likes")
        }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait {
            child.undoManager = UndoManager()
            for node in try ProgramSide.read(child).1.values { child.delete(node) }
            parent.performAndWait { parent.undo() }
            child.refreshAllObjects()
            child.undo()
            #expect(!child.hasChanges)
            try expect(ProgramSide.read(child).0.nodes.mapValues(\.links), equals: [0: [:], 1: [:]])
        }
    }

    @Test(
        "Two deleted objects of which others have deleted one are related as before when both are back", arguments: names,
        Deletion.allCases)
    func deletedByOthers(_ name: String, _ deletion: Deletion) throws {
        for store in [ProgramStore.inMemory, .sqlite, .incremental] {
            let contexts = try self.deletion(deletion, [name: [1]], store)
            // The one whose deletion nothing denies.
            let gone = name == "guardedBy" ? 0 : 1
            try contexts.save { nodes in
                nodes[0]!.setValue(nil, forKey: "twigs")
                contexts.first.delete(nodes[gone]!)
            }
            contexts.merge()
            contexts.second.performAndWait { contexts.second.undo() }
            try expect(contexts.shown(0, name), equals: [1])
            try expect(contexts.shown(1, ProgramModel.relationship(named: name).inverseName), equals: [0])
            try expect(contexts.shown(0, "twigs"), equals: [1])
        }
    }

    @Test("An object that others have deleted, too, is back at its place of an order that others have not changed otherwise")
    func order() throws {
        let contexts = try deletion(.both, ["queue": [1, 2]], .inMemory)
        try contexts.save { contexts.first.delete($0[1]!) }
        contexts.merge()
        contexts.second.performAndWait { contexts.second.undo() }
        try expect(contexts.shown(0, "queue"), equals: [1, 2])
    }
}
