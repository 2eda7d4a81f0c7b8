internal import Foundation
internal import Predicates

/// A value of a `Codable` type that is stored as JSON.
enum CodedValue<Value>: CodedValueMarker {
    static var valueType: any Any.Type { Value.self }
}

/// Identifies such values to the recorder of key paths.
protocol CodedValueMarker {
    static var valueType: any Any.Type { get }
}

extension CodedValue where Value: Codable {
    static func encode(_ value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }
}

// The accessors of declared properties that typed access does not support.
extension NSManagedObject {
    /// Returns the value of an attribute that stores JSON, or nil; see ``AttributeOption/codable``. Call it on the context's queue.
    ///
    /// Data that cannot be decoded is reported like a fault that cannot be fulfilled: the value is nil, and the next throwing call to the
    /// context throws the error.
    public final func codableValue<Value: Codable>(_ key: String, as type: Value.Type = Value.self) -> Value? {
        if let frozen = owningEntity.frozen, frozen.layout.recordsReads, let property = frozen.byName[key] {
            KeyPathRecorder.note(property, as: CodedValue<Value>.self, of: self)
            return KeyPathRecorder.placeholder(type, in: self)
        }
        guard let data = value(forKey: key) as? Data else { return nil }
        do { return try JSONDecoder().decode(Value.self, from: data) } catch {
            noteUnreadable(key, "It holds data that is not JSON of \(type).", cause: error)
            return nil
        }
    }

    /// Sets the value of an attribute that stores JSON. A value that cannot be encoded is rejected: the old value is kept, and validation
    /// reports the error when the object is saved. Call it on the context's queue.
    public final func setCodableValue<Value: Codable>(_ value: Value?, _ key: String) {
        do { setValue(try value.map { try CodedValue.encode($0) }, forKey: key) } catch {
            guard let property = owningEntity.frozen?.byName[key] else { return setValue(value, forUndefinedKey: key) }
            reject(value, for: property, because: "it has no form as JSON: \(error)")
        }
    }

    /// Returns the value of an attribute that stores values of any type, or nil. A value of another type is reported like data that
    /// cannot be decoded by ``codableValue(_:as:)``. Call it on the context's queue.
    public final func objectValue<Value>(_ key: String, as type: Value.Type = Value.self) -> Value? {
        guard let value = value(forKey: key) else { return nil }
        if let value = value as? Value { return value }
        noteUnreadable(key, "It holds a \(Swift.type(of: value)), not a \(type).", cause: nil)
        return nil
    }

    /// Returns the value of a non-optional property; stops the program with a message that names the property if it is nil.
    public final func presentValue<Value>(_ value: Value?, _ key: String) -> Value {
        guard let value else {
            stopProgram(
                "“\(owningEntity).\(key)” is nil, and \(Value.self) has no value for nil. Declare the property optional or give it a default."
            )
        }
        return value
    }

    /// Returns the objects of an ordered relationship, in order. Call it on the context's queue.
    public final func orderedObjects<Object: NSManagedObject>(_ key: String, of type: Object.Type = Object.self) -> [Object] {
        (value(forKey: key) as? NSOrderedSet)?.compactMap { $0 as? Object } ?? []
    }

    /// Replaces the objects of an ordered relationship. Call it on the context's queue.
    public final func setOrderedObjects<Object: NSManagedObject>(_ objects: [Object], _ key: String) { setValue(objects, forKey: key) }

    /// Returns the objects of a fetched property. Call it on the context's queue.
    public final func fetchedObjects<Object: NSManagedObject>(_ key: String, of type: Object.Type = Object.self) -> [Object] {
        (value(forKey: key) as? [NSManagedObject])?.compactMap { $0 as? Object } ?? []
    }

    private func noteUnreadable(_ key: String, _ reason: String, cause: (any Error)?) {
        let error = CoreDataError.make(
            CocoaError.Code.coderInvalidValue.rawValue, "“\(owningEntity).\(key)” cannot be read.", reason: reason,
            next: "Set it again, or read it as the type it was written with.", cause: cause)
        registry?.context?.noteFaultError(error, of: self)
    }
}
