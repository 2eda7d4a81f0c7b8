public import Foundation

// Optionals, enumerations, values that need a box, and relationships.

/// For optional properties.
extension Optional: ManagedValue where Wrapped: ManagedValue {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Wrapped? {
        Wrapped.getOptional(from: object, at: place)
    }

    /// See ``ManagedValue``.
    @inlinable public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Wrapped?? {
        .some(Wrapped.getOptional(from: object, at: place))
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func set(_ value: Wrapped?, in object: NSManagedObject, at place: PropertyPlace) {
        Wrapped.setOptional(value, in: object, at: place)
    }

    /// See ``ManagedValue``.
    @inlinable
    public static func setOptional(_ value: Wrapped??, in object: NSManagedObject, at place: PropertyPlace) {
        Wrapped.setOptional(value ?? nil, in: object, at: place)
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool { Wrapped.fits(property) }
}

/// For enumerations with a raw value.
extension ManagedValue where Self: RawRepresentable, RawValue: ManagedValue {
    /// See ``ManagedValue``. A stored value that is no case stops the program with a message; declare the property optional to read nil.
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let raw = RawValue.get(from: object, at: place)
        guard let value = Self(rawValue: raw) ?? KeyPathRecorder.standIn(Self.self, in: object) else {
            preconditionFailure("“\(place.property(of: object))” holds \(raw), which is no \(Self.self). Declare the property optional.")
        }
        return value
    }

    /// See ``ManagedValue``.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        RawValue.getOptional(from: object, at: place).flatMap { Self(rawValue: $0) ?? KeyPathRecorder.standIn(Self.self, in: object) }
    }

    /// See ``ManagedValue``.
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        RawValue.set(value.rawValue, in: object, at: place)
    }

    /// See ``ManagedValue``.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        RawValue.setOptional(value?.rawValue, in: object, at: place)
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool { RawValue.fits(property) }
}

/// A type whose values are kept by key, through ``NSManagedObject/value(forKey:)``: those that need a box, and relationships.
public protocol KeyedManagedValue: ManagedValue {
    /// What a property that is not optional reads as while it is nil; nil for types that have no such value.
    static var valueForNil: Self? { get }
}

extension KeyedManagedValue {
    /// See ``ManagedValue``. Nil in a property whose type has no value for it stops the program with a message.
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        guard let value = getOptional(from: object, at: place) ?? valueForNil else {
            preconditionFailure(
                "“\(place.property(of: object))” is nil, and \(Self.self) has no value for nil. Declare the property optional.")
        }
        return value
    }

    /// See ``ManagedValue``.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        object.currentValue(of: place.property(of: object)) as? Self ?? KeyPathRecorder.standIn(Self.self, in: object)
    }

    /// See ``ManagedValue``.
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        setOptional(value, in: object, at: place)
    }

    /// See ``ManagedValue``.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(value, of: place.property(of: object))
    }

    static func isAttribute(_ property: NSPropertyDescription, _ types: NSAttributeType...) -> Bool {
        (property as? NSAttributeDescription).map { types.contains($0.attributeType) } ?? false
    }
}

/// For decimal attributes.
extension Decimal: KeyedManagedValue {
    /// Zero.
    public static var valueForNil: Decimal? { 0 }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .decimalAttributeType) }
}

/// For URI attributes.
extension URL: KeyedManagedValue {
    /// There is none: declare the property optional.
    public static var valueForNil: URL? { nil }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .URIAttributeType) }
}

/// For transformable attributes that hold arrays.
extension Array: KeyedManagedValue, ManagedValue {
    /// The empty array.
    public static var valueForNil: [Element]? { [] }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// For transformable attributes that hold dictionaries.
extension Dictionary: KeyedManagedValue, ManagedValue {
    /// The empty dictionary.
    public static var valueForNil: [Key: Value]? { [:] }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        isAttribute(property, .transformableAttributeType, .undefinedAttributeType)
    }
}

/// For to-one relationships.
extension KeyedManagedValue where Self: NSManagedObject {
    /// There is none: declare the property optional unless the relationship is never empty.
    public static var valueForNil: Self? { nil }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { !$0.isToMany } ?? false
    }
}

extension NSManagedObject: KeyedManagedValue {}

/// For to-many relationships.
extension Set: KeyedManagedValue, ManagedValue where Element: NSManagedObject {
    /// The empty set.
    public static var valueForNil: Set<Element>? { [] }

    /// See ``ManagedValue``.
    @inlinable
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element> {
        getOptional(from: object, at: place) ?? []
    }

    // Compiled with the class that asks, which makes a set of a known class much quicker.
    /// See ``ManagedValue``.
    @inlinable
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Set<Element>? {
        guard let objects = object.related(at: place) else { return nil }
        var set = Set<Element>(minimumCapacity: objects.count)
        for object in objects {
            // Mostly the very class: to compare is quicker than to cast.
            if type(of: object) == Element.self {
                set.update(with: unsafeDowncast(object, to: Element.self))
            } else if let element = object as? Element {
                set.update(with: element)
            }
        }
        return set
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && !$0.isOrdered } ?? false
    }
}

extension NSManagedObject {
    /// The objects of the to-many relationship at `place`; nil where it is none.
    @usableFromInline final func related(at place: PropertyPlace) -> [NSManagedObject]? {
        (place.property(of: self) as? NSRelationshipDescription).map { toMany($0).objects }
    }
}

/// For ordered to-many relationships.
extension NSOrderedSet: KeyedManagedValue {
    /// There is none: declare the property optional.
    public static var valueForNil: Self? { nil }
    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSRelationshipDescription).map { $0.isToMany && $0.isOrdered } ?? false
    }
}
