import Foundation
import PredicateCases
import Predicates
import TestSupport

/// Entities made at random: attributes in slots of every kind, computed ones, and relationships to one and to many.
final class RandomModel {
    typealias Kind = CaseKind

    final class Entity: PredicateSchema {
        struct Attribute {
            let name: String
            let kind: Kind
            let location: SlotLocation?
        }

        let schemaName: String
        fileprivate(set) var attributes: [Attribute] = []
        fileprivate(set) var toOne: [String: Entity] = [:]
        fileprivate(set) var toMany: [String: Entity] = [:]

        init(name: String) { schemaName = name }

        func attributes(_ kinds: [Kind]) -> [String] { attributes.filter { kinds.contains($0.kind) }.map(\.name) }

        func predicateProperty(named key: String) -> PredicateProperty? {
            if let attribute = attributes.first(where: { $0.name == key }) {
                if let location = attribute.location, let kind = attribute.kind.slotKind { return .slot(location, kind) }
                return .computed { RandomObject.of($0).values[key] ?? .null }
            }
            if let destination = toOne[key] {
                return .toOne(
                    destination: destination,
                    identity: { RandomObject.of($0).toOne[key].map { .object(ObjectReference($0)) } ?? .null },
                    follow: { RandomObject.of($0).toOne[key]?.subject })
            }
            return toMany[key].map { destination in
                .toMany(
                    destination: destination, count: { RandomObject.of($0).toMany[key]?.count ?? 0 },
                    forEach: { subject, body in
                        for object in RandomObject.of(subject).toMany[key] ?? [] where try !body(object.subject) { return }
                    })
            }
        }

        func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(RandomObject.of(subject))) }
        func constant(for object: AnyObject) -> PropertyValue? { nil }
        func publicObject(of subject: PredicateSubject) -> Any { RandomObject.of(subject) }
    }

    let entities: [Entity]

    init(_ random: inout SeededGenerator) {
        entities = (0..<3).map { Entity(name: "Entity\($0)") }
        for entity in entities {
            var kinds = Kind.allCases + [.int, .text]
            kinds += (0..<3).compactMap { _ in Kind.allCases.randomElement(using: &random) }
            var offset = 8
            for (index, kind) in kinds.shuffled(using: &random).enumerated() {
                let location = kind.slotKind.map { _ in SlotLocation(offset: offset, nullOffset: 0, nullMask: 1 << UInt64(index)) }
                if location != nil { offset += 16 }
                entity.attributes.append(Entity.Attribute(name: "\(kind)\(index)", kind: kind, location: location))
            }
            for name in ["one", "other"] { entity.toOne[name] = entities.randomElement(using: &random) }
            for name in ["many", "more"] { entity.toMany[name] = entities.randomElement(using: &random) }
        }
    }

    deinit {
        // Entities refer to each other in circles.
        for entity in entities { (entity.toOne, entity.toMany) = ([:], [:]) }
    }
}

extension CaseKind {
    var slotKind: SlotKind? {
        switch self {
        case .bool: .bool
        case .int: .int64
        case .double: .double
        case .text: .string
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .decimal, .url: nil
        }
    }
}

/// An object of a random model: as a subject with slots, as an object with keys, and as what a naive evaluator reads.
final class RandomObject: KeyValueReadable {
    let entity: RandomModel.Entity
    let values: [String: PropertyValue]
    var toOne: [String: RandomObject] = [:]
    var toMany: [String: [RandomObject]] = [:]
    private let slots: UnsafeMutableRawPointer

    init(_ entity: RandomModel.Entity, _ values: [String: PropertyValue]) {
        self.entity = entity
        self.values = values
        slots = .allocate(byteCount: 16 + entity.attributes.count * 16, alignment: 16)
        var nulls: UInt64 = 0
        for attribute in entity.attributes {
            guard let location = attribute.location else { continue }
            let place = slots + location.offset
            switch values[attribute.name] ?? .null {
            case .bool(let value): place.initializeMemory(as: Int64.self, to: value ? 1 : 0)
            case .int64(let value): place.initializeMemory(as: Int64.self, to: value)
            case .double(let value): place.initializeMemory(as: Double.self, to: value)
            case .date(let value): place.initializeMemory(as: Double.self, to: value.timeIntervalSinceReferenceDate)
            case .string(let value): place.initializeMemory(as: String.self, to: value)
            case .data(let value): place.initializeMemory(as: Data.self, to: value)
            case .uuid(let value): place.initializeMemory(as: UUID.self, to: value)
            default: nulls |= location.nullMask
            }
        }
        slots.storeBytes(of: nulls, as: UInt64.self)
    }

    deinit {
        for attribute in entity.attributes {
            guard let location = attribute.location else { continue }
            switch values[attribute.name] ?? .null {
            case .string: (slots + location.offset).assumingMemoryBound(to: String.self).deinitialize(count: 1)
            case .data: (slots + location.offset).assumingMemoryBound(to: Data.self).deinitialize(count: 1)
            default: break
            }
        }
        slots.deallocate()
    }

    var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(slots), object: self) }

    static func of(_ subject: PredicateSubject) -> RandomObject { unsafeDowncast(subject.object, to: RandomObject.self) }

    func value(forKey key: String) -> Any? { values[key] ?? toOne[key] ?? toMany[key] }

    /// The values, and those of the objects that it leads to.
    var shown: String {
        let own = values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.literal)" }
        let one = toOne.sorted { $0.key < $1.key }.map { "\($0.key): (\($0.value.shown))" }
        let many = toMany.sorted { $0.key < $1.key }.map { "\($0.key): [\($0.value.map(\.shown).joined(separator: "; "))]" }
        return (own + one + many).joined(separator: ", ")
    }
}
