import CoreData
import Foundation
import RandomPrograms
import TestSupport

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Fills any model with objects, whose values are extremes more often than not, and edits them.
struct RandomGraph {
    private static let texts = [
        "", "a", "é", "e\u{301}", "nul\u{0}inside", "😀🏳️‍🌈", "'; DROP TABLE x; --", "%_\\*?", String(repeating: "long ", count: 2000),
        "\n\t", "\u{FEFF}bom", "\u{FFFF}", "日本語",
    ]
    private static let decimals: [Decimal] = [
        0, 1, -1, Decimal(string: "0.1")!, Decimal(string: "-12345678901234567890123456789.123456789")!, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, Decimal(string: "-1e-127")!, Decimal(Int64.max), Decimal(string: "123456789012345678")!,
    ]
    private static let doubles: [Double] = [
        0, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, 0.1,
    ]
    private static let dates: [Date] = [
        .distantPast, .distantFuture, Date(timeIntervalSince1970: -1.5), Date(timeIntervalSinceReferenceDate: 123_456_789.123456),
    ]
    private static let urls = ["https://example.com/a?b=c#d", "file:///tmp/x%20y", "mailto:a@b.c", "a"].compactMap { URL(string: $0) }

    private let context: NSManagedObjectContext
    private var random: SeededGenerator
    private var count: Int
    /// Who is in a to-many relationship without an inverse already: only one owner has room in the table.
    private var owned: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]

    /// - Parameter start: numbers that no unique value has so far.
    init(_ context: NSManagedObjectContext, seed: UInt64, start: Int) {
        self.context = context
        random = SeededGenerator(seed: seed)
        count = start
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    // MARK: Programs

    /// Inserts so many objects of each entity, and relates them.
    mutating func insert(_ number: Int) -> [NSManagedObject] {
        let entities = context.persistentStoreCoordinator!.managedObjectModel.entities.filter { !$0.isAbstract }
        let objects = entities.flatMap { entity in
            (0..<number).map { _ in NSEntityDescription.insertNewObject(forEntityName: entity.name!, into: context) }
        }
        for object in objects {
            for case let attribute as NSAttributeDescription in object.keptProperties { set(attribute, of: object) }
            for case let relationship as NSRelationshipDescription in object.keptProperties where !chance(3) {
                relate(object, relationship, objects)
            }
        }
        return objects
    }

    /// Changes and deletes some objects.
    ///
    /// - Returns: those that stay.
    mutating func edit(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        for object in objects {
            for case let relationship as NSRelationshipDescription in object.keptProperties
            where relationship.isToMany && relationship.mutualInverse == nil {
                owned[ObjectIdentifier(relationship), default: []].formUnion(object.related(relationship).map(ObjectIdentifier.init))
            }
        }
        for object in objects where !object.isDeleted {
            if chance(3) {
                for property in object.keptProperties where chance(2) {
                    if let attribute = property as? NSAttributeDescription { set(attribute, of: object) }
                    if let relationship = property as? NSRelationshipDescription { relate(object, relationship, objects) }
                }
            } else if chance(3) {
                context.delete(object)
            }
        }
        context.processPendingChanges()
        let rest = objects.filter { !$0.isDeleted }
        // Nothing takes deleted objects out of a relationship that does not lead back.
        for object in rest {
            for case let relationship as NSRelationshipDescription in object.keptProperties where relationship.mutualInverse == nil {
                let related = object.related(relationship)
                if related.contains(where: \.isDeleted) { object.relate(relationship, related.filter { !$0.isDeleted }) }
            }
        }
        return rest
    }

    // MARK: Values

    private mutating func set(_ attribute: NSAttributeDescription, of object: NSManagedObject) {
        if attribute is NSDerivedAttributeDescription { return }
        let isUnique = object.entity.frozen!.uniqueness.contains { $0.slotIndexes.contains(attribute.slotIndex) }
        object.setValue(isUnique ? unique(attribute) : chance(7) ? nil : value(attribute), forKey: attribute.name)
    }

    private mutating func unique(_ attribute: NSAttributeDescription) -> Any? {
        count += 1
        switch attribute.attributeType {
        case .stringAttributeType: return "unique \(count)"
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(count))
        case .UUIDAttributeType: return UUID()
        case .URIAttributeType: return URL(string: "https://example.com/\(count)")
        case .binaryDataAttributeType: return Data("\(count)".utf8)
        default: return NSNumber(value: count)
        }
    }

    private mutating func value(_ attribute: NSAttributeDescription) -> Any? {
        switch attribute.attributeType {
        case .integer16AttributeType: return [Int16.min, .max, 0, 1].randomElement(using: &random)
        case .integer32AttributeType: return [Int32.min, .max, 0, 1].randomElement(using: &random)
        case .integer64AttributeType: return [Int64.min, .max, 0, 1].randomElement(using: &random)
        case .booleanAttributeType: return chance(2)
        case .doubleAttributeType: return Self.doubles.randomElement(using: &random)
        case .floatAttributeType: return [Float(0.1), -1, .greatestFiniteMagnitude, .leastNonzeroMagnitude].randomElement(using: &random)
        case .decimalAttributeType: return Self.decimals.randomElement(using: &random)
        case .stringAttributeType:
            return Self.texts.randomElement(using: &random)! + (chance(2) ? "\(Int.random(in: 0..<9, using: &random))" : "")
        case .dateAttributeType: return Self.dates.randomElement(using: &random)
        case .UUIDAttributeType: return UUID()
        case .URIAttributeType: return Self.urls.randomElement(using: &random)
        case .binaryDataAttributeType:
            return [Data(), Data([0]), Data([2, 65, 0]), Data(repeating: 7, count: 110_000)].randomElement(using: &random)
        case .transformableAttributeType: return chance(2) ? ["a", "\(count)"] as NSArray : "text" as NSString
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription else { return nil }
            var values: [String: Any] = [:]
            for element in composite.elements { values[element.name] = value(element) }
            return values
        default: return nil
        }
    }

    private mutating func relate(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ objects: [NSManagedObject]) {
        guard let destination = relationship.destinationEntity else { return }
        var candidates = objects.filter { !$0.isDeleted && $0.entity.isKindOf(entity: destination) }
        let isShared = !relationship.isToMany || relationship.mutualInverse != nil
        if !isShared { candidates.removeAll { owned[ObjectIdentifier(relationship), default: []].contains(ObjectIdentifier($0)) } }
        let limit = relationship.isToMany ? 4 : 1
        let chosen = Array(candidates.shuffled(using: &random).prefix(Int.random(in: 0...limit, using: &random)))
        if !isShared { owned[ObjectIdentifier(relationship), default: []].formUnion(chosen.map(ObjectIdentifier.init)) }
        object.relate(relationship, chosen)
    }
}

