public import Foundation
internal import Predicates

// Optionals, enumerations, values that need a box, and relationships.

/// Supports optional properties.
extension Optional: ManagedValue where Wrapped: ManagedValue {
    /// Returns the value at `place`; the type's value for nil if it is nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Wrapped? {
        Wrapped.getOptional(from: object, at: place)
    }

    /// Returns the value at `place`, or nil.
    @inlinable public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Wrapped?? {
        .some(Wrapped.getOptional(from: object, at: place))
    }

    /// Stores a value at `place`.
    @inlinable @inline(__always)
    public static func set(_ value: Wrapped?, in object: NSManagedObject, at place: PropertyPlace) {
        Wrapped.setOptional(value, in: object, at: place)
    }

    /// Stores a value or nil at `place`.
    @inlinable
    public static func setOptional(_ value: Wrapped??, in object: NSManagedObject, at place: PropertyPlace) {
        Wrapped.setOptional(value ?? nil, in: object, at: place)
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { Wrapped.fits(property) }
    /// Returns whether an attribute of another type is read as the wrapped type by a conversion.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { Wrapped.converts(attribute) }
    /// Returns the value of an attribute of another type; nil for nil, and if it has no form of the wrapped type.
    public static func converted(_ value: Any?) -> Wrapped?? { .some(value.flatMap { Wrapped.converted($0) }) }
    /// Returns the form in which attributes of other types take a value.
    public static func attributeValue(of value: Wrapped?) -> Any? { value.flatMap { Wrapped.attributeValue(of: $0) } }
}

/// Supports enumerations with a raw value.
extension ManagedValue where Self: RawRepresentable, RawValue: ManagedValue {
    /// Returns the case of the raw value at `place`. A raw value without a case stops the program with a message; declare the property
    /// optional to read nil.
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let raw = RawValue.get(from: object, at: place)
        guard let value = Self(rawValue: raw) ?? KeyPathRecorder.placeholder(Self.self, in: object) else {
            stopProgram("“\(place.property(of: object))” holds \(raw), which is no \(Self.self). Declare the property optional.")
        }
        return value
    }

    /// Returns the case of the raw value at `place`; nil if it is nil or has no case.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        RawValue.getOptional(from: object, at: place).flatMap { Self(rawValue: $0) ?? KeyPathRecorder.placeholder(Self.self, in: object) }
    }

    /// Stores the raw value of a case at `place`.
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        RawValue.set(value.rawValue, in: object, at: place)
    }

    /// Stores the raw value of a case, or nil, at `place`.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        RawValue.setOptional(value?.rawValue, in: object, at: place)
    }

    /// Returns whether a property of the model can be read as the raw value's type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { RawValue.fits(property) }
    /// Returns whether an attribute of another type is read as the raw value's type by a conversion.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { RawValue.converts(attribute) }
    /// Returns the case of an attribute's value of another type; nil if it has none.
    public static func converted(_ value: Any?) -> Self? { RawValue.converted(value).flatMap { Self(rawValue: $0) } }
    /// Returns the form in which attributes of other types take the raw value of a case.
    public static func attributeValue(of value: Self) -> Any? { RawValue.attributeValue(of: value.rawValue) }
}

/// A type whose values are accessed by key, through ``NSManagedObject/value(forKey:)``: boxed values and relationships.
public protocol KeyedManagedValue: ManagedValue {
    /// The value that nil is read as in a non-optional property; nil for types without one.
    static var valueForNil: Self? { get }
}

