internal import Foundation

/// A value of a `Codable` type that is kept as JSON.
enum CodedValue<Value>: CodedValueMarker {
    static var valueType: any Any.Type { Value.self }
}

/// What the recorder of key paths knows such values by.
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

// What the accessors of a class that declares its own entity call where typed access by index does not serve.
extension NSManagedObject {
    /// The value of an attribute that keeps its values as JSON; see ``AttributeOption/codable``. Nil where there is none.
    ///
    /// Data that does not decode is an error of reading, as a fault that cannot be fulfilled is: the answer is nil, and the next throwing call
    /// on the context throws it. Call it on the context's queue.
    public final func codableValue<Value: Codable>(_ key: String, as type: Value.Type = Value.self) -> Value? {
        if let frozen = owningEntity.frozen, frozen.layout.recordsReads, let property = frozen.byName[key] {
            KeyPathRecorder.note(property, as: CodedValue<Value>.self, of: self)
            return KeyPathRecorder.standIn(type, in: self)
        }
        guard let data = value(forKey: key) as? Data else { return nil }
        do { return try JSONDecoder().decode(Value.self, from: data) } catch {
            noteUnreadable(key, "It holds data that is no JSON of \(type).", cause: error)
            return nil
        }
    }

    /// Sets the value of an attribute that keeps its values as JSON. A value that does not encode is refused: the old one stays, and validation
    /// reports it when the object is saved. Call it on the context's queue.
    public final func setCodableValue<Value: Codable>(_ value: Value?, _ key: String) {
        do { setValue(try value.map { try CodedValue.encode($0) }, forKey: key) } catch {
            guard let property = owningEntity.frozen?.byName[key] else { return setValue(value, forUndefinedKey: key) }
            refuse(value, for: property, because: "it has no form as JSON: \(error)")
        }
    }

    /// The value of an attribute that keeps values of any type, or nil. A value of another type is an error of reading, as data that does not
    /// decode is for ``codableValue(_:as:)``. Call it on the context's queue.
    public final func objectValue<Value>(_ key: String, as type: Value.Type = Value.self) -> Value? {
        guard let value = value(forKey: key) else { return nil }
        if let value = value as? Value { return value }
        noteUnreadable(key, "It holds a \(Swift.type(of: value)), not a \(type).", cause: nil)
        return nil
    }

    /// The value that a property which is not optional needs, or the end of the program with a message that says which it is.
    public final func presentValue<Value>(_ value: Value?, _ key: String) -> Value {
        guard let value else {
            preconditionFailure(
                "“\(owningEntity).\(key)” is nil, and \(Value.self) has no value for nil. Declare the property optional or give it a default."
            )
        }
        return value
    }

    /// The objects of an ordered relationship, in their order. Call it on the context's queue.
    public final func orderedObjects<Object: NSManagedObject>(_ key: String, of type: Object.Type = Object.self) -> [Object] {
        (value(forKey: key) as? NSOrderedSet)?.compactMap { $0 as? Object } ?? []
    }

    /// Replaces the objects of an ordered relationship. Call it on the context's queue.
    public final func setOrderedObjects<Object: NSManagedObject>(_ objects: [Object], _ key: String) { setValue(objects, forKey: key) }

    /// The objects of a fetched property. Call it on the context's queue.
    public final func fetchedObjects<Object: NSManagedObject>(_ key: String, of type: Object.Type = Object.self) -> [Object] {
        (value(forKey: key) as? [NSManagedObject])?.compactMap { $0 as? Object } ?? []
    }

    private func noteUnreadable(_ key: String, _ reason: String, cause: (any Error)?) {
        let error = CoreDataError.make(
            CocoaError.Code.coderInvalidValue.rawValue, "“\(owningEntity).\(key)” cannot be read.", reason: reason,
            next: "Set it anew, or read it as the type it was written with.", cause: cause)
        registry?.context?.noteFaultError(error, of: self)
    }
}
