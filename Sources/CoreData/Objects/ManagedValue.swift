internal import Foundation

/// A type that a property of a managed object class can have.
///
/// Numbers, text, dates, data, UUIDs, URLs, managed objects, sets of managed objects, their optionals, and enumerations with a raw value
/// of one of these (declare the conformance: `extension Genre: ManagedValue {}`).
public protocol ManagedValue {
    /// The value at `place`; the type's stand-in where it is nil.
    static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self
    /// The value at `place`, nil where it is nil.
    static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self?
    /// Stores a value at `place`.
    static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace)
    /// Stores a value or nil at `place`.
    static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace)
    /// Whether a property of the model can be read as this type.
    static func fits(_ property: NSPropertyDescription) -> Bool
}

extension PropertyPlace {
    @inlinable @inline(__always) func isNil(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset, as: UInt64.self) & nullMask != 0
    }

    @inlinable @inline(__always) func setNil(_ isNil: Bool, _ slots: UnsafeMutableRawPointer) {
        let word = SlotPointer(slots).bits(nullOffset)
        if isNil { word.pointee |= nullMask } else { word.pointee &= ~nullMask }
    }
}

/// A type that lies in a slot just as it is, or as one machine word.
public protocol ManagedScalar: ManagedValue {
    /// What lies in the slot.
    associatedtype Stored
    /// What lies in the slot for nil.
    static var storedNil: Stored { get }
    /// The value of what lies in the slot.
    static func fromStored(_ stored: Stored) -> Self
    /// What is to lie in the slot for the value.
    static func toStored(_ value: Self) -> Stored
    /// The kinds of attribute that may be read as this type.
    static var attributeTypes: [NSAttributeType] { get }
}

extension ManagedScalar {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        fromStored(SlotPointer(object.readableSlots(place.index)).place(place.offset, of: Stored.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        return place.isNil(slots) ? nil : fromStored(SlotPointer(slots).place(place.offset, of: Stored.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        let slots = object.writableSlots(place.index)
        SlotPointer(slots).place(place.offset, of: Stored.self).pointee = toStored(value)
        place.setNil(false, slots)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        if let value { return set(value, in: object, at: place) }
        let slots = object.writableSlots(place.index)
        SlotPointer(slots).place(place.offset, of: Stored.self).pointee = storedNil
        place.setNil(true, slots)
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool {
        (property as? NSAttributeDescription).map { attributeTypes.contains($0.attributeType) } ?? false
    }
}
