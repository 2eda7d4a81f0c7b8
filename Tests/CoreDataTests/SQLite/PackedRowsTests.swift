import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Rows as the SQLite store hands them out: many in one block, with texts, bytes and references behind the values.
@Suite("Rows in blocks") struct PackedRowsTests {
    private static let lengths = [0, 1, 7, 15, 16, 17, 500, 511, 512, 1023, 1024, 1025, 5000, 32_000, 40_000, 100_000]

    private static func model() -> NSManagedObjectModel {
        let page = NSEntityDescription(
            name: "Page",
            properties: [
                NSAttributeDescription(name: "number", type: .integer64), NSAttributeDescription(name: "text", type: .string),
                NSAttributeDescription(name: "bytes", type: .binaryData), NSAttributeDescription(name: "mark", type: .string),
            ])
        let next = NSRelationshipDescription(name: "next", destination: page)
        let previous = NSRelationshipDescription(name: "previous", destination: page)
        next.inverse(to: previous)
        page.properties += [next, previous]
        return NSManagedObjectModel(entities: [page])
    }

    private static func text(_ length: Int) -> String { String(repeating: "ab", count: length / 2) + (length % 2 == 0 ? "" : "ö") }
    private static func bytes(_ length: Int) -> Data { Data((0..<length).map { UInt8(truncatingIfNeeded: $0) }) }

    private static func pages(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Page")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        for (number, length) in lengths.enumerated() {
            let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
            page.setValue(number, forKey: "number")
            page.setValue(text(length), forKey: "text")
            page.setValue(bytes(length), forKey: "bytes")
        }
        try context.save()
    }

    @Test("Texts and bytes of any length come back, and so they do after one of them was changed")
    func anyLength() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Self.model())
        try first.performAndWait { try Self.fill(first) }
        let second = try pad.context(Self.model())
        try second.performAndWait {
            let pages = try Self.pages(second)
            for (page, length) in zip(pages, Self.lengths) {
                expect(page.value(forKey: "text") as? String, equals: Self.text(length))
                expect(page.value(forKey: "bytes") as? Data, equals: Self.bytes(length))
                #expect(page.value(forKey: "mark") == nil)
                page.setValue("changed", forKey: length % 2 == 0 ? "text" : "mark")
            }
            try second.save()
        }
        let third = try pad.context(Self.model())
        try third.performAndWait {
            for (page, length) in zip(try Self.pages(third), Self.lengths) {
                expect(page.value(forKey: "text") as? String, equals: (length % 2 == 0 ? "changed" : Self.text(length)))
                expect(page.value(forKey: "mark") as? String, equals: (length % 2 == 0 ? nil : "changed"))
                expect(page.value(forKey: "bytes") as? Data, equals: Self.bytes(length))
            }
        }
    }

    @Test("Objects keep their values, old and new, when their store is gone")
    func storeIsGone() throws {
        let pad = try Scratchpad()
        let maker = try pad.context(Self.model())
        try maker.performAndWait { try Self.fill(maker) }
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let pages = try Self.pages(context)
            pages[8].setValue("new", forKey: "mark")
            let coordinator = try #require(context.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            for (page, length) in zip(pages, Self.lengths) { expect(page.value(forKey: "text") as? String, equals: Self.text(length)) }
            expect(pages[8].value(forKey: "mark") as? String, equals: "new")
            context.rollback()
            #expect(pages[8].value(forKey: "mark") == nil)
            expect(pages[8].value(forKey: "bytes") as? Data, equals: Self.bytes(Self.lengths[8]))
        }
    }

    @Test("A reference leads to its row however large the key is", arguments: [3, 1 << 40, 1 << 48, Int64.max - 1])
    func largeKeys(key: Int64) throws {
        let pad = try Scratchpad()
        let maker = try pad.context(Self.model())
        try maker.performAndWait {
            let pages = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Page", into: maker) }
            for (number, page) in pages.enumerated() { page.setValue(number, forKey: "number") }
            try maker.save()
        }
        try pad.execute("UPDATE ZPAGE SET Z_PK = \(key) WHERE ZNUMBER = 1; UPDATE ZPAGE SET ZNEXT = \(key) WHERE ZNUMBER = 0")
        try pad.execute("UPDATE ZPAGE SET ZPREVIOUS = (SELECT Z_PK FROM ZPAGE WHERE ZNUMBER = 0) WHERE ZNUMBER = 1")
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let pages = try Self.pages(context)
            #expect(pages[0].value(forKey: "next") as? NSManagedObject === pages[1])
            #expect(pages[1].value(forKey: "previous") as? NSManagedObject === pages[0])
            expect(pages[1].objectID.uriRepresentation().lastPathComponent, equals: "p\(key)")
            pages[0].setValue("a", forKey: "mark")
            try context.save()
        }
        try expect(pad.texts("SELECT ZNEXT FROM ZPAGE WHERE ZNUMBER = 0"), equals: [["\(key)"]])
    }

    @Test("An object is the same whether it is asked for by its ID, by a fetch or by a relationship")
    func oneObject() throws {
        let pad = try Scratchpad()
        let maker = try pad.context(Self.model())
        let ids = try maker.performAndWait {
            try Self.fill(maker)
            return try Self.pages(maker).map { $0.objectID.uriRepresentation() }
        }
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let pages = try Self.pages(context)
            let coordinator = try #require(context.persistentStoreCoordinator)
            for (page, uri) in zip(pages, ids) {
                let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                #expect(context.object(with: id) === page)
                #expect(context.registeredObject(for: id) === page)
                expect(page.objectID, equals: id)
            }
            try expect(Self.pages(context).map(ObjectIdentifier.init), equals: pages.map(ObjectIdentifier.init))
        }
    }
}
