internal import Foundation
internal import Predicates
public import Synchronization

/// The place of a property's value in rows of an entity, packed into one word: the property's index, the offset of its slot, its nil bit,
/// and whether the value is converted to be read.
@frozen public struct PropertyPlace: Sendable {
    @usableFromInline let packed: UInt64

    init(_ location: SlotLocation, index: Int, isConverted: Bool = false) {
        stopProgram(
            unless: location.offset < 1 << 18 && index < Int(UInt16.max),
            "An entity has more properties than typed accessors serve; read by key instead.")
        packed =
            UInt64(index) << 48 | UInt64(location.offset / 8) << 32 | UInt64(location.nullOffset / 8) << 16
            | UInt64(location.nullMask.trailingZeroBitCount) | (isConverted ? Self.conversion : 0)
    }

    /// The place of a property that the entity does not have: a conversion reads it from the object by key.
    static let missing = PropertyPlace(packed: UInt64(UInt16.max) << 48 | conversion)
    var isMissing: Bool { index == Int(UInt16.max) }

    private init(packed: UInt64) { self.packed = packed }

    /// The bit above those of the nil bit's number.
    @inlinable @inline(__always) static var conversion: UInt64 { 1 << 6 }
    /// Whether the value is stored as another type than it is read as.
    @inlinable @inline(__always) var isConverted: Bool { packed & Self.conversion != 0 }

    @inlinable @inline(__always) var index: Int { Int(truncatingIfNeeded: packed &>> 48) }
    @inlinable @inline(__always) var offset: Int { Int(truncatingIfNeeded: packed &>> 32 & 0xFFFF) &* 8 }
    @inlinable @inline(__always) var nullOffset: Int { Int(truncatingIfNeeded: packed &>> 16 & 0xFFFF) &* 8 }
    @inlinable @inline(__always) var nullMask: UInt64 { 1 &<< (packed & 63) }
}

/// An entry of a ``PlaceTable``.
@frozen @usableFromInline struct PlaceEntry: ~Copyable {
    /// The address of the property's name; 0 in an empty entry. It is written last, so that a reader that sees it may read the rest.
    @usableFromInline let name = Atomic<UInt>(0)
    /// The address of the metadata of the type that it is read as.
    @usableFromInline var type: UInt = 0
    @usableFromInline var place: PropertyPlace

    init(empty place: PropertyPlace) { self.place = place }
}

/// The places of an entity's properties by the address of their names: an open-addressed hash table that is read without a lock.
///
/// Each module that names a property has its own address of the name, and each type that it is read as adds an entry. The table has
/// sixteen entries for each property and fills at most half of them; further lookups are resolved each time.
// `lock` guards insertions and is not a `LockedBox`, for the table is read without it; an entry never changes once its name is written.
@usableFromInline final class PlaceTable: @unchecked Sendable {
    let entries: UnsafeMutablePointer<PlaceEntry>
    let mask: UInt32
    private let lock = NSLock()
    private var count = 0

    init(propertyCount: Int) {
        var capacity = 16
        while capacity < propertyCount * 16 { capacity *= 2 }
        mask = UInt32(capacity - 1)
        entries = .allocate(capacity: capacity)
        let nowhere = PropertyPlace(SlotLocation(offset: 0, nullOffset: 0, nullMask: 1), index: 0)
        for index in 0..<capacity { (entries + index).initialize(to: PlaceEntry(empty: nowhere)) }
    }

    deinit {
        entries.deinitialize(count: Int(mask) + 1)
        entries.deallocate()
    }

    @inlinable @inline(__always) static func home(_ name: UInt) -> UInt32 { UInt32(truncatingIfNeeded: name ^ name &>> 6) }

    @inlinable @inline(__always) static func find(
        _ name: UInt, _ type: UInt, in entries: UnsafeMutablePointer<PlaceEntry>, _ mask: UInt32
    ) -> PropertyPlace? {
        var index = home(name) & mask
        while true {
            let entry = entries + Int(truncatingIfNeeded: index)
            let found = entry.pointee.name.load(ordering: .acquiring)
            if found == name, entry.pointee.type == type { return entry.pointee.place }
            if found == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    func insert(_ name: UInt, _ type: UInt, _ place: PropertyPlace) {
        lock.withLock {
            guard count <= mask / 2, Self.find(name, type, in: entries, mask) == nil else { return }
            var index = Self.home(name) & mask
            while entries[Int(index)].name.load(ordering: .relaxed) != 0 { index = (index &+ 1) & mask }
            entries[Int(index)].type = type
            entries[Int(index)].place = place
            entries[Int(index)].name.store(name, ordering: .releasing)
            count += 1
        }
    }
}
