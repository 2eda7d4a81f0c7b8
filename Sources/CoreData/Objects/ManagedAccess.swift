public import Foundation

/// The accessors of `@NSManaged` declarations, whatever their types are: what the `ManagedAccessors` plugin writes calls.
///
/// The overload that fits a type is chosen when the program is compiled. Types that are ``ManagedValue``s are read and written as
/// ``ManagedProperty`` does it, enumerations through their raw values in the same way, and any other type through its value as
/// ``NSManagedObject/value(forKey:)`` has it.
public enum ManagedAccess {
    /// A property whose type is a ``ManagedValue``.
    @inlinable public static func property<Value: ManagedValue>(_ name: StaticString, as type: Value.Type) -> ManagedProperty<Value> {
        ManagedProperty(name)
    }

    /// A property whose type is an enumeration, or another type with a raw value that is a ``ManagedValue``.
    @_disfavoredOverload @inlinable
    public static func property<Value: RawRepresentable>(
        _ name: StaticString, as type: Value.Type
    ) -> ManagedProperty<RawManagedValue<Value>> where Value.RawValue: ManagedValue { ManagedProperty(name) }

    /// An optional property whose type is an enumeration, or another type with a raw value that is a ``ManagedValue``.
    @_disfavoredOverload @inlinable
    public static func property<Value: RawRepresentable>(
        _ name: StaticString, as type: Value?.Type
    ) -> ManagedProperty<RawManagedValue<Value>?> where Value.RawValue: ManagedValue { ManagedProperty(name) }

    /// A property of another type.
    @_disfavoredOverload @inlinable
    public static func property<Value>(_ name: StaticString, as type: Value.Type) -> ManagedKey<Value> { ManagedKey(name) }

    /// A fetched property, or an attribute that holds objects.
    @inlinable
    public static func property<Element: NSManagedObject>(_ name: StaticString, as type: [Element].Type) -> ManagedKey<[Element]> {
        ManagedKey(name)
    }

    /// A fetched property, or an attribute that holds objects.
    @inlinable
    public static func property<Element: NSManagedObject>(_ name: StaticString, as type: [Element]?.Type) -> ManagedKey<[Element]?> {
        ManagedKey(name)
    }

    /// The value that is stored under another property: `primitiveTitle` for `title`. Setting it tells the context nothing.
    ///
    /// A property of the model that is itself called so comes first.
    @_disfavoredOverload @inlinable
    public static func primitive<Value>(_ name: StaticString, of key: StaticString, as type: Value.Type) -> ManagedKey<Value> {
        ManagedKey(name, primitiveKey: key)
    }

    /// The enumeration whose raw value is stored under another property.
    @inlinable
    public static func primitive<Value: RawRepresentable>(
        _ name: StaticString, of key: StaticString, as type: Value.Type
    ) -> ManagedRawKey<Value, Value> where Value.RawValue: ManagedValue { ManagedRawKey(ManagedKey(name, primitiveKey: key)) }

    /// The enumeration whose raw value is stored under another property.
    @inlinable
    public static func primitive<Value: RawRepresentable>(
        _ name: StaticString, of key: StaticString, as type: Value?.Type
    ) -> ManagedRawKey<Value, Value?> where Value.RawValue: ManagedValue { ManagedRawKey(ManagedKey(name, primitiveKey: key)) }

    /// What a method is given to add to a relationship or take out of it.
    public static func members(_ object: NSManagedObject) -> [NSManagedObject] { [object] }
    /// What a method is given to add to a relationship or take out of it.
    public static func members(_ objects: some Sequence<NSManagedObject>) -> [NSManagedObject] { Array(objects) }
    /// What a method is given to add to a relationship or take out of it. Anything else than managed objects stops the program with a message.
    public static func members(_ objects: NSSet) -> [NSManagedObject] { objects.allObjects.map(member) }
    /// What a method is given to add to a relationship or take out of it. Anything else than managed objects stops the program with a message.
    public static func members(_ objects: NSOrderedSet) -> [NSManagedObject] { objects.array.map(member) }
    /// What a method is given to add to a relationship or take out of it. Anything else than managed objects stops the program with a message.
    public static func members(_ objects: NSArray) -> [NSManagedObject] { objects.map(member) }

