import CoreData
import TestSupport
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
            expect(labels(owner), equals: [0, 1, 2])
            try context.save()
            context.reset()
            let stored = try #require(try context.all("Node").first { $0.value(forKey: "label") as? Int == 9 })
            expect(labels(stored), equals: [0, 1, 2])
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
            expect(labels(stored), equals: [0, 1, 2])
        }
    }

    @Test("A sorted page orders equal objects by their IDs, whichever index finds them, so that pages neither share nor miss one")
    func pages() throws {
        let model = Music.model()
        let album = try #require(model.entitiesByName["Album"])
        album.indexes = [
            NSFetchIndexDescription(
                name: "byYear",
                elements: [NSFetchIndexElementDescription(property: album.propertiesByName["year"]!, collationType: .binary)])
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try GraphStore.sqlite.add(to: coordinator)
        let context = Music.context(coordinator)
        try context.performAndWait {
            for year in (1...20).reversed() {
                let album = Album(context: context)
                album.title = "Trust"
                album.year = Int16(year)
                try context.save()
            }
            for ascending in [true, false] {
                var years: [Int16] = []
                for page in 0..<4 {
                    let request = NSFetchRequest<Album>(entityName: "Album")
                    // Every other page finds its objects by the index, in the order of their years.
                    request.predicate = page % 2 == 0 ? NSPredicate(format: "year IN %@", Array(1...20)) : nil
                    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: ascending)]
                    request.fetchLimit = 5
                    request.fetchOffset = page * 5
                    years += try context.fetch(request).map(\.year)
                }
                expect(years, equals: (ascending ? (1...20).reversed() : Array(1...20)))
            }
        }
    }
}
