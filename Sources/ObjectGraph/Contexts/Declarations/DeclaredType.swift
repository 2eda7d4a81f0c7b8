internal import Foundation

/// The type of a relationship property: a managed object, a set of managed objects, or an array of them.
public protocol RelatedValue {
    /// The class of the destination objects.
    static var destination: NSManagedObject.Type { get }
    /// Whether the relationship is to-many.
    static var isToMany: Bool { get }
    /// Whether the relationship is ordered.
    static var isOrdered: Bool { get }
}

/// Supports to-one relationships.
extension RelatedValue where Self: NSManagedObject {
    /// The class.
    public static var destination: NSManagedObject.Type { self }
    /// False.
    public static var isToMany: Bool { false }
    /// False.
    public static var isOrdered: Bool { false }
}

extension NSManagedObject: RelatedValue {}

/// Supports to-many relationships.
extension Set: RelatedValue where Element: NSManagedObject {
    /// The class of the objects.
    public static var destination: NSManagedObject.Type { Element.self }
    /// True.
    public static var isToMany: Bool { true }
    /// False.
    public static var isOrdered: Bool { false }
}

/// Supports ordered to-many relationships.
extension Array: RelatedValue where Element: NSManagedObject {
    /// The class of the objects.
    public static var destination: NSManagedObject.Type { Element.self }
    /// True.
    public static var isToMany: Bool { true }
    /// True.
    public static var isOrdered: Bool { true }
}

/// Maps Swift types to attribute types.
enum DeclaredType {
    private static let types: [ObjectIdentifier: NSAttributeType] = [
        ObjectIdentifier(Int.self): .integer64AttributeType, ObjectIdentifier(Int64.self): .integer64AttributeType,
        ObjectIdentifier(Int32.self): .integer32AttributeType, ObjectIdentifier(Int16.self): .integer16AttributeType,
        ObjectIdentifier(Bool.self): .booleanAttributeType, ObjectIdentifier(Double.self): .doubleAttributeType,
        ObjectIdentifier(Float.self): .floatAttributeType, ObjectIdentifier(Decimal.self): .decimalAttributeType,
        ObjectIdentifier(String.self): .stringAttributeType, ObjectIdentifier(Date.self): .dateAttributeType,
        ObjectIdentifier(Data.self): .binaryDataAttributeType, ObjectIdentifier(UUID.self): .UUIDAttributeType,
        ObjectIdentifier(URL.self): .URIAttributeType,
    ]

    /// Returns the attribute type of a Swift type; nil if there is none.
    static func of(_ type: any Any.Type) -> NSAttributeType? {
        if let known = types[ObjectIdentifier(type)] { return known }
        if type is any CompositeValue.Type { return .compositeAttributeType }
        if let enumeration = type as? any RawRepresentable.Type { return ofRawValue(enumeration) }
        return (type as? any ManagedScalar.Type)?.attributeTypes.first
    }

    private static func ofRawValue<Value: RawRepresentable>(_ type: Value.Type) -> NSAttributeType? { of(Value.RawValue.self) }

    /// Converts a value of a Swift type to the form of a description's default value.
    static func modelValue(_ value: Any) -> Any? {
        if let composite = value as? any CompositeValue { return composite.compositeValues }
        if types[ObjectIdentifier(Swift.type(of: value))] == nil, let enumeration = value as? any RawRepresentable {
            return rawValue(enumeration)
        }
        return value
    }

    private static func rawValue(_ value: some RawRepresentable) -> Any { value.rawValue }
}
