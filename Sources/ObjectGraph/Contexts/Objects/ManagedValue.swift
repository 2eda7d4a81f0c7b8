internal import Foundation

/// A type that properties of managed object classes can have.
///
/// Numbers, strings, dates, data, UUIDs, URLs, managed objects, sets of managed objects, their optionals, and enumerations with a raw
/// value of one of these types conform (declare the conformance of an enumeration: `extension Genre: ManagedValue {}`).
public protocol ManagedValue {
    /// Returns the value at `place`; the type's value for nil if it is nil.
    static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self
    /// Returns the value at `place`, or nil.
    static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self?
    /// Stores a value at `place`.
    static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace)
    /// Stores a value or nil at `place`.
    static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace)
    /// Returns whether a property of the model can be read as this type.
    static func fits(_ property: NSPropertyDescription) -> Bool
    /// Returns whether an attribute of another type is read as this type by a conversion, as Apple's bridging would; false by default.
    static func converts(_ attribute: NSAttributeDescription) -> Bool
    /// Returns the value of an attribute of another type as this type; nil if it has no form of this type.
    ///
    /// - Parameter value: The attribute's value. Nil is converted to the value that a property of this type has for nil.
    static func converted(_ value: Any?) -> Self?
    /// Returns a value in the form in which attributes of other types take it.
    static func attributeValue(of value: Self) -> Any?
}

extension ManagedValue {
    /// False.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { false }
    /// Returns `value` if it is of this type.
    public static func converted(_ value: Any?) -> Self? { value as? Self }
    /// Returns `value`.
    public static func attributeValue(of value: Self) -> Any? { value }
}

extension PropertyPlace {
    @inlinable @inline(__always) func isNil(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset, as: UInt64.self) & nullMask != 0
    }

    @inlinable @inline(__always) func setNil(_ isNil: Bool, _ slots: UnsafeMutableRawPointer) {
        let word = SlotPointer(slots).bits(nullOffset)
        // Written only if it changes: the bits may lie in another cache line than the value.
        if isNil { word.pointee |= nullMask } else if word.pointee & nullMask != 0 { word.pointee &= ~nullMask }
    }
}

/// A type whose values are stored in a slot directly, or as one machine word.
public protocol ManagedScalar: ManagedValue {
    /// The type in the slot.
    associatedtype Stored
    /// The stored form of nil.
    static var storedNil: Stored { get }
    /// Returns the value of a stored form.
    static func fromStored(_ stored: Stored) -> Self
    /// Returns the stored form of a value.
    static func toStored(_ value: Self) -> Stored
    /// The attribute types that can be read as this type.
    static var attributeTypes: [NSAttributeType] { get }
}

extension ManagedScalar {
    /// Returns the value at `place`; the type's value for nil if it is nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        fromStored(SlotPointer(object.readableSlots(place.index)).place(place.offset, of: Stored.self).pointee)
    }

    /// Returns the value at `place`, or nil.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        return place.isNil(slots) ? nil : fromStored(SlotPointer(slots).place(place.offset, of: Stored.self).pointee)
    }

    /// Stores a value at `place`.
    @inlinable @inline(__always)
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        let slots = object.writableSlots(place.index)
        SlotPointer(slots).place(place.offset, of: Stored.self).pointee = toStored(value)
        place.setNil(false, slots)
    }

    /// Stores a value or nil at `place`.
    @inlinable @inline(__always)
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        if let value { return set(value, in: object, at: place) }
        let slots = object.writableSlots(place.index)
        SlotPointer(slots).place(place.offset, of: Stored.self).pointee = storedNil
        place.setNil(true, slots)
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSAttributeDescription).map { attributeTypes.contains($0.attributeType) } ?? false
    }
}
