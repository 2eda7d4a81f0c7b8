import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Batch inserts of more rows than are kept in memory.
@Suite struct LargeBatchTests {
    private static let rowCount = SQLBatchSpool.chunkSize * 2 + 500

    private static func model(unique: Bool, extra: NSAttributeType? = nil) -> NSManagedObjectModel {
        let types: [(String, NSAttributeType)] = [
            ("text", .stringAttributeType), ("number", .integer64AttributeType), ("real", .doubleAttributeType),
            ("flag", .booleanAttributeType),
            ("date", .dateAttributeType), ("data", .binaryDataAttributeType), ("id", .UUIDAttributeType), ("url", .URIAttributeType),
            ("decimal", .decimalAttributeType),
        ]
        let attributes = (types + (extra.map { [("extra", $0)] } ?? [])).map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            if name == "text" { attribute.defaultValue = "none" }
            return attribute
        }
        let thing = NSEntityDescription(name: "Thing", properties: attributes)
        if unique { thing.uniquenessConstraints = [["number"]] }
        return NSManagedObjectModel(entities: [thing])
    }

    private static func values(_ number: Int) -> [String: Any] {
        [
            "text": "text \(number)", "number": number, "real": Double(number) / 2, "flag": number % 2 == 0,
            "date": Date(timeIntervalSinceReferenceDate: Double(number)), "data": Data([UInt8(number % 256)]),
            "id": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(number / 256 % 256), UInt8(number % 256))),
            "url": URL(string: "https://example.org/\(number)")!,
            "decimal": NSDecimalNumber(mantissa: UInt64(number), exponent: -2, isNegative: false),
        ]
    }

    private static func request(_ count: Int = rowCount, _ more: [String: Any] = [:]) -> NSBatchInsertRequest {
        var number = 0
        return NSBatchInsertRequest(entityName: "Thing") { (dictionary: NSMutableDictionary) in
            if number == count { return true }
            // Every hundredth row has default values only.
            if number % 100 != 99 { dictionary.addEntries(from: values(number).merging(more) { $1 }) }
            number += 1
            return false
        }
    }

    @Test("Rows of a large batch are those that the handler filled", arguments: [nil, NSAttributeType.transformableAttributeType])
    func largeBatches(extra: NSAttributeType?) throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model(unique: false, extra: extra))
        try context.performAndWait {
            let request = Self.request(Self.rowCount, extra == nil ? [:] : ["extra": ["a"]])
            request.resultType = .objectIDs
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            expect(Set(ids).count, equals: Self.rowCount)
            for (number, id) in ids.enumerated() where number % 97 == 0 || number == Self.rowCount - 1 {
                let object = try context.existingObject(with: id)
                let values = Self.values(number)
                for (key, value) in values {
                    let expected = number % 100 == 99 ? (key == "text" ? "none" as NSObject : nil) : value as? NSObject
                    expect(object.value(forKey: key) as? NSObject, equals: expected, "\(number) \(key)")
                }
            }
            let counting = Self.request()
            counting.resultType = .count
            expect((try context.execute(counting) as? NSBatchInsertResult)?.result as? Int, equals: Self.rowCount)
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")), equals: Self.rowCount * 2)
        }
    }

    @Test func aLargeBatchObeysConstraintsAndIsInsertedWhollyOrNot() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model(unique: true))
        try context.performAndWait {
            _ = context.insert("Thing", ["number": 5, "text": "old"])
            try context.save()
            #expect(throws: (any Error).self) { try context.execute(Self.request()) }
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")), equals: 1)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.execute(Self.request())
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "number == 5")
            context.refreshAllObjects()
            try expect(context.fetch(request).map { $0.value(forKey: "text") as? String }, equals: ["text 5"])
            request.predicate = nil
            try expect(context.count(for: request), equals: Self.rowCount)
        }
    }
}
