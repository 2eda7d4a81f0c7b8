internal import Foundation
internal import Predicates
internal import Synchronization

/// A property of a managed object class by name and type, resolved once for an entity to the place of its value.
///
/// Handwritten and generated accessors use it:
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
/// Declare it as a constant. After the first use for an entity, a read takes a few loads and comparisons: no lookup by name, no `Any`.
/// Use it on any thread; the object it is applied to belongs to its context's queue.
@frozen public struct ManagedProperty<Value: ManagedValue>: Sendable {
    /// The name of the property in the model.
    public let name: StaticString

    /// Creates a property with its name in the model.
    @inlinable public init(_ name: StaticString) {
        self.name = name
        key = UInt(bitPattern: name.utf8Start)
    }

    /// The address of the name.
    @usableFromInline let key: UInt

    /// Returns the place of the value in rows of the object's entity.
    @inlinable @inline(__always) func place(in object: NSManagedObject) -> PropertyPlace {
        let type = UInt(bitPattern: ObjectIdentifier(Value.self))
        return PlaceTable.find(key, type, in: object.places, object.placeMask) ?? resolve(in: object, key, type)
    }

    /// Works like ``place(in:)``, for a value that is about to be written.
    @inlinable @inline(__always) func placeForWriting(in object: NSManagedObject) -> PropertyPlace {
        let type = UInt(bitPattern: ObjectIdentifier(Value.self))
        return PlaceTable.find(key, type, in: object.places, object.placeMask) ?? resolveForWriting(in: object, key, type)
    }

    @usableFromInline @inline(never) func resolve(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let place = knownPlace(in: object, key, type)
        if object.noticesAccesses { object.noteRead(at: place.index) }
        return place
    }

    @usableFromInline @inline(never) func resolveForWriting(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let place = knownPlace(in: object, key, type)
        if object.noticesAccesses {
            object.noteWrite(at: place.index)
            if object.flags.contains(.partial) { object.prepareUnknownForWriting(at: place.index) }
        }
        return place
    }

    private func knownPlace(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let frozen = object.owningEntity.frozen!
        if !frozen.layout.recordsReads,
            let place = PlaceTable.find(key, type, in: frozen.layout.places.entries, frozen.layout.places.mask)
        {
            return place
        }
        guard let property = frozen.byName[name.description] else { stopProgram(object.undefinedKeyMessage(name.description)) }
        guard Value.fits(property) else {
            stopProgram("“\(property)” cannot be read as \(Value.self): the model gives it another type.")
        }
        let place = PropertyPlace(frozen.layout.slots[property.slotIndex].location, index: property.slotIndex)
        if frozen.layout.recordsReads {
            // Every read must be recorded here: the place is not cached.
            KeyPathRecorder.note(property, as: Value.self, of: object)
            return place
        }
        frozen.layout.places.insert(key, type, place)
        return place
    }
}

extension NSManagedObject {
    /// Reads or sets a property. Nil is read as the type's zero where the type is not optional. Call it on the context's queue.
    @inlinable public final subscript<Value: ManagedValue>(property: ManagedProperty<Value>) -> Value {
        get { Value.get(from: self, at: property.place(in: self)) }
        set { Value.set(newValue, in: self, at: property.placeForWriting(in: self)) }
    }

    @inlinable @inline(__always) final func readableSlots(_ index: @autoclosure () -> Int) -> UnsafeMutableRawPointer {
        slots ?? loadedSlots(reading: index())
    }

    @inlinable @inline(__always) final func writableSlots(_ index: Int) -> UnsafeMutableRawPointer {
        if flags.isSuperset(of: .writable), index < 64, let slots {
            // Written only where it changes: mostly a property is set again, and the object is only read.
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
            if changed.low & bit == 0 { changed.low |= bit }
            return slots
        }
        return writableSlotsSlowly(index)
    }
}

extension PropertyPlace {
    func property(of object: NSManagedObject) -> NSPropertyDescription { object.owningEntity.frozen!.properties[index] }
}
