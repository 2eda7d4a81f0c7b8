import CoreData
import Foundation
import Platform
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// A class that no model mentions, and that records that it was instantiated from an archive.
final class Intruder: NSObject, NSSecureCoding {
    static let runs = LockedBox(0)
    static var supportsSecureCoding: Bool { true }

    override init() { super.init() }
    required init?(coder: NSCoder) { Self.runs.withLock { $0 += 1 } }
    func encode(with coder: NSCoder) {}
}

/// A class that a transformer or an attribute allows.
final class Cover: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let title: String
    let year: Int
    let width: Double
    let isPrinted: Bool
    let image: Data
    let tags: [String]
    let maker: Maker?
    let anything: Any?

    init(_ title: String, maker: Maker? = nil, anything: Any? = nil) {
        self.title = title
        (year, width, isPrinted, image, tags) = (1968, 1.5, true, Data([1, 2]), ["a", "b"])
        self.maker = maker
        self.anything = anything
    }

    required init?(coder: NSCoder) {
        guard let title = coder.decodeObject(of: NSString.self, forKey: "title") else { return nil }
        self.title = title as String
        year = coder.decodeInteger(forKey: "year")
        width = coder.decodeDouble(forKey: "width")
        isPrinted = coder.decodeBool(forKey: "isPrinted")
        image = coder.withDecodedUnsafeBytes(forKey: "image") { $0.map { Data($0) } } ?? Data()
        tags = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "tags") as? [String] ?? []
        maker = coder.decodeObject(of: Maker.self, forKey: "maker")
        anything = coder.decodeObject(forKey: "anything")
    }

    func encode(with coder: NSCoder) {
        coder.encode(title as NSString, forKey: "title")
        coder.encode(year, forKey: "year")
        coder.encode(width, forKey: "width")
        coder.encode(isPrinted, forKey: "isPrinted")
        image.withUnsafeBytes { coder.encodeBytes($0.bindMemory(to: UInt8.self).baseAddress, length: image.count, forKey: "image") }
        coder.encode(tags as NSArray, forKey: "tags")
        coder.encode(maker, forKey: "maker")
        coder.encode(anything, forKey: "anything")
    }
}

/// A class that only ``Cover`` asks for.
final class Maker: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    init(_ name: String) { self.name = name }
    required init?(coder: NSCoder) { name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? "" }
    func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
}

final class CoverTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = "CoverTransformer"
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Cover.self] }
    static let registered: Void = ValueTransformer.setValueTransformer(CoverTransformer(), forName: NSValueTransformerName(name))
}

/// Which classes are instantiated when the archive of a transformable value is read.
@Suite(.serialized) struct ArchivedClassesTests {
    init() { _ = CoverTransformer.registered }

    static func model(_ transformer: String?, valueClass: String? = nil) -> NSManagedObjectModel {
        let attribute = NSAttributeDescription(name: "value", type: .transformable)
        attribute.valueTransformerName = transformer
        attribute.attributeValueClassName = valueClass
        let thing = NSEntityDescription(name: "Thing", properties: [attribute, NSAttributeDescription(name: "name", type: .string)])
        return NSManagedObjectModel(entities: [thing])
    }

