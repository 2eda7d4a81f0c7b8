public import Foundation

// The classes of Foundation that generated properties have, and values of types that CoreData knows nothing about.

/// For numeric attributes that are not read as scalars, so that nil can be told from zero; as `NSDecimalNumber` for decimal attributes.
extension NSNumber: KeyedManagedValue {
    /// There is none: declare the property optional.
    public static var valueForNil: Self? { nil }

    /// See ``ManagedValue``.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        switch object.currentValue(of: place.property(of: object)) {
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal) as? Self
        case let number as Self: number
        default: KeyPathRecorder.standIn(Self.self, in: object)
        }
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        if self is NSDecimalNumber.Type { return isAttribute(property, .decimalAttributeType, .transformableAttributeType) }
        return isAttribute(
            property, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .booleanAttributeType, .decimalAttributeType, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// For to-many relationships, as generated properties have them: a set of the objects that are there when it is read. And for transformable
/// attributes that hold sets.
extension NSSet: KeyedManagedValue {
    /// There is none: declare the property optional.
    public static var valueForNil: Self? { nil }

    /// See ``ManagedValue``.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let property = place.property(of: object)
        if let relationship = property as? NSRelationshipDescription {
            return NSMutableSet(array: object.toMany(relationship).objects) as? Self
        }
        switch object.currentValue(of: property) {
        case let set as Self: return set
        case let set as Set<AnyHashable>: return NSMutableSet(array: Array(set)) as? Self
        default: return KeyPathRecorder.standIn(Self.self, in: object)
        }
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && !$0.isOrdered }
            ?? isAttribute(property, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// A value of any type, for transformable attributes, attributes of no type, and composites: `ManagedProperty<AnyManagedValue<Color>?>`.
///
/// A value of another type reads as nil.
public struct AnyManagedValue<Wrapped>: KeyedManagedValue {
    /// The value.
    public var wrapped: Wrapped

    /// Makes a value that can be kept by a managed object.
    public init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    /// There is none: declare the property optional.
    public static var valueForNil: AnyManagedValue? { nil }

    /// See ``ManagedValue``.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> AnyManagedValue? {
        FoundationCounterpart.cast(object.currentValue(of: place.property(of: object))).map { AnyManagedValue($0) }
            ?? KeyPathRecorder.standIn(AnyManagedValue.self, in: object)
    }

    /// See ``ManagedValue``.
    public static func setOptional(_ value: AnyManagedValue?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(FoundationCounterpart.plain(value?.wrapped), of: place.property(of: object))
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType, .compositeAttributeType)
    }
}