extension NSManagedObject {
    /// The properties that a store keeps.
    var keptProperties: [NSPropertyDescription] {
        entity.frozen!.properties.filter { property in
            if property.isTransient || property is NSFetchedPropertyDescription { return false }
            let type = (property as? NSAttributeDescription)?.attributeType
            return type != .undefinedAttributeType && type != .objectIDAttributeType
        }
    }

    /// What a relationship of any kind leads to.
    func related(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        switch value(forKey: relationship.name) {
        case let object as NSManagedObject: [object]
        case let objects as Set<NSManagedObject>: Array(objects)
        case let objects as NSOrderedSet: objects.array as? [NSManagedObject] ?? []
        default: []
        }
    }

    func relate(_ relationship: NSRelationshipDescription, _ objects: [NSManagedObject]) {
        if !relationship.isToMany { return setValue(objects.first, forKey: relationship.name) }
        setValue(relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects), forKey: relationship.name)
    }

    private var place: String { objectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/") }

    /// Every value of an object, as text that tells any two apart.
    private var values: [String: String] {
        var values: [String: String] = [:]
        for property in keptProperties {
            if let relationship = property as? NSRelationshipDescription {
                let places = related(relationship).map(\.place)
                values[property.name] = (relationship.isOrdered ? places : places.sorted()).joined(separator: " ")
            } else if !(property is NSDerivedAttributeDescription) {
                values[property.name] = Self.shown(value(forKey: property.name))
            }
        }
        return values
    }

    /// All values of objects by their places in the store.
    static func snapshot(_ objects: [NSManagedObject]) -> [String: [String: String]] {
        Dictionary(uniqueKeysWithValues: objects.map { ($0.place, $0.values) })
    }

    private static func shown(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let text as String: text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
        case let date as Date: "date \(date.timeIntervalSinceReferenceDate)"
        case let data as Data: "\(data.count) bytes, \(data.prefix(4).map { $0 }), \(data.suffix(4).map { $0 })"
        case let number as Decimal: "decimal \(number)"
        case let number as NSNumber: "\(number)"
        case let list as NSArray: list.map { shown($0) }.joined(separator: ",")
        case let dictionary as [String: Any]:
            dictionary.sorted { $0.key < $1.key }.map { "\($0.key) = \(shown($0.value))" }.joined(separator: ",")
        case let value?: "\(value)"
        }
    }
}
