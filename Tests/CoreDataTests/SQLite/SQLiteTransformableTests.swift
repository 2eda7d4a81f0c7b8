import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Values that a store keeps as bytes.
@Suite struct SQLiteTransformableTests {
    private struct Color: Equatable {
        let red: UInt8
        let green: UInt8
    }

    private final class ColorTransformer: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { (value as? Color).map { Data([$0.red, $0.green]) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let data = value as? Data, data.count == 2 else { return nil }
            return Color(red: data[data.startIndex], green: data[data.startIndex + 1])
        }
    }

    private static func model(_ transformer: String?) -> NSManagedObjectModel {
        let attribute = NSAttributeDescription(name: "value", type: .transformable)
        attribute.valueTransformerName = transformer
        let thing = NSEntityDescription(name: "Thing", properties: [attribute, NSAttributeDescription(name: "name", type: .string)])
        return NSManagedObjectModel(entities: [thing])
    }

    private func roundTrip(_ value: Any, _ transformer: String?) throws -> Any? {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(Self.model(transformer))
            try context.performAndWait {
                _ = context.insert("Thing", ["value": value])
                try context.save()
            }
        }()
        let context = try pad.context(Self.model(transformer))
        return try context.performAndWait { try #require(try context.all("Thing").first).value(forKey: "value") }
    }

    @Test func propertyListsAreArchivedWhereNoTransformerIsNamed() throws {
        for transformer in [nil, "NSSecureUnarchiveFromData"] {
            try expect(roundTrip(["a", "b"], transformer) as? [String], equals: ["a", "b"])
            try expect(roundTrip(["a": 1, "b": 2], transformer) as? [String: Int], equals: ["a": 1, "b": 2])
            try expect(
                roundTrip(Date(timeIntervalSinceReferenceDate: 1.5), transformer) as? Date,
                equals: Date(timeIntervalSinceReferenceDate: 1.5))
        }
    }

    @Test("Values whose transformer does not exist are archived as without one") func missingTransformer() throws {
        try expect(roundTrip(["a", "b"], "NoSuchTransformer") as? [String], equals: ["a", "b"])
        let error = try #require(failure { _ = try roundTrip(Color(red: 1, green: 2), "NoSuchTransformer") })
        #expect(error.localizedDescription.contains("cannot be archived"))
    }

    @Test func aTransformerTurnsValuesIntoBytesAndBack() throws {
        let name = "ColorTransformer\(UUID().uuidString)"
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: NSValueTransformerName(name))
        #expect(ValueTransformer.valueTransformerNames().contains(NSValueTransformerName(name)))
        try expect(roundTrip(Color(red: 1, green: 2), name) as? Color, equals: Color(red: 1, green: 2))
        ValueTransformer.setValueTransformer(nil, forName: NSValueTransformerName(name))
        #expect(ValueTransformer(forName: NSValueTransformerName(name)) == nil)
    }

    @Test func whatCannotBeTurnedIntoBytesFailsTheSave() throws {
        let strange = try #require(failure { _ = try roundTrip(Color(red: 1, green: 2), nil) })
        expect(strange.code, equals: NSPersistentStoreSaveError)
        #expect(strange.localizedDescription.contains("Thing.value"))
    }

    @Test func bytesThatNothingCanOpenStayBytesAndAreNotWrittenAnew() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Self.model(nil))
        try pad.execute("INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (1, 1, 1, x'00FF00')")
        let context = try pad.context(Self.model(nil))
        try context.performAndWait {
            let thing = try #require(try context.all("Thing").first)
            expect(thing.value(forKey: "value") as? Data, equals: Data([0, 255, 0]))
            thing.setValue("a", forKey: "name")
            try context.save()
        }
        try expect(pad.texts("SELECT ZNAME, hex(ZVALUE) FROM ZTHING"), equals: [["a", "00FF00"]])
    }

    @Test func aTransformerMayAskForOthersWhenItIsMade() {
        let name = NSValueTransformerName("CoreDataTests.ChainedTransformer")
        #expect(ValueTransformer(forName: name) is ChainedTransformer)
        #expect(ValueTransformer(forName: name) === ValueTransformer(forName: name))
        ValueTransformer.setValueTransformer(nil, forName: name)
    }
}

/// A transformer that uses another one.
final class ChainedTransformer: ValueTransformer {
    private let other: ValueTransformer?

    override init() {
        other = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
        super.init()
    }
}
