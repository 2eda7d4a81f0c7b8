internal import Foundation
internal import Predicates
internal import PropertyLists

extension NSAttributeDescription {
    /// Whether values of the type are numbers in Swift or Objective-C.
    var isNumber: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .booleanAttributeType:
            true
        default: false
        }
    }
}

/// Converts values of type `Any` to the form that an attribute's slot stores, or reports that they do not fit.
package enum AttributeCheck {
    /// Returns the stored form of `value`; nil when the attribute cannot hold it: a value of another type, an integer out of the
    /// attribute's range, a NaN.
    package static func conform(_ value: Any?, to attribute: NSAttributeDescription) -> StorableValue? {
        if let value, let stored = conformSwiftValue(value, to: attribute.attributeType) { return stored }
        guard let value = unwrapped(value) else { return .null }
        switch attribute.attributeType {
        case .integer16AttributeType: return integer(value, in: Int64(Int16.min)...Int64(Int16.max))
        case .integer32AttributeType: return integer(value, in: Int64(Int32.min)...Int64(Int32.max))
        case .integer64AttributeType: return integer(value, in: Int64.min...Int64.max)
        case .booleanAttributeType: return integer(value, in: 0...1)
        case .doubleAttributeType: return double(value)
        case .floatAttributeType: return double(value).flatMap(roundedToFloat)
        case .dateAttributeType:
            let seconds = (value as? Date)?.timeIntervalSinceReferenceDate
            return seconds.flatMap { $0.isFinite ? .double($0) : nil }
        case .stringAttributeType: return (value as? String).map { .string($0) }
        case .binaryDataAttributeType: return (value as? Data).map { .data($0) }
        case .UUIDAttributeType: return (value as? UUID).map { .uuid($0) }
        case .URIAttributeType: return (value as? URL).map { .box(Box($0)) }
        case .decimalAttributeType: return decimal(value)
        case .objectIDAttributeType: return (value as? NSManagedObjectID).map { .box(Box($0)) }
        case .transformableAttributeType, .undefinedAttributeType: return .box(Box(value))
        case .compositeAttributeType: return (value as? [String: Any]).map { .box(Box($0)) }
        }
    }

    /// Converts a value of the Swift type that programs mostly give an attribute, like ``conform(_:to:)``, which then need not try casts. Returns nil
    /// for any other value.
    @inline(__always) private static func conformSwiftValue(_ value: Any, to type: NSAttributeType) -> StorableValue? {
        let given = ObjectIdentifier(Swift.type(of: value))
        switch type {
        case .stringAttributeType:
            if given == ObjectIdentifier(String.self), let text = value as? String { return .string(text) }
        case .integer64AttributeType:
            if given == ObjectIdentifier(Int.self), let number = value as? Int { return .integer(Int64(number)) }
            if given == ObjectIdentifier(Int64.self), let number = value as? Int64 { return .integer(number) }
        case .integer32AttributeType:
            if given == ObjectIdentifier(Int32.self), let number = value as? Int32 { return .integer(Int64(number)) }
            if given == ObjectIdentifier(Int.self), let number = value as? Int, Int32(exactly: number) != nil {
                return .integer(Int64(number))
            }
        case .integer16AttributeType:
            if given == ObjectIdentifier(Int16.self), let number = value as? Int16 { return .integer(Int64(number)) }
            if given == ObjectIdentifier(Int.self), let number = value as? Int, Int16(exactly: number) != nil {
                return .integer(Int64(number))
            }
        case .booleanAttributeType:
            if given == ObjectIdentifier(Bool.self), let flag = value as? Bool { return .integer(flag ? 1 : 0) }
        case .doubleAttributeType:
            if given == ObjectIdentifier(Double.self), let number = value as? Double, !number.isNaN { return .double(number) }
        case .dateAttributeType:
            if given == ObjectIdentifier(Date.self), let date = value as? Date, date.timeIntervalSinceReferenceDate.isFinite {
                return .double(date.timeIntervalSinceReferenceDate)
            }
        case .binaryDataAttributeType:
            if given == ObjectIdentifier(Data.self), let data = value as? Data { return .data(data) }
        case .UUIDAttributeType:
            if given == ObjectIdentifier(UUID.self), let identifier = value as? UUID { return .uuid(identifier) }
        default: break
        }
        return nil
    }

    /// Returns a description of a value, with dates in the usual notation. Foundation stops the program when it describes a date whose interval is
    /// NaN.
    static func describe(_ value: Any?) -> String {
        guard let value = unwrapped(value) else { return "nil" }
        if let date = value as? Date {
            return date.timeIntervalSinceReferenceDate.isFinite ? DateText.text(date) : "date without a finite time"
        }
        return "\(value)"
    }

    /// Returns the reason why an attribute of a type cannot hold a value.
    static func misfit(_ value: Any?, _ type: NSAttributeType) -> String {
        let value = unwrapped(value)
        let isOfKind =
            switch type {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
                .booleanAttributeType, .decimalAttributeType:
                value is any Numeric || value is NSNumber
            case .dateAttributeType: value is Date
            default: false
            }
        return isOfKind ? "it does not fit into \(type.words)" : "it is of type \(typeName(value)), not \(type.words)"
    }

    /// Returns the name of a value's type, without enclosing optionals.
    static func typeName(_ value: Any?) -> String { unwrapped(value).map { "\(Swift.type(of: $0))" } ?? "nil" }

    /// Returns `value` without enclosing optionals, and nil for `NSNull`.
    package static func unwrapped(_ value: Any?) -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        if case let nested as (any OptionalValue) = value { return unwrapped(nested.anyValue) }
        return value
    }

    /// Returns whether typed accessors can store values that the attribute cannot hold.
    static func isBounded(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .doubleAttributeType, .floatAttributeType, .dateAttributeType: true
        default: false
        }
    }

    /// Returns whether the attribute can hold the value that a typed accessor has stored in its slot.
    static func holds(_ row: Row, _ slot: RowLayout.Slot, _ attribute: NSAttributeDescription) -> Bool {
        let place = row.slots + slot.location.offset
        switch attribute.attributeType {
        case .integer16AttributeType: return Int16(exactly: place.load(as: Int64.self)) != nil
        case .integer32AttributeType: return Int32(exactly: place.load(as: Int64.self)) != nil
        case .doubleAttributeType, .floatAttributeType: return !place.load(as: Double.self).isNaN
        case .dateAttributeType: return place.load(as: Double.self).isFinite
        default: return true
        }
    }

    private static func integer(_ value: Any, in range: ClosedRange<Int64>) -> StorableValue? {
        let number: Int64?
        switch value {
        case let whole as Int: number = Int64(whole)
        case let flag as Bool: number = flag ? 1 : 0
        case let whole as any BinaryInteger: number = Int64(exactly: whole)
        case let boxed as NSNumber: number = NSNumber(value: boxed.int64Value) == boxed ? boxed.int64Value : nil
        case let real as Double: number = Int64(exactly: real)
        default: number = nil
        }
        return number.flatMap { range.contains($0) ? .integer($0) : nil }
    }

    private static func double(_ value: Any) -> StorableValue? {
        let number: Double?
        switch value {
        case let real as Double: number = real
        case let real as Float: number = Double(real)
        case let decimal as Decimal: number = (decimal as NSDecimalNumber).doubleValue
        case let whole as any BinaryInteger: number = Double(exactly: whole)
        case let boxed as NSNumber: number = boxed.doubleValue
        default: number = nil
        }
        return number.flatMap { $0.isNaN ? nil : .double($0) }
    }

    private static func roundedToFloat(_ value: StorableValue) -> StorableValue? {
        if case .double(let number) = value { .double(Double(Float(number))) } else { nil }
    }

    private static func decimal(_ value: Any) -> StorableValue? {
        let number: Decimal?
        switch value {
        case let exact as Decimal: number = exact
        case let whole as Int: number = Decimal(whole)
        case let whole as any BinaryInteger: number = Decimal(string: String(whole))
        // Foundation stops the program at a decimal number of an infinite one.
        case let real as Double: number = real.isFinite ? Decimal(real) : nil
        case let boxed as NSNumber: number = boxed.decimalValue
        default: number = nil
        }
        return number.flatMap { $0.isNaN ? nil : .box(Box($0)) }
    }
}

/// An optional of any wrapped type.
private protocol OptionalValue {
    var anyValue: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var anyValue: Any? { self.map { $0 as Any } }
}
