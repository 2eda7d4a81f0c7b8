internal import Foundation
public import Synchronization

/// A property of a managed object class by name and type, resolved once to the place of its value.
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
/// After the first use for an entity a read costs a comparison and a load: no dictionary, no `Any`. May be used from any thread; the
/// object it is applied to belongs to its context's queue.
public final class ManagedProperty<Value: ManagedValue>: Sendable {
    /// The name of the property.
    public let name: String
    /// The place for the entity met last, and for the entity that declares the property: a subentity shares its superentity's places.
    @usableFromInline let latest = Atomic<UInt64>(0)
    private let declared = Atomic<UInt64>(0)

    /// Makes a property of the name that it has in the model.
    public init(_ name: String) { self.name = name }

    /// Where the value lies in the rows of the object's entity.
    @inlinable func place(in object: NSManagedObject) -> PropertyPlace {
        let place = PropertyPlace(packed: latest.load(ordering: .relaxed))
        if place.layoutIdentifier == object.layoutIdentifier { return place }
        return resolve(in: object)
    }

    @usableFromInline @inline(never) func resolve(in object: NSManagedObject) -> PropertyPlace {
        let known = PropertyPlace(packed: declared.load(ordering: .relaxed))
        let frozen = object.owningEntity.frozen!
        if known.packed != 0, frozen.layout.ancestry.contains(known.layoutIdentifier) {
            return use(known, for: object)
        }
        guard let property = frozen.byName[name] else { preconditionFailure(object.undefinedKeyMessage(name)) }
        let slot = frozen.layout.slots[property.slotIndex]
        guard Value.fits(property, slot.kind) else {
            preconditionFailure("“\(property)” cannot be read as \(Value.self): the model gives it another type.")
        }
        let declaring = property.entity?.frozen?.layout.identifier ?? object.layoutIdentifier
        let place = PropertyPlace(slot.location, index: property.slotIndex, layoutIdentifier: declaring)
        declared.store(place.packed, ordering: .relaxed)
        return use(place, for: object)
    }

    private func use(_ place: PropertyPlace, for object: NSManagedObject) -> PropertyPlace {
        let own = place.with(layoutIdentifier: object.layoutIdentifier)
        latest.store(own.packed, ordering: .relaxed)
        return own
    }
}

/// Where a property's value lies in the rows of an entity, in one word: the layout it is valid for, the property's index, the offset of
/// its slot and its nil bit.
@frozen public struct PropertyPlace: Sendable {
    @usableFromInline let packed: UInt64
    @usableFromInline @inline(__always) init(packed: UInt64) { self.packed = packed }

    init(_ location: SlotLocation, index: Int, layoutIdentifier: UInt32) {
        precondition(
            index < 1 << 12 && location.offset < 1 << 15 && location.nullOffset < 1 << 15 && layoutIdentifier < 1 << 22,
            "An entity has more properties, or the program more entities, than ManagedProperty serves; read by key instead.")
        let bit = UInt64(location.nullMask.trailingZeroBitCount)
        packed =
            UInt64(layoutIdentifier) << 42 | UInt64(index) << 30 | UInt64(location.offset / 8) << 18
            | UInt64(location.nullOffset / 8) << 6 | bit
    }

    func with(layoutIdentifier: UInt32) -> PropertyPlace {
        PropertyPlace(packed: packed & (1 << 42 - 1) | UInt64(layoutIdentifier) << 42)
    }

    @usableFromInline @inline(__always) var layoutIdentifier: UInt32 { UInt32(truncatingIfNeeded: packed >> 42) }
    @usableFromInline @inline(__always) var index: Int { Int(truncatingIfNeeded: packed >> 30 & 0xFFF) }
    @usableFromInline @inline(__always) var offset: Int { Int(truncatingIfNeeded: packed >> 18 & 0xFFF) &* 8 }
    @usableFromInline @inline(__always) var nullOffset: Int { Int(truncatingIfNeeded: packed >> 6 & 0xFFF) &* 8 }
    @usableFromInline @inline(__always) var nullMask: UInt64 { 1 &<< (packed & 63) }
}

extension NSManagedObject {
    /// The value of a property, typed. Nil reads as the type's zero where the type is not optional. Call it on the context's queue.
    @inlinable public final subscript<Value: ManagedValue>(property: ManagedProperty<Value>) -> Value {
        get { Value.get(from: self, at: property.place(in: self), named: property.name) }
        set { Value.set(newValue, in: self, at: property.place(in: self), named: property.name) }
    }

    @inlinable @inline(__always) final var readableSlots: UnsafeMutableRawPointer { slots ?? slotsAfterFault() }

    @inlinable @inline(__always) final func writableSlots(_ index: Int) -> UnsafeMutableRawPointer {
        if flags.isSuperset(of: .writable), changed.contains(index), let slots { return slots }
        return slotsForWriting(index)
    }
}
