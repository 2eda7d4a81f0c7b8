public import Foundation
internal import Predicates

/// Provides the accessors of `@NSManaged` declarations for the code that the `ManagedAccessors` plugin writes.
///
/// The compiler chooses the overload for a property's type. ``ManagedValue``s are accessed through ``ManagedProperty``, enumerations
/// likewise through their raw values, and other types through ``NSManagedObject/value(forKey:)``.
public enum ManagedAccess {
    /// Returns the accessor of a property whose type is a ``ManagedValue``.
    @inlinable public static func property<Value: ManagedValue>(_ name: StaticString, as type: Value.Type) -> ManagedProperty<Value> {
        ManagedProperty(name)
    }

    /// Returns the accessor of a property whose type is an enumeration, or another type with a raw value that is a ``ManagedValue``.
    @_disfavoredOverload @inlinable
    public static func property<Value: RawRepresentable>(
        _ name: StaticString, as type: Value.Type
    ) -> ManagedProperty<RawManagedValue<Value>> where Value.RawValue: ManagedValue { ManagedProperty(name) }

    /// Returns the accessor of an optional property whose type is an enumeration, or another type with a raw value that is a
    /// ``ManagedValue``.
    @_disfavoredOverload @inlinable
    public static func property<Value: RawRepresentable>(
        _ name: StaticString, as type: Value?.Type
    ) -> ManagedProperty<RawManagedValue<Value>?> where Value.RawValue: ManagedValue { ManagedProperty(name) }

    /// Returns the accessor of a property of another type.
    @_disfavoredOverload @inlinable
    public static func property<Value>(_ name: StaticString, as type: Value.Type) -> ManagedKey<Value> { ManagedKey(name) }

    /// Returns the accessor of a fetched property, or of an attribute that holds objects.
    @inlinable
    public static func property<Element: NSManagedObject>(_ name: StaticString, as type: [Element].Type) -> ManagedKey<[Element]> {
        ManagedKey(name)
    }

    /// Returns the accessor of an optional fetched property, or of an optional attribute that holds objects.
    @inlinable
    public static func property<Element: NSManagedObject>(_ name: StaticString, as type: [Element]?.Type) -> ManagedKey<[Element]?> {
        ManagedKey(name)
    }

    /// Returns the accessor of a primitive value, such as `primitiveTitle` of `title`. Setting it does not notify the context.
    ///
    /// A property of the model with that very name takes precedence.
    @_disfavoredOverload @inlinable
    public static func primitive<Value>(_ name: StaticString, of key: StaticString, as type: Value.Type) -> ManagedKey<Value> {
        ManagedKey(name, primitiveKey: key)
    }

    /// Returns the accessor of an enumeration whose raw value is the primitive value of another property.
    @inlinable
    public static func primitive<Value: RawRepresentable>(
        _ name: StaticString, of key: StaticString, as type: Value.Type
    ) -> ManagedRawKey<Value, Value> where Value.RawValue: ManagedValue { ManagedRawKey(ManagedKey(name, primitiveKey: key)) }

    /// Returns the accessor of an optional enumeration whose raw value is the primitive value of another property.
    @inlinable
    public static func primitive<Value: RawRepresentable>(
        _ name: StaticString, of key: StaticString, as type: Value?.Type
    ) -> ManagedRawKey<Value, Value?> where Value.RawValue: ManagedValue { ManagedRawKey(ManagedKey(name, primitiveKey: key)) }

    /// Returns the argument of a generated relationship method as an array.
    public static func members(_ object: NSManagedObject) -> [NSManagedObject] { [object] }
    /// Returns the argument of a generated relationship method as an array.
    public static func members(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] { Array(objects) }
    /// Returns the argument of a generated relationship method as an array. An element that is not a managed object stops the program
    /// with a message.
    public static func members(_ objects: NSSet) -> [NSManagedObject] { objects.allObjects.map(member) }
    /// Returns the argument of a generated relationship method as an array. An element that is not a managed object stops the program
    /// with a message.
    public static func members(_ objects: NSOrderedSet) -> [NSManagedObject] { objects.array.map(member) }
    /// Returns the argument of a generated relationship method as an array. An element that is not a managed object stops the program
    /// with a message.
    public static func members(_ objects: NSArray) -> [NSManagedObject] { objects.map(member) }

