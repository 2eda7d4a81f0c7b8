internal import Foundation
public import Synchronization

/// A property of a managed object class by name and type, resolved once for an entity to the place of its value.
///
/// Accessors that are written by hand use it, and generated ones do too:
///
/// ```swift
/// final class Album: NSManagedObject {
///     static let titleProperty = ManagedProperty<String>("title")
///     var title: String {
///         get { self[Self.titleProperty] }
///         set { self[Self.titleProperty] = newValue }
///     }
/// }
/// ```
///
/// It is a constant that costs nothing to keep. After the first use for an entity a read costs a few loads and comparisons: no lookup by
/// name, no `Any`. May be used from any thread; the object it is applied to belongs to its context's queue.
@frozen public struct ManagedProperty<Value: ManagedValue>: Sendable {
    /// The name of the property in the model.
    public let name: StaticString

    /// Makes a property of the name that it has in the model.
    @inlinable public init(_ name: StaticString) { self.name = name }

    /// Where the value lies in the rows of the object's entity.
    @inlinable @inline(__always) func place(in object: NSManagedObject) -> PropertyPlace {
        let key = name.hasPointerRepresentation ? UInt(bitPattern: name.utf8Start) : UInt(name.unicodeScalar.value) | 1 << 63
        let type = UInt(bitPattern: ObjectIdentifier(Value.self).hashableBits)
        return PlaceTable.find(key, type, in: object.places) ?? resolve(in: object, key, type)
    }

    @usableFromInline @inline(never) func resolve(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let frozen = object.owningEntity.frozen!
        guard let property = frozen.byName[name.description] else { preconditionFailure(object.undefinedKeyMessage(name.description)) }
        guard Value.fits(property) else {
            preconditionFailure("“\(property)” cannot be read as \(Value.self): the model gives it another type.")
        }
        let place = PropertyPlace(frozen.layout.slots[property.slotIndex].location, index: property.slotIndex)
        frozen.layout.places.insert(PlaceEntry(name: key, type: type, place: place))
        return place
    }
}

extension ObjectIdentifier {
    /// The address of the type's metadata.
    @inlinable @inline(__always) var hashableBits: Int { Int(bitPattern: self) }
}

/// Where a property's value lies in the rows of an entity, in one word: the property's index, the offset of its slot and its nil bit.
@frozen public struct PropertyPlace: Sendable {
    @usableFromInline let packed: UInt64

    init(_ location: SlotLocation, index: Int) {
        precondition(
            location.offset < 1 << 18 && index < 1 << 16, "An entity has more properties than typed accessors serve; read by key instead.")
        packed =
            UInt64(index) << 48 | UInt64(location.offset / 8) << 32 | UInt64(location.nullOffset / 8) << 16
            | UInt64(location.nullMask.trailingZeroBitCount)
    }

    @inlinable @inline(__always) var index: Int { Int(truncatingIfNeeded: packed &>> 48) }
    @inlinable @inline(__always) var offset: Int { Int(truncatingIfNeeded: packed &>> 32 & 0xFFFF) &* 8 }
    @inlinable @inline(__always) var nullOffset: Int { Int(truncatingIfNeeded: packed &>> 16 & 0xFFFF) &* 8 }
    @inlinable @inline(__always) var nullMask: UInt64 { 1 &<< (packed & 63) }

    func property(of object: NSManagedObject) -> NSPropertyDescription { object.owningEntity.frozen!.properties[index] }
}

/// One answer of a ``PlaceTable``.
@frozen @usableFromInline struct PlaceEntry {
    /// The address of the property's name, 0 in an empty entry.
    @usableFromInline let name: UInt
    /// The address of the metadata of the type it is read as.
    @usableFromInline let type: UInt
    @usableFromInline let place: PropertyPlace
}

/// The places of an entity's properties by the address of their names: a small open-addressed table that is read without a lock.
///
/// An insertion makes a new block and publishes it; the old ones stay until the table goes, for a reader may be in one.
// `current` is atomic; `lock` guards `blocks`.
@usableFromInline final class PlaceTable: @unchecked Sendable {
    /// Holds the address of the block. The first entry of a block holds, as `name`, the number of the others less one: a mask.
    let current: UnsafeMutablePointer<Atomic<UInt>>
    private let lock = NSLock()
    private var blocks: [UnsafeMutablePointer<PlaceEntry>] = []

    init() {
        let block = Self.allocate(mask: 0)
        current = .allocate(capacity: 1)
        current.initialize(to: Atomic(UInt(bitPattern: block)))
        blocks = [block]
    }

    deinit {
        for block in blocks { block.deallocate() }
        current.deinitialize(count: 1)
        current.deallocate()
    }

    private static func allocate(mask: UInt) -> UnsafeMutablePointer<PlaceEntry> {
        let block = UnsafeMutablePointer<PlaceEntry>.allocate(capacity: Int(mask) + 2)
        let empty = PlaceEntry(name: 0, type: 0, place: PropertyPlace(SlotLocation(offset: 0, nullOffset: 0, nullMask: 1), index: 0))
        block.initialize(repeating: empty, count: Int(mask) + 2)
        block[0] = PlaceEntry(name: mask, type: 0, place: empty.place)
        return block
    }

    @inlinable @inline(__always) static func home(_ name: UInt, _ mask: UInt) -> UInt { (name ^ name &>> 6) & mask }

    @inlinable @inline(__always) static func find(
        _ name: UInt, _ type: UInt, in current: UnsafeMutablePointer<Atomic<UInt>>
    ) -> PropertyPlace? {
        let block = UnsafePointer<PlaceEntry>(bitPattern: current.pointee.load(ordering: .acquiring)).unsafelyUnwrapped
        let mask = block.pointee.name
        var index = home(name, mask)
        while true {
            let entry = block + (1 &+ Int(bitPattern: index))
            if entry.pointee.name == name, entry.pointee.type == type { return entry.pointee.place }
            if entry.pointee.name == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    func insert(_ entry: PlaceEntry) {
        lock.withLock {
            guard Self.find(entry.name, entry.type, in: current) == nil else { return }
            let old = blocks[blocks.count - 1]
            let entries = (0...Int(old.pointee.name)).map { old[$0 + 1] }.filter { $0.name != 0 } + [entry]
            // A quarter full at most: a probe rarely meets another name, and always an end.
            var mask: UInt = 3
            while Int(mask) < entries.count * 4 { mask = mask * 2 + 1 }
            let block = Self.allocate(mask: mask)
            for entry in entries {
                var index = Self.home(entry.name, mask)
                while block[Int(index) + 1].name != 0 { index = (index &+ 1) & mask }
                block[Int(index) + 1] = entry
            }
            blocks.append(block)
            current.pointee.store(UInt(bitPattern: block), ordering: .releasing)
        }
    }
}

extension NSManagedObject {
    /// The value of a property, typed. Nil reads as the type's zero where the type is not optional. Call it on the context's queue.
    @inlinable public final subscript<Value: ManagedValue>(property: ManagedProperty<Value>) -> Value {
        get { Value.get(from: self, at: property.place(in: self)) }
        set { Value.set(newValue, in: self, at: property.place(in: self)) }
    }

    @inlinable @inline(__always) final var readableSlots: UnsafeMutableRawPointer { slots ?? slotsAfterFault() }

    @inlinable @inline(__always) final func writableSlots(_ index: Int) -> UnsafeMutableRawPointer {
        if flags.isSuperset(of: .writable), index < 64, let slots {
            changed.low |= 1 &<< UInt64(truncatingIfNeeded: index)
            return slots
        }
        return slotsForWriting(index)
    }
}
