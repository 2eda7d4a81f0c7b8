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

    /// Returns the value of the property.
    @inlinable @inline(__always) func value(in object: NSManagedObject) -> Value {
        let type = UInt(bitPattern: ObjectIdentifier(Value.self))
        guard let place = PlaceTable.find(key, type, in: object.places, object.placeMask) else { return valueSlowly(in: object, type) }
        return Value.get(from: object, at: place)
    }

    /// Sets the value of the property.
    @inlinable @inline(__always) func set(_ value: Value, in object: NSManagedObject) {
        let type = UInt(bitPattern: ObjectIdentifier(Value.self))
        guard let place = PlaceTable.find(key, type, in: object.places, object.placeMask) else {
            return setSlowly(value, in: object, type)
        }
        Value.set(value, in: object, at: place)
    }

    @inlinable @inline(never) func valueSlowly(in object: NSManagedObject, _ type: UInt) -> Value {
        let place = resolve(in: object, key, type)
        return place.isConverted ? convertedValue(in: object, at: place) : Value.get(from: object, at: place)
    }

    @inlinable @inline(never) func setSlowly(_ value: Value, in object: NSManagedObject, _ type: UInt) {
        let place = resolveForWriting(in: object, key, type)
        if place.isConverted { setConvertedValue(value, in: object, at: place) } else { Value.set(value, in: object, at: place) }
    }

    /// Returns the place of the value, which is about to be written, in rows of the object's entity.
    func placeForWriting(in object: NSManagedObject) -> PropertyPlace {
        let type = UInt(bitPattern: ObjectIdentifier(Value.self))
        return PlaceTable.find(key, type, in: object.places, object.placeMask) ?? resolveForWriting(in: object, key, type)
    }

    @usableFromInline @inline(never) func resolve(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let place = knownPlace(in: object, key, type)
        if object.noticesAccesses, !place.isMissing { object.noteRead(at: place.index) }
        return place
    }

    @usableFromInline @inline(never) func resolveForWriting(in object: NSManagedObject, _ key: UInt, _ type: UInt) -> PropertyPlace {
        let place = knownPlace(in: object, key, type)
        if object.noticesAccesses, !place.isMissing {
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
        guard let property = frozen.byName[name.description] else {
            if frozen.layout.recordsReads { stopProgram(object.undefinedKeyMessage(name.description)) }
            // The class belongs to another version of the model: the value is read from the object by key.
            return .missing
        }
        let fits = Value.fits(property)
        guard fits || (property as? NSAttributeDescription).map({ Value.converts($0) }) ?? false else {
            stopProgram("“\(property)” cannot be read as \(Value.self): the model gives it another type.")
        }
        let place = PropertyPlace(
            frozen.layout.slots[property.slotIndex].location, index: property.slotIndex, isConverted: !fits)
        if frozen.layout.recordsReads {
            // Every read must be recorded here: the place is not cached.
            KeyPathRecorder.note(property, as: Value.self, of: object, isConverted: !fits)
            return place
        }
        // Entries of the table are read without a conversion.
        if fits { frozen.layout.places.insert(key, type, place) }
        return place
    }
}

extension NSManagedObject {
    /// Reads or sets a property. Nil is read as the type's zero if the type is not optional. Call it on the context's queue.
    @inlinable public final subscript<Value: ManagedValue>(property: ManagedProperty<Value>) -> Value {
        get { property.value(in: self) }
        set { property.set(newValue, in: self) }
    }

    @inlinable @inline(__always) final func readableSlots(_ index: @autoclosure () -> Int) -> UnsafeMutableRawPointer {
        slots ?? loadedSlots(reading: index())
    }

    @inlinable @inline(__always) final func writableSlots(_ index: Int) -> UnsafeMutableRawPointer {
        if flags.isSuperset(of: .writable), index < 64, let slots {
            // Written only if it changes: mostly a property is set again, and the object is then only read.
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
