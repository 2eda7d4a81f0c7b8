import Foundation

/// Implements `CAST(value, 'class')`.
struct ValueConversion {
    private enum Target {
        case date, number, string, decimal
    }

    private let target: Target
    private let clause: String

    init(_ name: String, clause: String) throws {
        switch name {
        case "NSDate", "Date": target = .date
        case "NSNumber", "double", "Double", "float": target = .number
        case "NSString", "String": target = .string
        case "NSDecimalNumber", "Decimal": target = .decimal
        default:
            throw InvalidPredicateError(kind: .unsupported, message: "Nothing can be cast to \"\(name)\", in the clause \(clause)")
        }
        self.clause = clause
    }

    /// Converts a value; nil stays nil, and a string that is not a number becomes nil.
    func convert(_ value: PropertyValue) throws -> PropertyValue {
        switch (target, value) {
        case (_, .null): return .null
        case (.date, .date), (.string, .string), (.decimal, .decimal): return value
        case (.date, _) where value.isNumber: return .date(Date(timeIntervalSinceReferenceDate: value.double ?? 0))
        case (.number, .date(let date)): return .double(date.timeIntervalSinceReferenceDate)
        case (.number, .string(let text)): return Int64(text).map(PropertyValue.int64) ?? Double(text).map(PropertyValue.double) ?? .null
        case (.number, _) where value.isNumber: return value
        case (.decimal, .string(let text)): return Decimal(string: text).map(PropertyValue.decimal) ?? .null
        case (.decimal, .bool(let flag)): return .decimal(flag ? 1 : 0)
        case (.decimal, .int64(let number)): return .decimal(Decimal(number))
        case (.decimal, .double(let number)): return Decimal(string: number.description).map(PropertyValue.decimal) ?? .null
        case (.string, .bool(let flag)): return .string(flag ? "1" : "0")
        case (.string, .int64(let number)): return .string(number.description)
        case (.string, .double(let number)): return .string(number.description)
        case (.string, .decimal(let number)): return .string(number.description)
        case (.string, .uuid(let identifier)): return .string(identifier.uuidString)
        case (.string, .url(let url)): return .string(url.absoluteString)
        default:
            throw InvalidPredicateError(kind: .unsupported, message: "\(value.typeName) cannot be cast, in the clause \(clause)")
        }
    }
}
