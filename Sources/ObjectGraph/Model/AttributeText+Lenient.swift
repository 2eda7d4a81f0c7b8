internal import Foundation
internal import Predicates

// Apple's compiler lets values pass that are none of their attribute's type. What it has shipped must be read.
extension AttributeText {
    /// Parses a string that is none of the type, as a default value or bound may be in models in use: “NO” of an integer, “0.0” of a Boolean,
    /// “12 px” of a number.
    ///
    /// - Returns: The value that it begins with or stands for; nil where there is none, as for the types that have no spelling.
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

    /// Returns the number at the beginning of a string, or that a word for a Boolean stands for.
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
    /// Takes the default value that a model file spells; of one that is none of the type, what it probably means, and notes it.
    package func takeDefaultValue(_ text: String) {
        if let value = AttributeText.value(text, type: attributeType) {
            defaultValue = value
        } else {
            defaultValue = AttributeText.lenientValue(text, type: attributeType)
            mistypedDefault = "“\(text)”"
        }
    }
}
