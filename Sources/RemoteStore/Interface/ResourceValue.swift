public import Foundation
public import Predicates

/// A reference to a resource: its identifier, and its entity if the destination of the relationship has subentities.
public struct ResourceReference: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// The identifier of the resource.
    public var id: ResourceID
    /// The name of its entity; nil for the destination of the relationship. If the destination has subentities and the actual one is not known yet, the
    /// resource is read along with the resources that refer to it.
    public var entity: String?

    /// Creates a reference.
    public init(_ id: ResourceID, entity: String? = nil) {
        self.id = id
        self.entity = entity
    }
    /// Creates a reference to a resource with a number.
    public init(integerLiteral value: Int64) { self.init(.integer(value)) }
    /// Creates a reference to a resource with a string.
    public init(stringLiteral value: String) { self.init(.string(value)) }
}

/// A value of a property, outside of a row: of an attribute or a relationship.
///
/// ```swift
/// let values: [String: ResourceValue] = ["title": "Abbey Road", "year": 1969, "band": .one(7), "rating": nil]
/// ```
public enum ResourceValue: Hashable, Sendable {
    /// The value of an attribute.
    case value(PropertyValue)
    /// The destination of a to-one relationship.
    case one(ResourceReference?)
    /// All destinations of a to-many relationship, in order for an ordered one.
    case many([ResourceReference])

    /// Whether another value is the same, or both are null.
    package func isAlike(_ other: ResourceValue) -> Bool { self == other || isNull && other.isNull }

    /// The empty value of the same kind.
    var empty: ResourceValue {
        switch self {
        case .value: .value(.null)
        case .one: .one(nil)
        case .many: .many([])
        }
    }

    /// Whether the value is null, or has no destination.
    public var isNull: Bool {
        switch self {
        case .value(let value): value.isNull
        case .one(let reference): reference == nil
        case .many: false
        }
    }
    /// The value of an attribute; null for a relationship.
    public var value: PropertyValue { if case .value(let value) = self { value } else { .null } }
    /// The string, if it is one.
    public var string: String? { if case .value(.string(let text)) = self { text } else { nil } }
    /// The integer, if it is one.
    public var int64: Int64? { if case .value(.int64(let number)) = self { number } else { nil } }
    /// The identifier of the destination, if there is one.
    public var id: ResourceID? { if case .one(let reference) = self { reference?.id } else { nil } }
}

extension ResourceValue {
    /// Creates a string, or null.
    public init(_ string: String?) { self = .value(string.map { .string($0) } ?? .null) }
    /// Creates an integer, or null.
    public init(_ number: Int?) { self = .value(number.map { .int64(Int64($0)) } ?? .null) }
    /// Creates an integer, or null.
    public init(_ number: Int64?) { self = .value(number.map { .int64($0) } ?? .null) }
    /// Creates a floating-point number, or null.
    public init(_ number: Double?) { self = .value(number.map { .double($0) } ?? .null) }
    /// Creates a decimal number, or null.
    public init(_ number: Decimal?) { self = .value(number.map { .decimal($0) } ?? .null) }
    /// Creates a Boolean, or null.
    public init(_ flag: Bool?) { self = .value(flag.map { .bool($0) } ?? .null) }
    /// Creates a date, or null.
    public init(_ date: Date?) { self = .value(date.map { .date($0) } ?? .null) }
    /// Creates data, or null.
    public init(_ data: Data?) { self = .value(data.map { .data($0) } ?? .null) }
    /// Creates a UUID, or null.
    public init(_ uuid: UUID?) { self = .value(uuid.map { .uuid($0) } ?? .null) }
    /// Creates a URL, or null.
    public init(_ url: URL?) { self = .value(url.map { .url($0) } ?? .null) }
}

extension ResourceValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .value(.int64(value)) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
    /// Creates null.
    public init(nilLiteral: ()) { self = .value(.null) }
}

extension ResourceValue {
    /// Whether another value is bitwise the same: strings that are only canonically equivalent are not.
    func isSame(as other: ResourceValue) -> Bool {
        switch (self, other) {
        case (.value(let left), .value(let right)): left.isSame(as: right)
        case (.one(let left), .one(let right)): left == right
        case (.many(let left), .many(let right)): left == right
        default: isNull && other.isNull
        }
    }
}

extension PropertyValue {
    /// Whether another value is bitwise the same.
    fileprivate func isSame(as other: PropertyValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.array(let left), .array(let right)): left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        default: self == other
        }
    }
}
