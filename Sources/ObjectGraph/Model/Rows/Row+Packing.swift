public import Foundation
internal import Predicates

// Packed values: bytes read by a store are copied behind the slots and become a `String` or `Data` when they are read. Strings that are never read
// need no allocation.
//
// A bit in the word after the nil bits marks a packed value. The slot of a packed string or data begins with the offset of the bytes from
// the slots and their count, 32 bits each; that of a to-one relationship holds a reference to a row, see `RowOrigin`.

extension SlotLocation {
    /// Returns whether the value is packed.
    @inlinable @inline(__always) package func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset + 8, as: UInt64.self) & nullMask != 0
    }

    @inline(__always) func clearPacked(_ slots: UnsafeMutableRawPointer) {
        SlotPointer(slots).bits(nullOffset + 8).pointee &= ~nullMask
    }

    @inline(__always) func markPacked(_ slots: UnsafeMutableRawPointer) {
        SlotPointer(slots).bits(nullOffset + 8).pointee |= nullMask
    }

    /// The text or data in the slot.
    @inline(__always) func value<Value: PackableValue>(_ slots: UnsafeMutableRawPointer) -> Value {
        isPacked(slots) ? .unpacked(from: slots, at: offset) : SlotPointer(slots).place(offset, of: Value.self).pointee
    }

    /// Stores text or data in the slot, whose former value may be packed.
    @inline(__always) func set<Value: PackableValue>(_ value: Value, _ slots: UnsafeMutableRawPointer) {
        let place = SlotPointer(slots).place(offset, of: Value.self)
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
    /// Makes the value from a copy of the bytes behind a row's slots, which belong to the holder of the row.
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

/// Reads the bytes behind the slots of a row.
@usableFromInline package enum PackedBytes {
    /// The size above which bytes stay `Data`, because they would fill the blocks.
    package static let longestData = 1024

    /// The bytes of a packed value: within the row, whose block the caller holds while it uses them.
    @inlinable @inline(__always) package static func bytes(_ slots: UnsafeRawPointer, _ offset: Int) -> UnsafeBufferPointer<UInt8> {
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
    /// Returns whether the value is packed.
    @inlinable @inline(__always) func isPacked(_ slots: UnsafeMutableRawPointer) -> Bool {
        slots.load(fromByteOffset: nullOffset &+ 8, as: UInt64.self) & nullMask != 0
    }

    /// Stores a value in a slot of a string or data, whose previous value may be packed.
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
