import CoreData
import Testing

@Suite("Orders in a SQLite store") struct SQLiteOrderTests {
    /// Hands over a node with a saved queue of three, labelled 0 to 2.
    private func withQueue(_ body: (NSManagedObjectContext, NSManagedObject, [NSManagedObject]) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ReferenceGraph.model(cascades: false))
        try GraphStore.sqlite.add(to: coordinator)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let members = (0..<3).map { context.insert("Node", ["label": $0]) }
            let owner = context.insert("Node", ["label": 9, "queue": NSOrderedSet(array: members)])
            try context.save()
            try body(context, owner, members)
        }
    }

    private func labels(_ owner: NSManagedObject) -> [Int] {
        (owner.value(forKey: "queue") as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "label") as? Int } ?? []
    }

    @Test("A member that was taken out, put back and otherwise changed keeps its place")
    func putBack() throws {
        try withQueue { context, owner, members in
            members[2].setValue(nil, forKey: "queueOf")
            members[2].setValue(owner, forKey: "queueOf")
            members[2].setValue(5, forKey: "number")
            #expect(labels(owner) == [0, 1, 2])
            try context.save()
            context.reset()
            let stored = try #require(try context.all("Node").first { $0.value(forKey: "label") as? Int == 9 })
            #expect(labels(stored) == [0, 1, 2])
        }
    }

    @Test("An order that an undo has brought back is saved, whatever else of its members is")
    func undone() throws {
        try withQueue { context, owner, members in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            manager.beginUndoGrouping()
            owner.setValue(NSOrderedSet(array: [members[0]]), forKey: "queue")
            manager.endUndoGrouping()
            context.undo()
            for member in members { member.setValue(7, forKey: "number") }
            try context.save()
            context.reset()
            let stored = try #require(try context.all("Node").first { $0.value(forKey: "label") as? Int == 9 })
            #expect(labels(stored) == [0, 1, 2])
        }
    }
}
