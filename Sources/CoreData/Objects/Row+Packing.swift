public import Foundation
internal import Predicates

// Packed values: bytes read by a store are copied behind the slots and become a `String` or `Data` when they are read. Strings that
// nobody reads need no allocation.
//
// A bit in the word after the nil bits marks a packed value. The slot of a packed string or data begins with the offset of the bytes from
// the slots and their count, 32 bits each; that of a to-one relationship holds a reference to a row, see `RowOrigin`.

extension SlotLocation {
    /// Returns whether the value is packed.
    @inline(__always) func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset + 8, as: UInt64.self) & nullMask != 0
    }

    @inline(__always) func clearPacked(_ slots: UnsafeMutableRawPointer) {
        (slots + (nullOffset + 8)).assumingMemoryBound(to: UInt64.self).pointee &= ~nullMask
    }

    @inline(__always) func markPacked(_ slots: UnsafeMutableRawPointer) {
        (slots + (nullOffset + 8)).assumingMemoryBound(to: UInt64.self).pointee |= nullMask
    }

    @inline(__always) func text(_ slots: UnsafeMutableRawPointer) -> String {
        isPacked(slots) ? PackedBytes.text(slots, offset) : (slots + offset).assumingMemoryBound(to: String.self).pointee
    }

    @inline(__always) func data(_ slots: UnsafeMutableRawPointer) -> Data {
        isPacked(slots) ? PackedBytes.data(slots, offset) : (slots + offset).assumingMemoryBound(to: Data.self).pointee
    }

    func setText(_ text: String, _ slots: UnsafeMutableRawPointer) {
        let place = (slots + offset).assumingMemoryBound(to: String.self)
        if isPacked(slots) {
            place.initialize(to: text)
            clearPacked(slots)
        } else {
            place.pointee = text
        }
    }

    func setData(_ data: Data, _ slots: UnsafeMutableRawPointer) {
        let place = (slots + offset).assumingMemoryBound(to: Data.self)
        if isPacked(slots) {
            place.initialize(to: data)
            clearPacked(slots)
        } else {
            place.pointee = data
        }
    }
}

/// Reads the bytes behind the slots of a row.
@usableFromInline enum PackedBytes {
    /// The size above which bytes stay `Data`, because they would fill the blocks.
    static let longestData = 1024

    @inline(__always) static func bytes(_ slots: UnsafeRawPointer, _ offset: Int) -> UnsafeBufferPointer<UInt8> {
        let word = slots.load(fromByteOffset: offset, as: UInt64.self)
        return UnsafeBufferPointer(
            start: (slots + Int(word & 0xFFFF_FFFF)).assumingMemoryBound(to: UInt8.self), count: Int(word >> 32))
    }

    @usableFromInline @inline(never) static func text(_ slots: UnsafeMutableRawPointer, _ offset: Int) -> String {
        String(decoding: bytes(slots, offset), as: UTF8.self)
    }

    @usableFromInline @inline(never) static func data(_ slots: UnsafeMutableRawPointer, _ offset: Int) -> Data {
        Data(buffer: bytes(slots, offset))
    }
}

extension PropertyPlace {
    /// Returns whether the value is packed.
    @inlinable @inline(__always) func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset &+ 8, as: UInt64.self) & nullMask != 0
    }

    /// Stores a value in a slot of a string or data, whose previous value may be packed.
    @inlinable @inline(__always) func store<Value>(_ value: Value, _ slots: UnsafeMutableRawPointer) {
        let place = (slots + offset).assumingMemoryBound(to: Value.self)
        let word = (slots + (nullOffset &+ 8)).assumingMemoryBound(to: UInt64.self)
        if word.pointee & nullMask != 0 {
            place.initialize(to: value)
            word.pointee &= ~nullMask
        } else {
            place.pointee = value
        }
    }
}

extension ManagedScalar where Stored == String {
    /// Returns the value at `place`; the type's value for nil where it is nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(PackedBytes.text(slots, place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: String.self).pointee)
    }

    /// Returns the value at `place`, or nil.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(PackedBytes.text(slots, place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: String.self).pointee)
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

extension ManagedScalar where Stored == Data {
    /// Returns the value at `place`; the type's value for nil where it is nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(PackedBytes.data(slots, place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: Data.self).pointee)
    }

    /// Returns the value at `place`, or nil.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(PackedBytes.data(slots, place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: Data.self).pointee)
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
