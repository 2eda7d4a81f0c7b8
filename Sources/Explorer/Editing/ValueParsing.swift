internal import Foundation
internal import ObjectGraph
internal import PropertyLists

/// Parses the values that people enter.
enum ValueParsing {
    /// Returns the attribute's value for a text; nil for no value.
    ///
    /// - Throws: An error with the expected form of the text.
    static func value(_ text: String?, _ attribute: NSAttributeDescription) throws -> Any? {
        guard let text else { return nil }
        func wrong(_ what: String) -> ExplorerError { ExplorerError(what, field: attribute.name) }
        let bare = text.trimmingCharacters(in: .whitespaces)
        switch attribute.attributeType {
        case .stringAttributeType: return text
        case .integer16AttributeType: return NSNumber(value: try integer(bare, Int16.self, wrong))
        case .integer32AttributeType: return NSNumber(value: try integer(bare, Int32.self, wrong))
        case .integer64AttributeType: return NSNumber(value: try integer(bare, Int64.self, wrong))
        case .decimalAttributeType:
            // `NSDecimalNumber` would accept the beginning of a text as the number.
            guard Double(bare) != nil, bare.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }) else {
                throw wrong("“\(shown(bare))” is not a number; write 12.50.")
            }
            let number = NSDecimalNumber(string: bare)
            guard number != .notANumber else { throw wrong("“\(shown(bare))” is beyond the largest number.") }
            return number
        case .doubleAttributeType, .floatAttributeType:
            guard let number = Double(bare) else { throw wrong("“\(shown(bare))” is not a number; write 12.5.") }
            // A number that is too large becomes infinity, which is valid only if it is entered by name.
            let isFinite = attribute.attributeType == .floatAttributeType ? Float(number).isFinite : number.isFinite
            guard isFinite || !bare.contains(where: \.isNumber) else { throw wrong("“\(shown(bare))” is beyond the largest number.") }
            return NSNumber(value: number)
        case .booleanAttributeType:
            guard let flag = ["true": true, "false": false][bare.lowercased()] else { throw wrong("Write true or false.") }
            return NSNumber(value: flag)
        case .dateAttributeType:
            do throws(DateMistake) {
                return try DateText.date(bare, .typed)
            } catch {
                throw wrong("\(error.description(of: bare)) Write \(DateNotation.typed.examples).")
            }
        case .UUIDAttributeType:
            guard let uuid = UUID(uuidString: bare) else {
                throw wrong("“\(shown(bare))” is not a UUID: 32 digits from 0 to F in groups of 8, 4, 4, 4 and 12.")
            }
            return uuid
        case .URIAttributeType:
            guard let url = URL(string: bare) else { throw wrong("“\(shown(bare))” is not a URI.") }
            return url
        case .binaryDataAttributeType:
            guard let data = Data(base64Encoded: bare) else { throw wrong("The bytes are not in Base64.") }
            return data
        default: throw wrong("Values of “\(attribute.name)” cannot be edited here: only a program has their type.")
        }
    }

    private static func shown(_ text: String) -> String { text.count > 40 ? text.prefix(40) + "…" : text }

    private static func integer<Number: FixedWidthInteger>(
        _ text: String, _ type: Number.Type, _ wrong: (String) -> ExplorerError
    ) throws -> Number {
        if let number = Number(text) { return number }
        throw wrong("“\(shown(text))” is not a whole number from \(Number.min) to \(Number.max).")
    }
}
