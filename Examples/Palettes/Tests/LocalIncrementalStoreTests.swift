import CoreData
import Palettes
import TestSupport
import Testing

@Suite("The local store") struct LocalIncrementalStoreTests {
    @Test("Palettes of a file are fetched in order, with all their values") func allPalettes() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let found = try stack.context.fetch(palettes())
            #expect(found.count == 12)
            #expect(found.map(\.rank) == Array(1...12))
            let first = try #require(found.first)
            #expect(first.id == "9001")
            #expect(first.name == "Harbour at Five")
            #expect(first.username == "ines")
            #expect(first.colors.count == 5)
            #expect(first.widths == [0.2, 0.2, 0.1, 0.1, 0.4])
            #expect(!stack.context.hasChanges)
        }
    }

    @Test("Predicate, order, offset and limit are those of the request") func finishing() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let byName = [NSSortDescriptor(key: "name", ascending: false)]
            let page = try stack.context.fetch(
                palettes(NSPredicate(format: "username IN %@", ["kemi", "liesl"]), sortedBy: byName, offset: 1, limit: 3))
            #expect(page.map(\.name) == ["Rhubarb Crumble", "Paper Kite", "Old Tram"])
            let count = try stack.context.count(for: palettes(NSPredicate(format: "rank > 4 AND username == 'ines'")))
            #expect(count == 2)
        }
    }

    @Test("A page of thirty palettes is fetched as in the article") func articlesFetch() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let (context, offset) = (stack.context, 2)

            let request = NSFetchRequest<Palette>(entityName: Palette.entityName)
            request.fetchOffset = offset
            request.fetchLimit = 30
            request.sortDescriptors = Palette.defaultSortDescriptors

            let result = try context.fetch(request)
            #expect(result.map(\.rank) == Array(3...12))
        }
    }

    @Test("A fetch looks at what the file has, and unsaved edits stay where they are") func unsavedEdits() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let best = try stack.context.fetch(palettes(limit: 1))[0]
            best.name = "Mine"
            let again = try stack.context.fetch(palettes(limit: 1))
            #expect(again == [best])
            #expect(best.name == "Mine")
            let saved = palettes(NSPredicate(format: "name == 'Harbour at Five'"))
            saved.includesPendingChanges = false
            let found = try stack.context.fetch(saved)
            #expect(found == [best])
            stack.context.rollback()
            #expect(best.name == "Harbour at Five")
        }
    }

    @Test("An unknown key in a predicate or an order is an error that names it") func unknownKeys() throws {
        let stack = try Stack.local()
        stack.context.performAndWait {
            let predicate = #expect(throws: (any Error).self) { _ = try stack.context.fetch(palettes(NSPredicate(format: "nmae == 'x'"))) }
            #expect(predicate.map { "\($0)".contains("nmae") } == true)
            let order = #expect(throws: (any Error).self) {
                _ = try stack.context.fetch(palettes(sortedBy: [NSSortDescriptor(key: "ranks", ascending: true)]))
            }
            #expect(order.map { "\($0)".contains("ranks") } == true)
        }
    }

    @Test("Equal dictionaries are joined before they are counted") func distinctResults() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: Palette.entityName)
            request.sortDescriptors = [NSSortDescriptor(key: "username", ascending: true)]
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["username"]
            request.returnsDistinctResults = true
            request.fetchLimit = 2
            let names = try stack.context.fetch(request).compactMap { $0 as? NSDictionary }
            #expect(names == [["username": "ines"], ["username": "jaakko"]])
        }
    }

    @Test("IDs and dictionaries can be asked for") func otherResults() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: Palette.entityName)
            request.sortDescriptors = Palette.defaultSortDescriptors
            request.fetchLimit = 2
            request.resultType = .managedObjectIDResultType
            let ids = try stack.context.fetch(request).compactMap { $0 as? NSManagedObjectID }
            #expect(ids.map { (stack.context.object(with: $0) as? Palette)?.name } == ["Harbour at Five", "Linen Cupboard"])

            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
            let names = try stack.context.fetch(request).compactMap { $0 as? NSDictionary }
            #expect(names == [["name": "Harbour at Five"], ["name": "Linen Cupboard"]])
        }
    }

    @Test("A URI leads to the same palette in another stack") func stableURIs() throws {
        let first = try Stack.local()
        let uri = try first.context.performAndWait {
            try first.context.fetch(palettes(limit: 1))[0].objectID.uriRepresentation()
        }
        let second = try Stack.local()
        try second.context.performAndWait {
            let id = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect((try second.context.existingObject(with: id) as? Palette)?.name == "Harbour at Five")
        }
    }

    @Test("A file that is missing or no JSON is an error of the fetch, and a missing place one of opening") func badFiles() throws {
        let folder = try ScratchFolder("palettes")
        defer { folder.remove() }
        let file = folder.file("palettes.json")
        let stack = try Stack.local(at: file)
        func fetch() throws { _ = try stack.context.performAndWait { try stack.context.fetch(palettes()).count } }
        #expect(throws: (any Error).self) { try fetch() }
        try Data("{\"broken\":".utf8).write(to: file)
        let malformed = #expect(throws: NSError.self) { try fetch() }
        #expect(malformed?.code == PaletteErrorCode.malformedAnswer.rawValue)
        let placeless = #expect(throws: NSError.self) { _ = try Stack.local(at: nil) }
        #expect(placeless?.code == PaletteErrorCode.noPlace.rawValue)
    }

    @Test("A save throws, for the store is read-only") func saving() throws {
        let stack = try Stack.local()
        try stack.context.performAndWait {
            try stack.context.fetch(palettes(limit: 1))[0].name = "Mine"
            let error = #expect(throws: NSError.self) { try stack.context.save() }
            #expect(error?.code == NSPersistentStoreSaveError)
        }
    }
}
