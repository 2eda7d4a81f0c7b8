internal import Foundation
internal import Predicates

// Apple's compiler accepts values that do not fit their attribute's type. Models that it has compiled must be readable.
extension AttributeText {
    /// Parses a string that is not a value of the type, as a default value or bound may be in models in use: “NO” of an integer, “0.0” of a Boolean,
    /// “12 px” of a number.
    ///
    /// - Returns: The value that the string begins with or stands for; nil if there is none, as for types whose values have no spelling.
    package static func lenientValue(_ text: String, type: NSAttributeType) -> Any? {
        switch type {
        case .booleanAttributeType: number(beginning: text).map { $0 != 0 }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            number(beginning: text).flatMap { Int(exactly: $0.rounded(.towardZero)) }.flatMap { value("\($0)", type: type) }
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .dateAttributeType:
            number(beginning: text).flatMap { value("\($0)", type: type) }
        default: nil
        }
    }

    /// Returns a value of another type as one of this type, like ``lenientValue(_:type:)``.
    package static func lenientValue(_ value: Any, type: NSAttributeType) -> Any? {
        if let text = value as? String { return self.value(text, type: type) ?? lenientValue(text, type: type) }
        guard let number = real(value) else { return nil }
        return lenientValue("\(number)", type: type)
    }

    /// Returns the number at the beginning of a string, or the number of a word for a Boolean.
    private static func number(beginning text: String) -> Double? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch text.uppercased() {
        case "YES", "TRUE", "Y", "T": return 1
        case "NO", "FALSE", "N", "F": return 0
        default: break
        }
        guard let numeral = text.prefixMatch(of: /[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/) else { return nil }
        return Double(numeral.output.hasPrefix("+") ? numeral.output.dropFirst() : numeral.output).flatMap { $0.isFinite ? $0 : nil }
    }
}

extension NSAttributeDescription {
    /// Sets the default value from its spelling in a model file. If the spelling does not fit the type, it sets the probable meaning, and notes that.
    package func takeDefaultValue(_ text: String) {
        if let value = AttributeText.value(text, type: attributeType) {
            defaultValue = value
        } else {
            defaultValue = AttributeText.lenientValue(text, type: attributeType)
            mistypedDefault = "“\(text)”"
        }
    }
}
