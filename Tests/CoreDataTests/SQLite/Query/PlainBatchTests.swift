import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Batch inserts of rows that hold nothing but numbers, dates and text, which have a way of their own into the file.
@Suite struct PlainBatchTests {
    private static let types: [(String, NSAttributeType)] = [
        ("text", .stringAttributeType), ("other", .stringAttributeType), ("number", .integer64AttributeType),
        ("small", .integer16AttributeType), ("real", .doubleAttributeType), ("flag", .booleanAttributeType), ("date", .dateAttributeType),
    ]

    private static func model() -> NSManagedObjectModel {
        let attributes = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            if name == "other" { attribute.defaultValue = "a default" }
            return attribute
        }
        let thing = NSEntityDescription(name: "Thing", properties: attributes)
        // An entity that shares the table, and one that is related.
        let part = NSEntityDescription(name: "Part", properties: [NSAttributeDescription(name: "more", type: .string)])
        thing.subentities = [part]
        let owner = NSEntityDescription(name: "Owner", properties: [])
        let things = NSRelationshipDescription(name: "things", destination: thing, toMany: true)
        let back = NSRelationshipDescription(name: "owner", destination: owner)
        things.inverse(to: back)
        owner.properties.append(things)
        thing.properties.append(back)
        return NSManagedObjectModel(entities: [thing, part, owner])
    }

    private static func values(_ random: inout SeededGenerator) -> [String: Any] {
        func text(_ random: inout SeededGenerator) -> String {
            let length = [0, 3, 15, 16, 40, 900].randomElement(using: &random)!
            return String((0..<length).map { _ in ["a", "é", "日", "🙂", "\0", "'"].randomElement(using: &random)! }.joined())
        }
        var values: [String: Any] = [
            "text": text(&random), "other": text(&random), "number": Int.random(in: .min ... .max, using: &random),
            "small": Int.random(in: -32768...32767, using: &random), "real": Double.random(in: -1e300...1e300, using: &random),
            "flag": Bool.random(using: &random),
            "date": Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random)),
        ]
        for (name, _) in types where Int.random(in: 0..<4, using: &random) == 0 { values[name] = NSNull() }
        for (name, _) in types where Int.random(in: 0..<8, using: &random) == 0 { values[name] = nil }
        return values
    }

    @Test("A batch of numbers, dates and text keeps every value", arguments: [1, 9, 250, 6000], [true, false])
    func everyValue(count: Int, isFilledByObject: Bool) throws {
        let seed = TestSeed.current(for: "PlainBatchTests, \(count) rows")
        var random = SeededGenerator(seed: seed)
        let rows = (0..<count).map { _ in Self.values(&random) }
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            _ = context.insert("Part", ["text": "before"])
            try context.save()
            var index = 0
            let request =
                isFilledByObject
                ? NSBatchInsertRequest(entityName: "Thing") { (object: NSManagedObject) in
                    if index == count { return true }
                    for (key, value) in rows[index] { object.setValue(value is NSNull ? nil : value, forKey: key) }
                    index += 1
                    return false
                } : NSBatchInsertRequest(entityName: "Thing", objects: rows)
            request.resultType = .objectIDs
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            #expect(Set(ids).count == count && ids.count == count)
            for (id, row) in zip(ids, rows) {
                let object = try context.existingObject(with: id)
                #expect(object.entity.name == "Thing" && object.value(forKey: "owner") == nil)
                for (name, _) in Self.types {
                    let given = row[name] ?? (name == "other" ? "a default" : NSNull())
                    let expected = given is NSNull ? nil : given as? NSObject
                    expect(object.value(forKey: name) as? NSObject, equals: expected, "COREDATA_TEST_SEED=\(seed): \(name) of \(row)")
                }
            }
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")), equals: count + 1)
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Part")), equals: 1)
        }
    }

    @Test func aRowThatIsRefusedLeavesNoneOfTheBatch() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            var number = 0
            let request = NSBatchInsertRequest(entityName: "Thing") { (object: NSManagedObject) in
                object.setValue(number == 500 ? 1 << 20 : number, forKey: "small")
                number += 1
                return number > 1000
            }
            #expect(throws: (any Error).self) { try context.execute(request) }
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            expect(count, equals: 0)
        }
    }
}
