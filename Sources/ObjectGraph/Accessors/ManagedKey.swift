internal import Foundation
internal import Predicates

/// A property of a managed object class that is read by name, for types that ``ManagedProperty`` does not support: Foundation's
/// collections and numbers, other classes, `Any`, and primitive values.
///
/// ``ManagedAccess`` creates it. Use it on any thread; the object it is applied to belongs to its context's queue.
public struct ManagedKey<Value>: Sendable {
    let name: StaticString
    /// The property whose primitive value this is; nil for other properties.
    let primitiveKey: StaticString?

    @usableFromInline init(_ name: StaticString, primitiveKey: StaticString? = nil) {
        self.name = name
        self.primitiveKey = primitiveKey
    }

    fileprivate func value(in object: NSManagedObject) -> Any? {
        primitiveName(in: object).map { object.primitiveValue(forKey: $0) } ?? object.value(forKey: name.description)
    }

    fileprivate func set(_ value: Any?, in object: NSManagedObject) {
        if let primitive = primitiveName(in: object) {
            object.setPrimitiveValue(FoundationCounterpart.plain(value), forKey: primitive)
        } else {
            object.setValue(FoundationCounterpart.plain(value), forKey: name.description)
        }
    }

    private func primitiveName(in object: NSManagedObject) -> String? {
        guard let primitiveKey, object.owningEntity.frozen!.byName[name.description] == nil else { return nil }
        return primitiveKey.description
    }
}

/// Works like ``ManagedKey`` for enumerations that are stored as their raw values. `Value` is `Raw` or its optional.
public struct ManagedRawKey<Raw: RawRepresentable, Value>: Sendable {
    fileprivate let key: ManagedKey<Raw.RawValue>

    @usableFromInline init(_ key: ManagedKey<Raw.RawValue>) { self.key = key }

    fileprivate func value(in object: NSManagedObject) -> Raw? {
        guard let raw: Raw.RawValue = FoundationCounterpart.bridged(key.value(in: object)) else { return nil }
        return Raw(rawValue: raw)
    }
}

extension NSManagedObject {
    /// Reads or sets a property. Call it on the context's queue.
    ///
    /// A value of another type, and nil in a non-optional property, stop the program with a message.
    public final subscript<Value>(key: ManagedKey<Value>) -> Value {
        get {
            let stored = key.value(in: self)
            return FoundationCounterpart.bridged(stored) ?? placeholder(for: key.name, stored)
        }
        set { key.set(newValue, in: self) }
    }

    /// Reads or sets a property that is stored as its raw value. Call it on the context's queue.
    ///
    /// A raw value without a case stops the program with a message; declare the property optional to read nil.
    public final subscript<Value>(key: ManagedRawKey<Value, Value>) -> Value {
        get { key.value(in: self) ?? placeholder(for: key.key.name, key.key.value(in: self)) }
        set { key.key.set(newValue.rawValue, in: self) }
    }

    /// Reads or sets a property that is stored as its raw value; it also reads nil if the raw value has no case. Call it on the context's queue.
    public final subscript<Value>(key: ManagedRawKey<Value, Value?>) -> Value? {
        get { key.value(in: self) }
        set { key.key.set(newValue?.rawValue, in: self) }
    }

    private func placeholder<Value>(for name: StaticString, _ stored: Any?) -> Value {
        guard let value = KeyPathRecorder.placeholder(Value.self, in: self) else {
            if owningEntity.frozen!.layout.recordsReads {
                stopProgram(
                    "A key path reads “\(owningEntity).\(name)”, whose name cannot be found: no \(Value.self) can be made to read it with. Declare the "
                        + "property optional, let \(Value.self) be Decodable, or give the name as a string.")
            }
            stopProgram("“\(owningEntity).\(name)” holds \(AttributeCheck.describe(stored)), which is no \(Value.self).")
        }
        return value
    }
}

/// Converts between Swift's value types and Foundation's classes, which casts do only in part without Objective-C.
enum FoundationCounterpart {
    /// Casts a value to a type, through its counterpart in Foundation if needed.
    static func cast<Value>(_ any: Any?) -> Value? {
        if let value = any as Any as? Value { return value }
        guard let any = AttributeCheck.unwrapped(any) else { return nil }
        return object(any) as? Value ?? plain(any) as? Value
    }

    /// Casts a value to a type like ``cast(_:)``, and converts a value of another type as typed accessors do.
    static func bridged<Value>(_ any: Any?) -> Value? {
        if let value = any as Any as? Value { return value }
        if let any = AttributeCheck.unwrapped(any), let type = Value.self as? any ManagedValue.Type, let value = type.converted(any),
            AttributeCheck.unwrapped(value) != nil
        {
            return value as? Value
        }
        return cast(any)
    }

    /// Returns the Foundation object for a Swift value; nil if there is none.
    private static func object(_ any: Any) -> NSObject? {
        switch any {
        case let text as String: NSString(string: text)
        case let data as Data: NSMutableData(data: data)
        case let date as Date: date as NSDate
        case let identifier as UUID: identifier as NSUUID
        case let url as URL: url as NSURL
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal)
        case let set as Set<AnyHashable>: NSMutableSet(set: set)
        case let objects as [Any]: NSMutableArray(array: objects)
        case let entries as [AnyHashable: Any]: NSMutableDictionary(dictionary: entries)
        case let ordered as NSOrderedSet: NSMutableOrderedSet(orderedSet: ordered)
        default: nil
        }
    }

    /// Returns a value as attributes store it: the value type for a Foundation object, other values unchanged.
    static func plain(_ any: Any?) -> Any? {
        switch AttributeCheck.unwrapped(any) {
        case let text as NSString: text as String
        case let data as NSData: data as Data
        case let date as NSDate: date as Date
        case let identifier as NSUUID: identifier as UUID
        case let url as NSURL: url as URL
        case let other: other
        }
    }
}
