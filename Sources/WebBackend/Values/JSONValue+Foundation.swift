internal import Foundation
internal import JSONReading
internal import PropertyLists

extension JSONValue {
    /// The value as Foundation's objects, for transformable attributes.
    var foundation: Any? {
        switch self {
        case .null: NSNull()
        case .bool(let flag): flag as NSNumber
        case .integer(let number): number as NSNumber
        case .number(let number): number as NSNumber
        case .decimal(let text): NSDecimalNumber(string: text)
        case .string(let text): text as NSString
        case .array(let elements): elements.compactMap(\.foundation) as NSArray
        case .object(let object):
            Dictionary(object.members.map { ($0.key, $0.value.foundation ?? NSNull()) }, uniquingKeysWith: { $1 }) as NSDictionary
        }
    }

    /// Creates JSON from Foundation's objects; nil for values that JSON cannot express.
    init?(any: Any) {
        switch any {
        case is NSNull: self = .null
        case let text as String: self = .string(text)
        case let flag as Bool: self = .bool(flag)
        case let number as NSDecimalNumber: self = .decimal(number.stringValue)
        case let number as NSNumber:
            if number.objCType.pointee == 0x63 || number.objCType.pointee == 0x42 {
                self = .bool(number.boolValue)
            } else if JSONValue.isFloat(number) {
                guard number.doubleValue.isFinite else { return nil }
                self = .number(number.doubleValue)
            } else {
                self = .integer(number.int64Value)
            }
        case let date as Date: self = .string(DateText.text(date))
        case let url as URL: self = .string(url.absoluteString)
        case let uuid as UUID: self = .string(uuid.uuidString.lowercased())
        case let data as Data: self = .string(data.base64EncodedString())
        case let elements as [Any]:
            let values = elements.compactMap { JSONValue(any: $0) }
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case let elements as Set<AnyHashable>:
            let values = elements.compactMap { JSONValue(any: $0.base) }
            guard values.count == elements.count else { return nil }
            self = .array(values.sorted { $0.description < $1.description })
        case let dictionary as [String: Any]:
            var object = JSONObject()
            for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
                guard let value = JSONValue(any: value) else { return nil }
                object[key] = value
            }
            self = .object(object)
        default: return nil
        }
    }

    private static func isFloat(_ number: NSNumber) -> Bool {
        let type = number.objCType.pointee
        return type == 0x64 || type == 0x66
    }
}