    /// Reads the value from a store whose column holds `data`.
    static func value(of data: Data, _ model: NSManagedObjectModel) throws -> Any? {
        let pad = try Scratchpad()
        _ = try pad.coordinator(model)
        let digits = data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try pad.execute("INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZVALUE) VALUES (7, 1, 1, x'\(digits)')")
        let context = try pad.context(model)
        return try context.performAndWait { try #require(try context.all("Thing").first).value(forKey: "value") }
    }

    private func roundTrip(_ value: Any, _ model: NSManagedObjectModel) throws -> Any? {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(model)
            try context.performAndWait {
                _ = context.insert("Thing", ["value": value])
                try context.save()
            }
        }()
        let context = try pad.context(model)
        return try context.performAndWait { try #require(try context.all("Thing").first).value(forKey: "value") }
    }

    @Test(
        "An archive cannot have classes instantiated that are not allowed",
        arguments: [nil, "NSSecureUnarchiveFromData", CoverTransformer.name, "NSKeyedUnarchiveFromData"])
    func noOtherClassIsInstantiated(transformer: String?) throws {
        let intruder = Intruder()
        let hosts: [Any] = [
            intruder, [intruder] as NSArray, [["a", [intruder] as NSArray] as NSArray] as NSArray, ["a": intruder] as NSDictionary,
            NSSet(array: [intruder]), NSOrderedSet(array: ["a", intruder]), [Cover("a", anything: intruder)] as NSArray,
        ]
        for host in hosts {
            let data = try NSKeyedArchiver.archivedData(withRootObject: host, requiringSecureCoding: false)
            let runs = Intruder.runs.withLock { $0 }
            try expect(Self.value(of: data, Self.model(transformer)) as? Data, equals: data, "\(host)")
            expect(Intruder.runs.withLock { $0 }, equals: runs, "\(host)")
        }
    }

    @Test func objectsOfAllowedClassesComeBackAtEveryLevel() throws {
        let cover = Cover("Tago Mago", maker: Maker("U9"), anything: ["x": [1, 2]] as NSDictionary)
        for model in [
            Self.model(CoverTransformer.name), Self.model(nil, valueClass: "Cover"), Self.model(nil, valueClass: "CoreDataTests.Cover"),
            Self.model("NSKeyedUnarchiveFromData", valueClass: ".Cover"),
        ] {
            let read = try #require(try roundTrip(cover, model) as? Cover)
            #expect(read.title == "Tago Mago" && read.year == 1968 && read.width == 1.5 && read.isPrinted && read.image == Data([1, 2]))
            #expect(read.tags == ["a", "b"] && read.maker?.name == "U9")
            expect(read.anything as? [String: [Int]], equals: ["x": [1, 2]])
            let list = try #require(try roundTrip(["first": [cover, cover]], model) as? [String: [Cover]])
            expect(list["first"]?.map(\.title), equals: ["Tago Mago", "Tago Mago"])
            // The same object stays the same one.
            #expect(list["first"]?[0] === list["first"]?[1])
        }
    }

    @Test func whatCouldNotBeReadAgainIsNotSaved() throws {
        for value in [Intruder(), [Intruder()], ["a": [Cover("a")]]] as [Any] {
            for transformer in [nil, "NSSecureUnarchiveFromData"] {
                let error = try #require(failure { _ = try roundTrip(value, Self.model(transformer)) })
                #expect(error.code == NSPersistentStoreSaveError && error.localizedDescription.contains("Thing.value"), "\(error)")
            }
        }
        let deep = (0..<200).reduce("x" as Any) { value, _ in [value] }
        try expect(#require(failure { _ = try roundTrip(deep, Self.model(nil)) }).code, equals: NSPersistentStoreSaveError)
    }

    @Test func valuesOfEveryTypeComeBack() throws {
        let id = UUID()
        let values: [String: Any] = [
            "text": "ą", "empty": "", "yes": true, "one": 1, "whole": 1.0, "large": UInt64.max, "half": 0.5,
            "date": Date(timeIntervalSinceReferenceDate: 2),
            "data": Data([0, 255]), "id": id, "url": URL(string: "https://example.org/a?b")!, "decimal": NSDecimalNumber(string: "12.34"),
            "null": NSNull(),
            "set": Set(["a", "b"]), "list": [[1, 2], [3]] as [[Int]],
        ]
        for transformer in [nil, "NSSecureUnarchiveFromData", CoverTransformer.name] {
            let read = try #require(try roundTrip(values, Self.model(transformer)) as? [String: Any])
            #expect(read["text"] as? String == "ą" && read["empty"] as? String == "" && read["yes"] as? Bool == true)
            #expect(read["one"] as? Int == 1 && read["whole"] as? Double == 1 && read["half"] as? Double == 0.5)
            expect((read["large"] as? NSNumber)?.uint64Value, equals: UInt64.max)
            #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 2) && read["data"] as? Data == Data([0, 255]))
            #expect(read["id"] as? UUID == id && read["url"] as? URL == URL(string: "https://example.org/a?b"))
            #expect((read["decimal"] as? NSDecimalNumber) == NSDecimalNumber(string: "12.34") && read["null"] is NSNull)
            #expect(read["set"] as? Set<String> == ["a", "b"] && read["list"] as? [[Int]] == [[1, 2], [3]])
            let keys = try #require(try roundTrip([1: "x", 2: "y"] as NSDictionary, Self.model(transformer)) as? [Int: String])
            expect(keys, equals: [1: "x", 2: "y"])
        }
        let ordered = NSOrderedSet(array: ["b", "a"])
        try expect(roundTrip(ordered, Self.model(nil)) as? NSOrderedSet, equals: ordered)
    }

    @Test func setsThatSwiftCannotHoldStayBytes() throws {
        // A set of an array, which has no hash in Swift.
        let set = NSSet(array: [["a"] as NSArray])
        let data = try NSKeyedArchiver.archivedData(withRootObject: set, requiringSecureCoding: false)
        try expect(Self.value(of: data, Self.model(nil)) as? Data, equals: data)
    }

    @Test("Dictionaries and sets with a key that has no hash once it is archived are errors of the save")
    func keysWithoutHash() throws {
        let values: [Any] = [
            [["a": 1]: "x"] as [AnyHashable: Any], [["a"]: "x"] as [AnyHashable: Any], Set([["a"]]), Set([["a": 1]]),
            [[["a": 1]: "x"] as [AnyHashable: Any]], ["outer": [["a": 1]: "x"] as [AnyHashable: Any]],
            NSDictionary(object: "x" as NSString, forKey: ["a": 1] as NSDictionary), NSSet(object: ["a"] as NSArray),
        ]
        for transformer in [nil, CoverTransformer.name] {
            for value in values {
                try expect(#require(failure { _ = try roundTrip(value, Self.model(transformer)) }).code, equals: NSPersistentStoreSaveError)
            }
        }
    }

    @Test func aFieldOfAnotherTypeIsDamage() throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: Cover("a"), requiringSecureCoding: true)
        var list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        var objects = try #require(list["$objects"] as? [Any])
        var fields = try #require(objects[1] as? [String: Any])
        fields["year"] = "1968"
        objects[1] = fields
        list["$objects"] = objects
        let damaged = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        let error = try #require(failure { _ = try Self.value(of: damaged, Self.model(CoverTransformer.name)) })
        #expect(
            error.localizedDescription.contains("The field year of object 1, of class CoreDataTests.Cover, has another type"), "\(error)")
    }
}
