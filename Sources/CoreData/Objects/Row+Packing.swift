public import Foundation
internal import Predicates

// Packed values: what a store has read is copied as bytes behind the slots, and becomes a `String` or `Data` when it is read. Nothing is
// allocated for texts that nobody asks for.
//
// A set bit in the word behind that of the nil bits says that a value is packed. The slot of a text or of bytes then begins with the distance
// of the bytes from the slots and their number, 32 bits each; that of a to-one relationship holds a reference to a row, see `RowOrigin`.

extension SlotLocation {
    /// Whether the value is packed.
    @inline(__always) func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset + 8, as: UInt64.self) & nullMask != 0
    }

    @inline(__always) func clearPacked(_ slots: UnsafeMutableRawPointer) {
        (slots + (nullOffset + 8)).assumingMemoryBound(to: UInt64.self).pointee &= ~nullMask
    }

    @inline(__always) func markPacked(_ slots: UnsafeMutableRawPointer) {
        (slots + (nullOffset + 8)).assumingMemoryBound(to: UInt64.self).pointee |= nullMask
    }

    /// The text or data in the slot.
    @inline(__always) func value<Value: PackableValue>(_ slots: UnsafeMutableRawPointer) -> Value {
        isPacked(slots) ? .unpacked(from: slots, at: offset) : (slots + offset).assumingMemoryBound(to: Value.self).pointee
    }

    /// Stores text or data in the slot, whose former value may be packed.
    @inline(__always) func set<Value: PackableValue>(_ value: Value, _ slots: UnsafeMutableRawPointer) {
        let place = (slots + offset).assumingMemoryBound(to: Value.self)
        if isPacked(slots) {
            place.initialize(to: value)
            clearPacked(slots)
        } else {
            place.pointee = value
        }
    }
}

/// A type whose values may be packed: `String` and `Data`.
public protocol PackableValue {
    /// Makes the value from a copy of the bytes behind a row's slots, which belong to whoever holds the row.
    static func unpacked(from slots: UnsafeMutableRawPointer, at offset: Int) -> Self
}

/// The values of text attributes may be packed.
extension String: PackableValue {
    /// The text whose bytes lie behind a row's slots.
    @inlinable @inline(__always) public static func unpacked(from slots: UnsafeMutableRawPointer, at offset: Int) -> String {
        PackedBytes.text(slots, offset)
    }
}

/// The values of binary attributes may be packed.
extension Data: PackableValue {
    /// The data whose bytes lie behind a row's slots.
    @inlinable @inline(__always) public static func unpacked(from slots: UnsafeMutableRawPointer, at offset: Int) -> Data {
        PackedBytes.data(slots, offset)
    }
}

/// Reads bytes that lie behind the slots of a row.
@usableFromInline enum PackedBytes {
    /// Bytes that are longer stay `Data`: they would fill the blocks.
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
    /// Whether the value is packed.
    @inlinable @inline(__always) func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset &+ 8, as: UInt64.self) & nullMask != 0
    }

    /// Stores a value in a slot of texts or bytes, whose former value may be packed.
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

extension ManagedScalar where Stored: PackableValue {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(.unpacked(from: slots, at: place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: Stored.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(.unpacked(from: slots, at: place.offset)) }
        return fromStored((slots + place.offset).assumingMemoryBound(to: Stored.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func set(_ value: Self, in object: NSManagedObject, at place: PropertyPlace) {
        let slots = object.writableSlots(place.index)
        place.store(toStored(value), slots)
        place.setNil(false, slots)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        if let value { return set(value, in: object, at: place) }
        let slots = object.writableSlots(place.index)
        place.store(storedNil, slots)
        place.setNil(true, slots)
    }
}
