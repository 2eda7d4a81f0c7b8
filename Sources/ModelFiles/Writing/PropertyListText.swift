internal import Foundation

/// Writes values of property lists as text, for the parts of a model file that can only hold text: models from before Xcode 4 have arrays and
/// dictionaries in the user info of their entities, for the sync services of the time.
enum PropertyListText {
    /// Returns a text unchanged, a number as a numeral, a Boolean as YES or NO, and a collection as JSON; nil for any other value.
    static func text(of value: Any) -> String? {
        switch value {
        case let text as String: text
        case let flag as Bool: flag ? "YES" : "NO"
        case let number as NSNumber: number.stringValue
        case let number as any Numeric: "\(number)"
        default:
            json(value).flatMap { try? JSONSerialization.data(withJSONObject: $0, options: [.sortedKeys, .withoutEscapingSlashes]) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Returns a collection whose elements JSON can represent; nil if it cannot.
    private static func json(_ value: Any) -> Any? {
        switch value {
        case let text as String: return text
        case let number as NSNumber: return number
        case let elements as [Any]:
            let elements = elements.map(json)
            return elements.contains { $0 == nil } ? nil : elements.compactMap { $0 }
        case let pairs as [AnyHashable: Any]:
            var object: [String: Any] = [:]
            for (key, value) in pairs {
                guard let key = key.base as? String, let value = json(value) else { return nil }
                object[key] = value
            }
            return object
        default: return nil
        }
    }
}
