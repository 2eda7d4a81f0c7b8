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
        SlotPointer(slots).bits(nullOffset + 8).pointee &= ~nullMask
    }

    @inline(__always) func markPacked(_ slots: UnsafeMutableRawPointer) {
        SlotPointer(slots).bits(nullOffset + 8).pointee |= nullMask
    }

    @inline(__always) func text(_ slots: UnsafeMutableRawPointer) -> String {
        isPacked(slots) ? PackedBytes.text(slots, offset) : SlotPointer(slots).place(offset, of: String.self).pointee
    }

    @inline(__always) func data(_ slots: UnsafeMutableRawPointer) -> Data {
        isPacked(slots) ? PackedBytes.data(slots, offset) : SlotPointer(slots).place(offset, of: Data.self).pointee
    }

    func setText(_ text: String, _ slots: UnsafeMutableRawPointer) {
        let place = SlotPointer(slots).place(offset, of: String.self)
        if isPacked(slots) {
            place.initialize(to: text)
            clearPacked(slots)
        } else {
            place.pointee = text
        }
    }

    func setData(_ data: Data, _ slots: UnsafeMutableRawPointer) {
        let place = SlotPointer(slots).place(offset, of: Data.self)
        if isPacked(slots) {
            place.initialize(to: data)
            clearPacked(slots)
        } else {
            place.pointee = data
        }
    }
}

/// Reads bytes that lie behind the slots of a row.
@usableFromInline enum PackedBytes {
    /// Bytes that are longer stay `Data`: they would fill the blocks.
    static let longestData = 1024

    /// The bytes of a packed value: within the row, whose block the caller holds while it uses them.
    @inline(__always) static func bytes(_ slots: UnsafeRawPointer, _ offset: Int) -> UnsafeBufferPointer<UInt8> {
        let word = slots.load(fromByteOffset: offset, as: UInt64.self)
        SlotPointer(UnsafeMutableRawPointer(mutating: slots)).checkPacked(word)
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
        let place = SlotPointer(slots).place(offset, of: Value.self)
        let word = SlotPointer(slots).bits(nullOffset &+ 8)
        if word.pointee & nullMask != 0 {
            place.initialize(to: value)
            word.pointee &= ~nullMask
        } else {
            place.pointee = value
        }
    }
}

extension ManagedScalar where Stored == String {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(PackedBytes.text(slots, place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: String.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(PackedBytes.text(slots, place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: String.self).pointee)
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

extension ManagedScalar where Stored == Data {
    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> Self {
        let slots = object.readableSlots(place.index)
        if place.isPacked(slots) { return fromStored(PackedBytes.data(slots, place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: Data.self).pointee)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        let slots = object.readableSlots(place.index)
        if place.isNil(slots) { return nil }
        if place.isPacked(slots) { return fromStored(PackedBytes.data(slots, place.offset)) }
        return fromStored(SlotPointer(slots).place(place.offset, of: Data.self).pointee)
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
