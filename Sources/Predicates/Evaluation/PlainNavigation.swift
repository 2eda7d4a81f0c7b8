import Foundation

extension PropertyValue {
    /// Converts any value: one without a counterpart becomes an object whose stored properties are read by reflection.
    init(plain value: Any?) throws {
        guard let value else {
            self = .null
            return
        }
        do {
            self = try PropertyValue(any: value)
        } catch {
            if let optional = value as? any OptionalValue {
                self = try PropertyValue(plain: optional.wrappedValue)
            } else if let values = value as? [Any] {
                self = .array(try values.map { try PropertyValue(plain: $0) })
            } else {
                self = .object(ObjectReference(ReflectedValue(value)))
            }
        }
    }

    /// Reads a key of a value whose kind is known at run time only.
    ///
    /// - Parameters:
    ///   - key: The key; collection operators are not supported here.
    ///   - clause: The evaluated clause, for the message.
    /// - Returns: The value; for a collection, an array of the values of its elements.
    func value(forKey key: String, clause: String) throws -> PropertyValue {
        if key.lowercased() == "self" { return self }
        switch self {
        case .null:
            return .null
        case .object(let reference):
            return try PropertyValue.read(key, from: reference.object, clause: clause)
        case .array(let elements):
            return .array(try elements.map { try $0.value(forKey: key, clause: clause) })
        case .set(let elements):
            return .array(try elements.map { try $0.value(forKey: key, clause: clause) })
        case .string(let text):
            if let value = PropertyValue.property(key, of: text) { return value }
        default:
            break
        }
        throw InvalidPredicateError(kind: .unknownKeyPath, message: "\(typeName) has no key \"\(key)\", in the clause \(clause)")
    }

    private static func read(_ key: String, from object: AnyObject, clause: String) throws -> PropertyValue {
        if let readable = object as? any KeyValueReadable {
            return try PropertyValue(plain: readable.value(forKey: key))
        }
        if let dictionary = object as? NSDictionary {
            return try PropertyValue(plain: dictionary.object(forKey: NSString(string: key)))
        }
        let value: Any = (object as? ReflectedValue)?.value ?? object
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            // A lazy or wrapped property is stored under another name, which is not found here.
            if let child = current.children.first(where: { $0.label == key }) { return try PropertyValue(plain: child.value) }
            mirror = current.superclassMirror
        }
        throw InvalidPredicateError(kind: .unknownKeyPath, message: "\(type(of: value)) has no key \"\(key)\", in the clause \(clause)")
    }

    /// Returns the properties that key-value coding finds in a string.
    private static func property(_ key: String, of text: String) -> PropertyValue? {
        switch key {
        case "length": .int64(Int64(text.utf16.count))
        case "uppercaseString": .string(text.uppercased())
        case "lowercaseString": .string(text.lowercased())
        case "capitalizedString": .string(text.capitalized)
        case "description": .string(text)
        case "intValue", "integerValue", "longLongValue": .int64(NSString(string: text).longLongValue)
        case "doubleValue", "floatValue": .double(NSString(string: text).doubleValue)
        case "boolValue": .bool(NSString(string: text).boolValue)
        case "lastPathComponent": .string(NSString(string: text).lastPathComponent)
        case "pathExtension": .string(NSString(string: text).pathExtension)
        default: nil
        }
    }

    /// The kind of the value, for messages.
    var typeName: String {
        switch self {
        case .null: "nil"
        case .bool: "a Boolean"
        case .int64, .double, .decimal: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .object(let reference): "an object of class \(type(of: reference.object))"
        case .array: "an array"
        case .set: "a set"
        }
    }
}
