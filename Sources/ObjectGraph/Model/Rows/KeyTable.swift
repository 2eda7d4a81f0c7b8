internal import Foundation
internal import Predicates

/// A property for access by key: its name, and the place of its value.
struct KeyEntry {
    // The bytes of the name belong to the table; nil in an empty entry.
    fileprivate let name: UnsafePointer<UInt8>?
    fileprivate let length: Int
    let slot: RowLayout.Slot
    /// Whether the value is a 32-bit floating-point number.
    let isFloat: Bool
    /// Whether the property is an attribute; otherwise it is a relationship.
    let isAttribute: Bool
    // Held by the entity, like the table.
    private let held: Unmanaged<NSPropertyDescription>?

    /// The property.
    @inline(__always) var property: NSPropertyDescription { held.unchecked("the entry is not empty").takeUnretainedValue() }

    fileprivate init(empty slot: RowLayout.Slot) {
        (name, length, self.slot, isFloat, isAttribute, held) = (nil, 0, slot, false, false, nil)
    }

    fileprivate init(_ property: NSPropertyDescription, _ name: UnsafeBufferPointer<UInt8>, _ slot: RowLayout.Slot) {
        self.name = name.baseAddress
        length = name.count
        self.slot = slot
        let attribute = property as? NSAttributeDescription
        isFloat = attribute?.attributeType == .floatAttributeType
        isAttribute = attribute != nil
        held = .passUnretained(property)
    }

    @inline(__always) fileprivate func isNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard length == bytes.count, let name, let base = bytes.baseAddress else { return false }
        return memcmp(name, base, length) == 0
    }
}

/// The properties of an entity by the bytes of their names: an open-addressed hash table for access by key.
///
/// A `Dictionary` hashes and compares strings by their characters, which takes longer than the whole rest of a read by key. If a key is not found
/// here, the caller looks it up in the dictionary: other bytes may be the same characters.
// Immutable. It owns its entries and the names in them, and frees them at the end; the entity holds it together with the properties.
final class KeyTable: @unchecked Sendable {
    let entries: UnsafePointer<KeyEntry>
    let mask: Int
    private let names: [UnsafeMutableBufferPointer<UInt8>]

    init(_ properties: [NSPropertyDescription], _ layout: RowLayout) {
        var capacity = 4
        while capacity < properties.count * 3 { capacity *= 2 }
        mask = capacity - 1
        let nowhere = RowLayout.Slot(location: SlotLocation(offset: 0, nullOffset: 0, nullMask: 1), kind: .integer)
        let table = UnsafeMutablePointer<KeyEntry>.allocate(capacity: capacity)
        table.initialize(repeating: KeyEntry(empty: nowhere), count: capacity)
        var names: [UnsafeMutableBufferPointer<UInt8>] = []
        for property in properties where !property.name.isEmpty {
            let name = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: property.name.utf8.count)
            _ = name.initialize(fromContentsOf: property.name.utf8)
            names.append(name)
            var index = Self.home(UnsafeBufferPointer(name)) & mask
            while table[index].name != nil { index = (index + 1) & mask }
            table[index] = KeyEntry(property, UnsafeBufferPointer(name), layout.slots[property.slotIndex])
        }
        self.names = names
        entries = UnsafePointer(table)
    }

    deinit {
        entries.deallocate()
        for name in names { name.deallocate() }
    }

    /// A hash of a name that is not empty: of its first and last bytes, and its length.
    @inline(__always) private static func home(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = bytes.baseAddress.map(UnsafeRawPointer.init) else { return 0 }
        let count = bytes.count
        var word: UInt64
        if count >= 8 {
            word = start.loadUnaligned(as: UInt64.self)
            word ^= (start + (count - 8)).loadUnaligned(as: UInt64.self) &* 0x9E37_79B9_7F4A_7C15
        } else if count >= 4 {
            word = UInt64(start.loadUnaligned(as: UInt32.self)) << 32 | UInt64((start + (count - 4)).loadUnaligned(as: UInt32.self))
        } else {
            word = UInt64(bytes[0]) | UInt64(bytes[count / 2]) << 8 | UInt64(bytes[count - 1]) << 16
        }
        return Int(truncatingIfNeeded: ((word ^ UInt64(count)) &* 0x9E37_79B9_7F4A_7C15) >> 33)
    }

    /// Returns the entry of a key; nil if no entry has these bytes.
    @inline(__always) static func find(_ key: String, in entries: UnsafePointer<KeyEntry>, _ mask: Int) -> UnsafePointer<KeyEntry>? {
        let found = key.utf8.withContiguousStorageIfAvailable { bytes -> UnsafePointer<KeyEntry>? in
            if bytes.isEmpty { return nil }
            var index = home(bytes) & mask
            while entries[index].name != nil {
                if entries[index].isNamed(bytes) { return entries + index }
                index = (index &+ 1) & mask
            }
            return nil
        }
        return found ?? nil
    }
}

extension NSEntityDescription {
    /// Returns the property called `key` of an entity whose model is in use. It is also nil if only the dictionary of properties has the answer, and
    /// if every read must be recorded.
    @inline(__always) final func entry(forKey key: String) -> UnsafePointer<KeyEntry>? {
        guard let entries = keyEntries else { return nil }
        return KeyTable.find(key, in: entries, keyMask)
    }
}
