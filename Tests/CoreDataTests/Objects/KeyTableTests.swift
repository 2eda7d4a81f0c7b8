import CoreData
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// The table in which access by key finds its property, and the conversion of values that needs no casts.
@Suite("The properties of an entity by key") struct KeyTableTests {
    private func frozen(_ properties: [NSPropertyDescription]) throws -> NSEntityDescription {
        let entity = NSEntityDescription(name: "Thing", properties: properties)
        try NSManagedObjectModel(entities: [entity]).freeze()
        return entity
    }

    @Test("are each found by its own name, and by no other", arguments: [1, 7, 60, 300])
    func names(count: Int) throws {
        // Names that begin and end alike, of every length.
        let names = (0..<count).map { "a\(String(repeating: "b", count: $0 % 23))\($0)z" }
        let entity = try frozen(names.map { NSAttributeDescription(name: $0, type: .integer64) })
        for name in names {
            expect(entity.entry(forKey: name)?.pointee.property.name, equals: name)
            #expect(entity.entry(forKey: name + "z") == nil)
            #expect(entity.entry(forKey: String(name.dropLast())) == nil)
        }
        #expect(entity.entry(forKey: "") == nil)
        // The model goes last: an entity does not hold it.
        withExtendedLifetime(entity.managedObjectModel) {}
    }

    @Test("are found by a key of other bytes that is the same text")
    func equivalentKeys() throws {
        let entity = try frozen([NSAttributeDescription(name: "caf\u{e9}", type: .string)])
        let object = NSManagedObject(entity: entity, insertInto: nil)
        object.setValue("open", forKey: "cafe\u{301}")
        expect(object.value(forKey: "caf\u{e9}") as? String, equals: "open")
        expect(object.value(forKey: "cafe\u{301}") as? String, equals: "open")
    }

    @Test("take every value that the general conversion takes, as what it makes of it, and no other")
    func conversions() throws {
        let values: [Any] = [
            0, 1, -1, 40_000, 3_000_000_000, Int.max, Int64(2), Int64.max, Int32(3), Int32.min, Int16(4), Int16.max, Int8(5), UInt64.max,
            true, false, 2.5, 2.0, Double.nan, Double.infinity, Float(1.5), Decimal(7), "text", "", Substring("part"),
            Date(timeIntervalSinceReferenceDate: 9), Date(timeIntervalSinceReferenceDate: .infinity), Data([1, 2]), UUID(),
            NSNumber(value: 6), NSNumber(value: true), NSNumber(value: 1.25), NSString("text"), NSNull(),
            ["a": 1] as [String: Any],
        ]
        let types: [NSAttributeDescription.AttributeType] = [
            .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .string, .binaryData, .uuid, .uri, .decimal,
            .transformable,
            .composite,
        ]
        for type in types {
            let attribute = NSAttributeDescription(name: "value", type: type)
            for value in values {
                // In an optional a value takes the general way.
                let general = AttributeCheck.conform(Optional.some(Optional.some(value)) as Any, to: attribute)
                let found = AttributeCheck.conform(value, to: attribute)
                expect("\(found as Any)", equals: "\(general as Any)", "\(value) of \(Swift.type(of: value)) for \(type)")
            }
        }
    }

    @Test("have the values that typed accessors read, of every kind")
    func values() throws {
        try withMusic { context in
            let album = Album(context: context)
            album.title = "Trust"
            album.year = 2002
            album.rating = 4.5
            for isSaved in [false, true] {
                if isSaved {
                    try context.save()
                    context.refresh(album, mergeChanges: false)
                    #expect(album.isFault)
                }
                expect(album.value(forKey: "title") as? String, equals: album.title)
                expect(album.value(forKey: "year") as? Int16, equals: album.year)
                expect(album.value(forKey: "rating") as? Double, equals: album.rating)
                #expect(album.value(forKey: "band") == nil)
            }
        }
    }

    @Test("A fetch gives registered objects beside new ones, each in its place")
    func registeredAmongOthers() throws {
        try withTwoContexts { writer, reader in
            try writer.performAndWait {
                for year in 0..<700 { writer.insertAlbum(year) }
                try writer.save()
            }
            try reader.performAndWait {
                let request = NSFetchRequest<Album>(entityName: "Album")
                request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
                request.predicate = NSPredicate(format: "modulus:by:(year, 3) == 1 OR year > 650")
                let some = try reader.fetch(request)
                request.predicate = nil
                let all = try reader.fetch(request)
                expect(all.map(\.year), equals: (0..<700).map(Int16.init))
                #expect(some.allSatisfy { $0 === all[Int($0.year)] })
                expect(Set(all).count, equals: 700)
                try expect(reader.fetch(request), equals: all)
            }
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func insertAlbum(_ year: Int) {
        let album = Album(context: self)
        album.title = "Album \(year)"
        album.year = Int16(year)
    }
}
