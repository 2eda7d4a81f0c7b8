import Foundation
import Predicates

/// A row with typed slots, as a store lays them out: a word of null bits, then the values.
final class Row {
    enum Field: Int, CaseIterable {
        case active, age, score, born, name, city, token

        var location: SlotLocation {
            let offsets = [8, 16, 24, 32, 48, 64, 80]
            return SlotLocation(offset: offsets[rawValue], nullOffset: 0, nullMask: 1 << UInt64(rawValue))
        }

        var kind: SlotKind {
            switch self {
            case .active: .bool
            case .age: .int64
            case .score: .double
            case .born: .date
            case .name, .city: .string
            case .token: .uuid
            }
        }
    }

    let slots = UnsafeMutableRawPointer.allocate(byteCount: 96, alignment: 16)
    var boss: Row?
    var friends: [Row] = []
    var price: Decimal?
    /// What a naive evaluator sees: the same values outside the slots.
    private(set) var values: [String: PropertyValue] = [:]

    init(
        active: Bool? = nil, age: Int64? = nil, score: Double? = nil, born: Date? = nil, name: String? = nil, city: String? = nil,
        token: UUID? = nil, price: Decimal? = nil
    ) {
        self.price = price
        var nulls: UInt64 = 0
        func store<Value>(_ field: Field, _ value: Value?, _ property: (Value) -> PropertyValue) {
            values["\(field)"] = value.map(property) ?? .null
            guard let value else {
                nulls |= field.location.nullMask
                return
            }
            (slots + field.location.offset).initializeMemory(as: Value.self, to: value)
        }
        store(.active, active.map { $0 ? Int64(1) : 0 }) { .bool($0 != 0) }
        store(.age, age) { .int64($0) }
        store(.score, score) { .double($0) }
        store(.born, born?.timeIntervalSinceReferenceDate) { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        store(.name, name) { .string($0) }
        store(.city, city) { .string($0) }
        store(.token, token) { .uuid($0) }
        values["price"] = price.map { .decimal($0) } ?? .null
        slots.storeBytes(of: nulls, as: UInt64.self)
    }

    deinit {
        for field in [Field.name, .city] where values["\(field)"] != .null {
            (slots + field.location.offset).assumingMemoryBound(to: String.self).deinitialize(count: 1)
        }
        slots.deallocate()
    }

    var subject: PredicateSubject {
        PredicateSubject(slots: UnsafeRawPointer(slots), object: self)
    }
}

/// Describes ``Row``: its slots, a computed attribute, and relationships to one and to many.
final class RowSchema: PredicateSchema {
    let schemaName = "Person"

    func predicateProperty(named key: String) -> PredicateProperty? {
        if let field = Row.Field.allCases.first(where: { "\($0)" == key }) { return .slot(field.location, field.kind) }
        switch key {
        case "price": return .computed { RowSchema.row($0).values["price"] ?? .null }
        case "boss":
            return .toOne(
                destination: self,
                identity: { RowSchema.row($0).boss.map { .object(ObjectReference($0)) } ?? .null },
                follow: { RowSchema.row($0).boss?.subject })
        case "friends":
            return .toMany(
                destination: self,
                count: { RowSchema.row($0).friends.count },
                forEach: { subject, body in
                    for friend in RowSchema.row(subject).friends where try !body(friend.subject) { return }
                })
        default: return nil
        }
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(RowSchema.row(subject))) }
    func constant(for object: AnyObject) -> PropertyValue? { nil }
    func publicObject(of subject: PredicateSubject) -> Any { RowSchema.row(subject) }

    private static func row(_ subject: PredicateSubject) -> Row {
        unsafeDowncast(subject.object, to: Row.self)
    }
}

extension [Row] {
    /// The rows that a format matches.
    func matching(_ format: String, _ arguments: Any?...) throws -> [Row] {
        let compiled = try PredicateTree(parsing: format, argumentArray: arguments).compiled(for: RowSchema())
        return try filter { try compiled.matches($0.subject) }
    }

    /// The ages of the rows that a format matches, which is how tests tell rows apart.
    func ages(_ format: String, _ arguments: Any?...) throws -> [Int64] {
        let compiled = try PredicateTree(parsing: format, argumentArray: arguments).compiled(for: RowSchema())
        return try filter { try compiled.matches($0.subject) }.compactMap {
            if case .int64(let age)? = $0.values["age"] { age } else { nil }
        }
    }
}
