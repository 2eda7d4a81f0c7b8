public import Foundation

/// A value of a property or of a predicate constant, outside of a row.
///
/// Rows hold their values in typed storage; this enumeration represents a single value. Equality and hashing are those of the cases
/// (`int64(1)` differs from `double(1)`); predicates compare numbers by value, regardless of the case.
public enum PropertyValue: Hashable, Sendable {
    /// No value: `nil`.
    case null
    /// A Boolean. Predicates compare it with numbers as 0 or 1.
    case bool(Bool)
    /// An integer of any width.
    case int64(Int64)
    /// A binary floating-point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A string.
    case string(String)
    /// A date.
    case date(Date)
    /// Binary data.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URL.
    case url(URL)
    /// Any other object, such as the identifier of a managed object.
    case object(ObjectReference)
    /// An ordered collection.
    case array([PropertyValue])
    /// An unordered collection.
    case set(Set<PropertyValue>)

    /// Whether this is ``null``.
    @inlinable public var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

/// An object inside a ``PropertyValue``.
///
/// Two references are equal when their objects are: by `isEqual` for an `NSObject`, by identity for any other class.
public struct ObjectReference: Hashable, @unchecked Sendable {
    // Unchecked: the reference is only compared and returned; its owner is responsible for using the object on its own queue.

    /// The object.
    public let object: AnyObject

    /// Wraps an object.
    public init(_ object: AnyObject) {
        self.object = object
    }

    /// Compares two objects by `isEqual`, or by identity if they are not `NSObject`s.
    public static func == (left: ObjectReference, right: ObjectReference) -> Bool {
        if left.object === right.object { return true }
        guard let first = left.object as? NSObject, let second = right.object as? NSObject else { return false }
        return first.isEqual(second)
    }

    /// Hashes consistently with equality.
    public func hash(into hasher: inout Hasher) {
        if let object = object as? NSObject {
            hasher.combine(object.hash)
        } else {
            hasher.combine(ObjectIdentifier(object))
        }
    }
}
