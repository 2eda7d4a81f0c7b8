import Foundation

extension PropertyValue {
    /// Converts a Swift or Foundation value.
    ///
    /// Supported are integers of every width, `Bool`, floating-point numbers, `Decimal`, `String`, `Date`, `Data`, `UUID`, `URL`, their
    /// Foundation classes, `nil` and `NSNull`, arrays, sets and ordered sets of these, and dictionaries with string keys; an enumeration
    /// with a raw value is converted to that, and an instance of any other class becomes an ``object(_:)``.
    ///
    /// - Parameter value: The value, or nil.
    /// - Throws: ``InvalidPredicateError`` of the kind ``InvalidPredicateError/Kind/unconvertibleValue`` for any other structure,
    ///   enumeration or function.
    public init(any value: Any?) throws {
        guard let value else {
            self = .null
            return
        }
        if let converted = try PropertyValue(scalar: value) ?? PropertyValue(collection: value) {
            self = converted
        } else if let type = value as? AnyClass {
            self = .object(ObjectReference(ClassConstant(type)))
        } else {
            throw InvalidPredicateError(
                kind: .unconvertibleValue,
                message: "A value of type \(type(of: value)) cannot be used in a predicate: it is neither a property value nor an object")
        }
    }

    /// The value for client code: numbers as `NSNumber`, so that `as? Int`, `as? Int16` and `as? Bool` work.
    ///
    /// Sets are `Set<AnyHashable>`, and nil elements of collections `NSNull`.
    public var any: Any? {
        switch self {
        case .null: nil
        case .bool(let value): NSNumber(value: value)
        case .int64(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .object(let reference):
            switch reference.object {
            case let values as KeyedValues: values.original
            case let constant as ClassConstant: constant.type
            case let object: object
            }
        case .array(let values): values.map { $0.any ?? NSNull() }
        case .set(let values): Set(values.map { ($0.any ?? NSNull()) as? AnyHashable ?? AnyHashable($0) })
        }
    }

    private init?(scalar value: Any) throws {
        // Concrete types are compared rather than cast: a cast would bridge, and convert the number 1 to a Boolean.
        switch ObjectIdentifier(type(of: value)) {
        case ObjectIdentifier(String.self): self = .string(value as! String)
        case ObjectIdentifier(Int.self): self = .int64(Int64(value as! Int))
        case ObjectIdentifier(Bool.self): self = .bool(value as! Bool)
        case ObjectIdentifier(Double.self): self = .double(value as! Double)
        case ObjectIdentifier(Date.self): self = .date(value as! Date)
        case ObjectIdentifier(Int64.self): self = .int64(value as! Int64)
        case ObjectIdentifier(Int32.self): self = .int64(Int64(value as! Int32))
        case ObjectIdentifier(Int16.self): self = .int64(Int64(value as! Int16))
        case ObjectIdentifier(Int8.self): self = .int64(Int64(value as! Int8))
        case ObjectIdentifier(UInt.self): self = PropertyValue(unsigned: UInt64(value as! UInt))
        case ObjectIdentifier(UInt64.self): self = PropertyValue(unsigned: value as! UInt64)
        case ObjectIdentifier(UInt32.self): self = .int64(Int64(value as! UInt32))
        case ObjectIdentifier(UInt16.self): self = .int64(Int64(value as! UInt16))
        case ObjectIdentifier(UInt8.self): self = .int64(Int64(value as! UInt8))
        case ObjectIdentifier(Float.self): self = .double(Double(value as! Float))
        case ObjectIdentifier(CGFloat.self): self = .double(Double(value as! CGFloat))
        case ObjectIdentifier(Decimal.self): self = .decimal(value as! Decimal)
        case ObjectIdentifier(Data.self): self = .data(value as! Data)
        case ObjectIdentifier(UUID.self): self = .uuid(value as! UUID)
        case ObjectIdentifier(URL.self): self = .url(value as! URL)
        case ObjectIdentifier(Character.self): self = .string(String(value as! Character))
        case ObjectIdentifier(Substring.self): self = .string(String(value as! Substring))
        case ObjectIdentifier(AnyHashable.self): self = try PropertyValue(any: (value as! AnyHashable).base)
        case ObjectIdentifier(PropertyValue.self): self = value as! PropertyValue
        default: return nil
        }
    }

    private init?(collection value: Any) throws {
        if let optional = value as? any OptionalValue {
            self = try PropertyValue(any: optional.wrappedValue)
        } else if type(of: value) is AnyClass {
            self = try PropertyValue(instance: value as AnyObject)
        } else if let values = value as? [Any] {
            self = .array(try values.map { try PropertyValue(any: $0) })
        } else if let values = value as? Set<AnyHashable> {
            self = .set(Set(try values.map { try PropertyValue(any: $0.base) }))
        } else if let values = value as? [String: Any] {
            self = .object(ObjectReference(KeyedValues(values)))
        } else if let value = value as? any RawRepresentable {
            // An enumeration is stored and compared by its raw value.
            self = try PropertyValue(raw: value)
        } else {
            return nil
        }
    }

    private init(instance: AnyObject) throws {
        switch instance {
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as NSNumber: self = PropertyValue(number: value)
        case let value as NSString: self = .string(value as String)
        case let value as NSDate: self = .date(value as Date)
        case let value as NSData: self = .data(value as Data)
        case let value as NSUUID: self = .uuid(value as UUID)
        case let value as NSURL: self = .url(value as URL)
        case is NSNull: self = .null
        case let value as NSArray: self = .array(try value.map { try PropertyValue(any: $0) })
        case let value as NSSet: self = .set(Set(try value.map { try PropertyValue(any: $0) }))
        case let value as NSOrderedSet: self = .array(try value.map { try PropertyValue(any: $0) })
        default: self = .object(ObjectReference(instance))
        }
    }

    private init<Value: RawRepresentable>(raw value: Value) throws {
        self = try PropertyValue(any: value.rawValue)
    }

    private init(unsigned value: UInt64) {
        self = Int64(exactly: value).map { .int64($0) } ?? .decimal(Decimal(value))
    }

    private init(number: NSNumber) {
        // The two Booleans are singletons; a number from an `Int8` has the same type code.
        if number === NSNumber(value: true) || number === NSNumber(value: false) {
            self = .bool(number.boolValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
        case UInt8(ascii: "Q"): self = PropertyValue(unsigned: number.uint64Value)
        default: self = .int64(number.int64Value)
        }
    }
}

/// Identifies an `Optional` in an `Any`.
protocol OptionalValue {
    /// The value, or nil.
    var wrappedValue: Any? { get }
    /// The type of the value.
    static var wrappedType: Any.Type { get }
}

extension Optional: OptionalValue {
    static var wrappedType: Any.Type { Wrapped.self }

    var wrappedValue: Any? {
        if case .some(let value) = self { return value }
        return nil
    }
}
