internal import Foundation

/// A property of a managed object class that is read by its name, for the types that ``ManagedProperty`` does not serve: Foundation's
/// collections and numbers, classes of the program's own, `Any`, and the primitive values behind other properties.
///
/// ``ManagedAccess`` makes it. May be used from any thread; the object it is applied to belongs to its context's queue.
public struct ManagedKey<Value>: Sendable {
    let name: StaticString
    /// The property behind it, for primitive values.
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

/// As ``ManagedKey``, of enumerations that are kept as their raw values. `Value` is `Raw` or its optional.
public struct ManagedRawKey<Raw: RawRepresentable, Value>: Sendable {
    fileprivate let key: ManagedKey<Raw.RawValue>

    @usableFromInline init(_ key: ManagedKey<Raw.RawValue>) { self.key = key }

    fileprivate func value(in object: NSManagedObject) -> Raw? {
        guard let raw: Raw.RawValue = FoundationCounterpart.cast(key.value(in: object)) else { return nil }
        return Raw(rawValue: raw)
    }
}

extension NSManagedObject {
    /// The value of a property. Call it on the context's queue.
    ///
    /// Nil in a property that is not optional, and a value of another type, stop the program with a message.
    public final subscript<Value>(key: ManagedKey<Value>) -> Value {
        get {
            let stored = key.value(in: self)
            return FoundationCounterpart.cast(stored) ?? standIn(for: key.name, stored)
        }
        set { key.set(newValue, in: self) }
    }

    /// The enumeration whose raw value is stored. Call it on the context's queue.
    ///
    /// A stored value that is no case stops the program with a message; declare the property optional to read nil.
    public final subscript<Value>(key: ManagedRawKey<Value, Value>) -> Value {
        get { key.value(in: self) ?? standIn(for: key.key.name, key.key.value(in: self)) }
        set { key.key.set(newValue.rawValue, in: self) }
    }

    /// The enumeration whose raw value is stored; nil also where what is stored is no case. Call it on the context's queue.
    public final subscript<Value>(key: ManagedRawKey<Value, Value?>) -> Value? {
        get { key.value(in: self) }
        set { key.key.set(newValue?.rawValue, in: self) }
    }

    private func standIn<Value>(for name: StaticString, _ stored: Any?) -> Value {
        guard let value = KeyPathRecorder.standIn(Value.self, in: self) else {
            preconditionFailure("“\(owningEntity).\(name)” holds \(AttributeCheck.describe(stored)), which is no \(Value.self).")
        }
        return value
    }
}

/// The classes that Foundation has for Swift's values. Without Objective-C a cast leads from one to the other only here and there.
enum FoundationCounterpart {
    /// A value as a type, over the class or the structure that is the same in Foundation.
    static func cast<Value>(_ any: Any?) -> Value? {
        if let value = any as Any as? Value { return value }
        guard let any = AttributeCheck.unwrapped(any) else { return nil }
        return object(any) as? Value ?? plain(any) as? Value
    }

    /// The object of Foundation for a value of Swift's; nil where there is none.
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

    /// A value as attributes keep it: the structure for an object of Foundation's, anything else as it is.
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
