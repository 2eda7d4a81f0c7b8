import CoreData
import Foundation
import RandomPrograms
import TestSupport

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Models with properties of every kind, in random numbers, and objects with random values.
struct RandomModel {
    let model: NSManagedObjectModel
    private static let types: [NSAttributeDescription.AttributeType] = [
        .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .string, .binaryData, .uuid, .uri, .decimal, .transformable,
        .composite,
    ]

    init(_ random: inout SeededGenerator) {
        var entities: [NSEntityDescription] = []
        for number in 0..<Int.random(in: 1...4, using: &random) {
            let entity = NSEntityDescription(name: "E\(number)")
            entity.properties = (0..<Int.random(in: 0...20, using: &random)).map { index in
                let type = Self.types.randomElement(using: &random)!
                let name = "e\(number)a\(index)"
                let isTransient = Int.random(in: 0..<10, using: &random) == 0
                guard type != .composite else {
                    let composite = NSCompositeAttributeDescription()
                    composite.name = name
                    composite.isOptional = true
                    composite.elements = [
                        NSAttributeDescription(name: "x", type: .double), NSAttributeDescription(name: "y", type: .string),
                    ]
                    return composite
                }
                let attribute = NSAttributeDescription(name: name, type: type)
                attribute.isTransient = isTransient
                return attribute
            }
            if let superentity = entities.randomElement(using: &random), Bool.random(using: &random) {
                superentity.subentities.append(entity)
            }
            entities.append(entity)
        }
        for number in 0..<Int.random(in: 0...6, using: &random) {
            let (from, to) = (entities.randomElement(using: &random)!, entities.randomElement(using: &random)!)
            let there = NSRelationshipDescription(
                name: "r\(number)", destination: to, toMany: Bool.random(using: &random), isOrdered: Bool.random(using: &random))
            let back = NSRelationshipDescription(name: "b\(number)", destination: from, toMany: Bool.random(using: &random))
            if !there.isToMany { there.isOrdered = false }
            there.inverse(to: back)
            from.properties.append(there)
            to.properties.append(back)
        }
        model = NSManagedObjectModel(entities: entities)
    }

    /// Sets random values of some properties of objects of a context.
    static func edit(_ objects: [NSManagedObject], _ random: inout SeededGenerator) {
        for object in objects {
            for case let attribute as NSAttributeDescription in object.entity.properties where Int.random(in: 0..<4, using: &random) > 0 {
                object.setValue(value(attribute.type, &random), forKey: attribute.name)
            }
            for case let relationship as NSRelationshipDescription in object.entity.properties where Bool.random(using: &random) {
                let others = objects.filter { $0.entity.isKindOf(entity: relationship.destinationEntity!) && !$0.isDeleted }
                if !relationship.isToMany {
                    object.setValue(others.randomElement(using: &random), forKey: relationship.name)
                    continue
                }
                let some = others.shuffled(using: &random).prefix(3)
                object.setValue(relationship.isOrdered ? NSOrderedSet(array: Array(some)) : Set(some), forKey: relationship.name)
            }
        }
    }

    private static func value(_ type: NSAttributeDescription.AttributeType, _ random: inout SeededGenerator) -> Any? {
        if Int.random(in: 0..<6, using: &random) == 0 { return nil }
        let bits = random.next()
        switch type {
        case .integer16: return Int(Int16(truncatingIfNeeded: bits))
        case .integer32: return Int(Int32(truncatingIfNeeded: bits))
        case .integer64: return [Int(truncatingIfNeeded: bits), .max, .min, 0].randomElement(using: &random)!
        case .boolean: return bits & 1 == 0
        case .double, .float: return Double.random(in: -1e6...1e6, using: &random)
        case .date: return Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random))
        case .string:
            return ["", "ASCII", "naïve é 👩‍👩‍👧", "a\0b", String(repeating: "long ", count: Int(bits % 60))].randomElement(using: &random)!
        case .binaryData: return Data((0..<Int(bits % 50)).map { UInt8(truncatingIfNeeded: $0) })
        case .uuid:
            let next = random.next()
            return withUnsafeBytes(of: (bits, next)) { UUID(uuid: $0.load(as: uuid_t.self)) }
        case .uri: return URL(string: "https://example.org/\(bits)?q=a%20b")
        case .decimal:
            return [Decimal(string: "-12345678901234567890123456789012345678")!, Decimal(string: "0.0001")!, Decimal(bits)]
                .randomElement(using: &random)!
        case .transformable: return ["words", "\(bits)"]
        case .composite: return ["x": 1.5, "y": "text \(bits)"] as [String: Any]
        default: return nil
        }
    }
}
