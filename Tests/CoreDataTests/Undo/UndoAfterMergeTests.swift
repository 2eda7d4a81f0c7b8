import CoreData
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
            #expect(try contexts.shown(0, "parent") == [1])
            #expect(try contexts.shown(1, "children") == [0])
            #expect(try contexts.stored(0, "parent") == [1])
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
            #expect(try contexts.shown(2, "parent") == [])
            #expect(try contexts.shown(0, "children") == [])
            #expect(try contexts.stored(2, "parent") == [])
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
            #expect(try contexts.shown(0, "likes") == [2])
            #expect(try contexts.shown(1, "likedBy") == [])
            #expect(try contexts.shown(2, "likedBy") == [0])
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
            #expect(try contexts.shown(0, "likedBy") == [])
            #expect(try contexts.shown(0, "likes") == [])
        }
    }
}
