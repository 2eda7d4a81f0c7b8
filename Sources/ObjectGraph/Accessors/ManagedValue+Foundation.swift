public import Foundation

// Foundation classes of generated properties, and values of types that CoreData does not know.

/// Supports numeric attributes that are not read as scalars, so that nil differs from zero; decimal attributes are read as
/// `NSDecimalNumber`.
extension NSNumber: KeyedManagedValue {
    /// Nil: the type has no value for it; declare the property optional.
    public static var valueForNil: Self? { nil }

    /// Returns the value at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        switch object.currentValue(of: place.property(of: object)) {
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal) as? Self
        case let number as Self: number
        case let value?: converted(value) ?? KeyPathRecorder.placeholder(Self.self, in: object)
        default: KeyPathRecorder.placeholder(Self.self, in: object)
        }
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        if self is NSDecimalNumber.Type { return isAttribute(property, .decimalAttributeType, .transformableAttributeType) }
        return isAttribute(
            property, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .booleanAttributeType, .decimalAttributeType, .transformableAttributeType, .undefinedAttributeType)
    }

    /// Returns whether the attribute holds numbers of another type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isNumeric(attribute) }
    /// Returns a number as this class; nil for nil and other values.
    public static func converted(_ value: Any?) -> Self? {
        if let number = value as? Self { return number }
        return value.flatMap { NumberConversion.decimal($0) }.flatMap { NSDecimalNumber(decimal: $0) as? Self }
    }
}

/// Supports to-many relationships of generated properties, as a set of the current objects, and transformable attributes that hold sets.
extension NSSet: KeyedManagedValue {
    /// Nil: the type has no value for it; declare the property optional.
    public static var valueForNil: Self? { nil }

    /// Returns the value at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let property = place.property(of: object)
        if let relationship = property as? NSRelationshipDescription {
            return NSMutableSet(array: object.toMany(relationship).objects) as? Self
        }
        switch object.currentValue(of: property) {
        case let set as Self: return set
        case let set as Set<AnyHashable>: return NSMutableSet(array: Array(set)) as? Self
        default: return KeyPathRecorder.placeholder(Self.self, in: object)
        }
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && !$0.isOrdered }
            ?? isAttribute(property, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// Wraps a value of any type, for transformable attributes, attributes without a type, and composites:
/// `ManagedProperty<AnyManagedValue<Color>?>`.
///
/// A value of another type is read as nil.
public struct AnyManagedValue<Wrapped>: KeyedManagedValue {
    /// The wrapped value.
    public var wrapped: Wrapped

    /// Wraps a value.
    public init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    /// Nil: the type has no value for it; declare the property optional.
    public static var valueForNil: AnyManagedValue? { nil }

    /// Returns the value at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> AnyManagedValue? {
        FoundationCounterpart.cast(object.currentValue(of: place.property(of: object))).map { AnyManagedValue($0) }
            ?? KeyPathRecorder.placeholder(AnyManagedValue.self, in: object)
    }

    /// Stores a value or nil at `place`.
    public static func setOptional(_ value: AnyManagedValue?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(FoundationCounterpart.plain(value?.wrapped), of: place.property(of: object))
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType, .compositeAttributeType)
    }
}