    private static func member(_ object: Any) -> NSManagedObject {
        guard let object = object as? NSManagedObject else {
            preconditionFailure("A relationship holds managed objects, not \(type(of: object)).")
        }
        return object
    }

    /// Where a method puts objects into an ordered relationship.
    public static func indexes(_ index: Int) -> IndexSet { [index] }
    /// Where a method puts objects into an ordered relationship.
    public static func indexes(_ indexes: IndexSet) -> IndexSet { indexes }
    /// Where a method puts objects into an ordered relationship.
    public static func indexes(_ indexes: NSIndexSet) -> IndexSet { IndexSet(indexes) }
}

/// A value that is kept as its raw value.
public struct RawManagedValue<Value: RawRepresentable>: ManagedValue where Value.RawValue: ManagedValue {
    /// The value.
    public var value: Value

    /// Wraps a value.
    @inlinable @inline(__always) public init(_ value: Value) { self.value = value }

    /// See ``ManagedValue``. A stored value that is no case stops the program with a message; declare the property optional to read nil.
    @inlinable @inline(__always)
    public static func get(from object: NSManagedObject, at place: PropertyPlace) -> RawManagedValue {
        let raw = Value.RawValue.get(from: object, at: place)
        return RawManagedValue(Value(rawValue: raw) ?? noCase(raw, object, place))
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> RawManagedValue? {
        guard let raw = Value.RawValue.getOptional(from: object, at: place) else { return nil }
        guard let value = Value(rawValue: raw) ?? standIn(object) else { return nil }
        return RawManagedValue(value)
    }

    @usableFromInline @inline(never) static func noCase(_ raw: Value.RawValue, _ object: NSManagedObject, _ place: PropertyPlace) -> Value {
        guard let value = standIn(object) else {
            preconditionFailure("“\(place.property(of: object))” holds \(raw), which is no \(Value.self). Declare the property optional.")
        }
        return value
    }

    @usableFromInline @inline(never) static func standIn(_ object: NSManagedObject) -> Value? {
        KeyPathRecorder.standIn(Value.self, in: object)
    }

    /// See ``ManagedValue``.
    @inlinable @inline(__always)
    public static func set(_ value: RawManagedValue, in object: NSManagedObject, at place: PropertyPlace) {
        Value.RawValue.set(value.value.rawValue, in: object, at: place)
    }

    /// See ``ManagedValue``.
    @inlinable
    public static func setOptional(_ value: RawManagedValue?, in object: NSManagedObject, at place: PropertyPlace) {
        Value.RawValue.setOptional(value?.value.rawValue, in: object, at: place)
    }

    /// See ``ManagedValue``.
    public static func fits(_ property: NSPropertyDescription) -> Bool { Value.RawValue.fits(property) }
}

extension RawManagedValue: ManagedValueWrapper {
    static var shown: Any.Type { Value.self }
    static var shownOptional: Any.Type { Value?.self }
}

extension NSManagedObject {
    /// The value of a property that is kept as its raw value. Call it on the context's queue.
    @inlinable public final subscript<Value: RawRepresentable>(property: ManagedProperty<RawManagedValue<Value>>) -> Value {
        get { RawManagedValue.get(from: self, at: property.place(in: self)).value }
        set { RawManagedValue.set(RawManagedValue(newValue), in: self, at: property.placeForWriting(in: self)) }
    }

    /// The value of a property that is kept as its raw value; nil also where what is stored is no case. Call it on the context's queue.
    @inlinable public final subscript<Value: RawRepresentable>(property: ManagedProperty<RawManagedValue<Value>?>) -> Value? {
        get { RawManagedValue<Value>.getOptional(from: self, at: property.place(in: self))?.value }
        set { Value.RawValue.setOptional(newValue?.rawValue, in: self, at: property.placeForWriting(in: self)) }
    }
}