    private static func member(_ object: Any) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            stopProgram("A relationship holds managed objects, not \(type(of: object)).")
        }
        return object
    }

    /// Returns the index argument of a generated method of an ordered relationship.
    public static func indexes(_ index: Int) -> IndexSet { [index] }
    /// Returns the indexes argument of a generated method of an ordered relationship.
    public static func indexes(_ indexes: IndexSet) -> IndexSet { indexes }
    /// Returns the indexes argument of a generated method of an ordered relationship.
    public static func indexes(_ indexes: NSIndexSet) -> IndexSet { IndexSet(indexes) }
}

/// A value that is stored as its raw value.
public struct RawManagedValue<Value: RawRepresentable>: ManagedValue where Value.RawValue: ManagedValue {
    /// The value.
    public var value: Value

    /// Wraps a value.
    @inlinable @inline(__always) public init(_ value: Value) { self.value = value }

    /// Returns the value of the raw value at `place`. A raw value without a case stops the program with a message; declare the property
    /// optional to read nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> RawManagedValue {
        let raw = Value.RawValue.get(from: object, at: place)
        return RawManagedValue(Value(rawValue: raw) ?? noCase(raw, object, place))
    }

    /// Returns the value of the raw value at `place`; nil if it is nil or has no case.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> RawManagedValue? {
        guard let raw = Value.RawValue.getOptional(from: object, at: place) else { return nil }
        guard let value = Value(rawValue: raw) ?? placeholder(object) else { return nil }
        return RawManagedValue(value)
    }

    @usableFromInline @inline(never) static func noCase(_ raw: Value.RawValue, _ object: NSManagedObject, _ place: PropertyPlace) -> Value {
        guard let value = placeholder(object) else {
            stopProgram("“\(place.property(of: object))” holds \(raw), which is no \(Value.self). Declare the property optional.")
        }
        return value
    }

    @usableFromInline @inline(never) static func placeholder(_ object: NSManagedObject) -> Value? {
        KeyPathRecorder.placeholder(Value.self, in: object)
    }

    /// Stores the raw value of a value at `place`.
    @inlinable @inline(__always)
    public static func set(_ value: RawManagedValue, in object: NSManagedObject, at place: PropertyPlace) {
        Value.RawValue.set(value.value.rawValue, in: object, at: place)
    }

    /// Stores the raw value of a value, or nil, at `place`.
    @inlinable
    public static func setOptional(_ value: RawManagedValue?, in object: NSManagedObject, at place: PropertyPlace) {
        Value.RawValue.setOptional(value?.value.rawValue, in: object, at: place)
    }

    /// Returns whether a property of the model can be read as the raw value's type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { Value.RawValue.fits(property) }
    /// Returns whether an attribute of another type is read as the raw value's type by a conversion.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { Value.RawValue.converts(attribute) }
    /// Returns the value with the raw value of an attribute of another type; nil if there is none.
    public static func converted(_ value: Any?) -> RawManagedValue? {
        Value.RawValue.converted(value).flatMap { Value(rawValue: $0) }.map { RawManagedValue($0) }
    }
    /// Returns the form in which attributes of other types take the raw value.
    public static func attributeValue(of value: RawManagedValue) -> Any? { Value.RawValue.attributeValue(of: value.value.rawValue) }
}

extension RawManagedValue: ManagedValueWrapper {
    static var shown: Any.Type { Value.self }
    static var shownOptional: Any.Type { Value?.self }
}

extension NSManagedObject {
    /// Reads or sets a property that is stored as its raw value. Call it on the context's queue.
    @inlinable public final subscript<Value: RawRepresentable>(property: ManagedProperty<RawManagedValue<Value>>) -> Value {
        get { property.value(in: self).value }
        set { property.set(RawManagedValue(newValue), in: self) }
    }

    /// Reads or sets a property that is stored as its raw value; it also reads nil if the raw value has no case. Call it on the context's queue.
    @inlinable public final subscript<Value: RawRepresentable>(property: ManagedProperty<RawManagedValue<Value>?>) -> Value? {
        get { property.value(in: self)?.value }
        set { property.set(newValue.map { RawManagedValue($0) }, in: self) }
    }
}