extension KeyedManagedValue {
    /// Returns the value of the property at `place`. Nil in a property whose type has no value for it stops the program with a message.
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard let value = getOptional(from: object, at: place) ?? valueForNil else {
            stopProgram(
                "“\(place.property(of: object))” is nil, and \(Self.self) has no value for nil. Declare the property optional.")
        }
        return value
    }

    /// Returns the value of the property at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        object.currentValue(of: place.property(of: object)) as? Self ?? KeyPathRecorder.placeholder(Self.self, in: object)
    }

    /// Sets the property at `place`.
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        setOptional(value, in: object, at: place)
    }

    /// Sets the property at `place`, or clears it for nil.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(value, of: place.property(of: object))
    }

    static func isAttribute(_ property: NSPropertyDescription, _ types: NSAttributeType...) -> Bool {
        (property as? NSAttributeDescription).map { types.contains($0.attributeType) } ?? false
    }
}

/// Supports decimal attributes.
extension Decimal: KeyedManagedValue {
    /// Zero.
    public static var valueForNil: Decimal? { 0 }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .decimalAttributeType) }
}

/// Supports URI attributes.
extension URL: KeyedManagedValue {
    /// Nil: the type has no value for it; declare the property optional.
    public static var valueForNil: URL? { nil }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .URIAttributeType) }
}

/// Supports transformable attributes that hold arrays.
extension Array: KeyedManagedValue, ManagedValue {
    /// The empty array.
    public static var valueForNil: [Element]? { [] }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// Supports transformable attributes that hold dictionaries, and composite attributes.
extension Dictionary: KeyedManagedValue, ManagedValue {
    /// The empty dictionary.
    public static var valueForNil: [Key: Value]? { [:] }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType, .compositeAttributeType)
    }
}

/// Supports to-one relationships.
extension KeyedManagedValue where Self: NSManagedObject {
    /// Nil: the type has no value for it; declare the property optional unless the relationship is never empty.
    public static var valueForNil: Self? { nil }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { !$0.isToMany } ?? false
    }
}

extension NSManagedObject: KeyedManagedValue {}

/// Supports to-many relationships.
extension Set: KeyedManagedValue, ManagedValue where Element: NSManagedObject {
    /// The empty set.
    public static var valueForNil: Set<Element>? { [] }

    /// Returns the value at `place`; the type's value for nil if it is nil.
    @inlinable
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element> {
        getOptional(from: object, at: place) ?? []
    }

    // Compiled for the caller's class, which makes creating a set of a known class much faster.
    /// Returns the value at `place`, or nil.
    @inlinable
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element>? {
        guard let objects = object.related(at: place) else { return nil }
        // Usually all are of the class itself: a comparison is faster than a cast.
        let areAlike = objects.allSatisfy { type(of: $0) == Element.self }
        if areAlike, NSManagedObject.areFewAndDistinct(objects) {
            var builder = _SetBuilder<Element>(count: objects.count)
            for object in objects { builder.add(member: unsafeDowncast(object, to: Element.self)) }
            return builder.take()
        }
        var set = Set<Element>(minimumCapacity: objects.count)
        for object in objects {
            if areAlike {
                set.update(with: unsafeDowncast(object, to: Element.self))
            } else if let element = object as? Element {
                set.update(with: element)
            }
        }
        return set
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && !$0.isOrdered } ?? false
    }
}

extension NSManagedObject {
    /// Returns whether there are so few objects that checking them for duplicates, which a store may return, is quick. A set of them is made without
    /// comparing them by `isEqual`, which costs more than the rest.
    @usableFromInline static func areFewAndDistinct(_ objects: [NSManagedObject]) -> Bool {
        if objects.count > 16 { return false }
        for index in objects.indices {
            for other in 0..<index where objects.uncounted(other).toOpaque() == objects.uncounted(index).toOpaque() { return false }
        }
        return true
    }

    /// Returns the objects of the to-many relationship at `place`; nil for another property.
    @usableFromInline final func related(at place: PropertyPlace) -> [NSManagedObject]? {
        (place.property(of: self) as? NSRelationshipDescription).map { toMany($0).objects }
    }
}

/// Supports ordered to-many relationships.
extension NSOrderedSet: KeyedManagedValue {
    /// Nil: the type has no value for it; declare the property optional.
    public static var valueForNil: Self? { nil }
    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && $0.isOrdered } ?? false
    }
}
