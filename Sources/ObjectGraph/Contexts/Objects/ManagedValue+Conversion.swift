public import Foundation
internal import Predicates

// Properties whose Swift type differs from the attribute's type in the model. Apple's accessors return the attribute's object, and an NSNumber
// converts to every numeric type. So a number is read as any numeric type, and the value of a transformable or untyped attribute is read unchanged.

extension ManagedProperty {
    /// Returns the value of an attribute of another type. A value that cannot be converted stops the program with a message.
    @usableFromInline func convertedValue(in object: NSManagedObject, at place: PropertyPlace) -> Value {
        if place.isMissing { return undefinedValue(in: object) }
        let stored = object.currentValue(of: place.property(of: object))
        guard let value = Value.converted(AttributeCheck.unwrapped(stored)) ?? KeyPathRecorder.placeholder(Value.self, in: object) else {
            stopProgram(
                "“\(place.property(of: object))” holds \(AttributeCheck.describe(stored)), which is no \(Value.self). Declare the property "
                    + "optional, or with the attribute's type.")
        }
        return value
    }

    /// Sets an attribute of another type. A value that the attribute cannot hold is rejected; validation reports it at the save.
    @usableFromInline func setConvertedValue(_ value: Value, in object: NSManagedObject, at place: PropertyPlace) {
        if place.isMissing { return object.setValue(Value.attributeValue(of: value), forUndefinedKey: name.description) }
        object.setCurrentValue(Value.attributeValue(of: value), of: place.property(of: object))
    }

    /// Returns an object's value for a property that its version of the model does not have.
    private func undefinedValue(in object: NSManagedObject) -> Value {
        let answer = object.value(forUndefinedKey: name.description)
        guard let value = Value.converted(AttributeCheck.unwrapped(answer)) else {
            stopProgram(
                "“\(object.owningEntity).\(name)” is answered with \(AttributeCheck.describe(answer)), which is no \(Value.self). Declare the "
                    + "property optional.")
        }
        return value
    }
}

/// Conversions between the types of numbers, as `NSNumber` makes them: to an integer without the fraction, to a smaller integer without
/// the higher bits.
package enum NumberConversion {
    /// Returns whether the values of an attribute may be numbers.
    static func isNumeric(_ attribute: NSAttributeDescription) -> Bool {
        attribute.isNumber || attribute.attributeType == .decimalAttributeType || isUntyped(attribute)
    }

    /// Returns whether the attribute may hold values of any type.
    static func isUntyped(_ attribute: NSAttributeDescription) -> Bool {
        attribute.attributeType == .transformableAttributeType || attribute.attributeType == .undefinedAttributeType
    }

    /// Returns a number as an integer, without its fraction; the nearest integer if it is out of range. Nil for other values.
    static func integer(_ value: Any) -> Int64? {
        switch value {
        case let whole as Int64: return whole
        case let flag as Bool: return flag ? 1 : 0
        case let whole as any BinaryInteger: return Int64(clamping: whole)
        case let decimal as Decimal: return integer(decimal)
        case let decimal as NSDecimalNumber: return integer(decimal.decimalValue)
        case let other: return double(other).map(integer)
        }
    }

    private static func integer(_ decimal: Decimal) -> Int64 {
        var number = decimal
        var whole = Decimal()
        NSDecimalRound(&whole, &number, 0, number.isSignMinus ? .up : .down)
        // The digits of a whole decimal number are those of the integer.
        return Int64("\(whole)") ?? integer(Double("\(decimal)") ?? .nan)
    }

    private static func integer(_ number: Double) -> Int64 {
        if number.isNaN { return 0 }
        return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
    }

    /// Returns a number as a floating-point number; nil for other values.
    static func double(_ value: Any) -> Double? {
        switch value {
        case let real as Double: real
        case let real as Float: Double(real)
        case let flag as Bool: flag ? 1 : 0
        case let whole as any BinaryInteger: Double(Int64(clamping: whole))
        // Foundation's conversion loses the last digits.
        case let decimal as Decimal: Double("\(decimal)")
        case let decimal as NSDecimalNumber: Double("\(decimal.decimalValue)")
        case let boxed as NSNumber: boxed.doubleValue
        default: nil
        }
    }

    /// Returns a number as a decimal number, a floating-point number with the digits that it is printed with; nil for other values.
    package static func decimal(_ value: Any) -> Decimal? {
        switch value {
        case let decimal as Decimal: decimal
        case let decimal as NSDecimalNumber: decimal.decimalValue
        case let flag as Bool: flag ? 1 : 0
        case let whole as any BinaryInteger: Decimal(string: String(whole))
        case let other: double(other).flatMap { Decimal(string: "\($0)") }
        }
    }
}

extension ManagedScalar where Self: FixedWidthInteger {
    /// Returns whether the attribute holds numbers of another type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isNumeric(attribute) }
    /// Returns a number without its fraction, and without the bits that this type has no room for; 0 for nil.
    public static func converted(_ value: Any?) -> Self? {
        guard let value else { return 0 }
        return NumberConversion.integer(value).map { Self(truncatingIfNeeded: $0) }
    }
}

extension ManagedScalar where Self: BinaryFloatingPoint {
    /// Returns whether the attribute holds numbers of another type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isNumeric(attribute) }
    /// Returns a number as this type; 0 for nil.
    public static func converted(_ value: Any?) -> Self? {
        guard let value else { return 0 }
        return NumberConversion.double(value).map { Self($0) }
    }
}

extension Bool {
    /// Returns whether the attribute holds numbers.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isNumeric(attribute) }
    /// Returns whether a number is not 0; false for nil.
    public static func converted(_ value: Any?) -> Bool? {
        guard let value else { return false }
        return NumberConversion.double(value).map { $0 != 0 }
    }
}

extension Decimal {
    /// Returns whether the attribute holds numbers of another type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isNumeric(attribute) }
    /// Returns a number as a decimal number; 0 for nil.
    public static func converted(_ value: Any?) -> Decimal? {
        guard let value else { return 0 }
        return NumberConversion.decimal(value)
    }
}

/// A scalar type that is no number: attributes without a type of their own may hold its values.
extension ManagedScalar {
    /// Returns whether the attribute may hold values of any type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isUntyped(attribute) }
    /// Returns a value if it is of this type; the type's value for nil.
    public static func converted(_ value: Any?) -> Self? {
        guard let value else { return fromStored(storedNil) }
        return value as? Self
    }
}

extension URL {
    /// Returns whether the attribute may hold values of any type.
    public static func converts(_ attribute: NSAttributeDescription) -> Bool { NumberConversion.isUntyped(attribute) }
}
