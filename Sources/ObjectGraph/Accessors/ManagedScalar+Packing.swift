internal import Foundation
internal import Predicates

extension ManagedScalar where Stored: PackableValue {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(.unpacked(from: slots, at: place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: Stored.self).pointee)
    }

    /// Returns the value at `place`, or nil.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(.unpacked(from: slots, at: place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: Stored.self).pointee)
    }

    /// Stores a value at `place`.
    @inlinable @inline(__always)
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        let slots = object.writableSlots(place.index)
        place.store(toStored(value), slots)
        place.setNil(false, slots)
    }

    /// Stores a value or nil at `place`.
    @inlinable @inline(__always)
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        if let value { return set(value, in: object, at: place) }
        let slots = object.writableSlots(place.index)
        place.store(storedNil, slots)
        place.setNil(true, slots)
    }
}
