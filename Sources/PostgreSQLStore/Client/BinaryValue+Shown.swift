#if PostgreSQL
internal import Foundation
internal import PropertyLists

extension BinaryValue {
    /// The seconds from PostgreSQL's first date, 2000, to that of `Date`, 2001.
    private static let epochSeconds = 31_622_400.0

    /// The value for people.
    var shown: String {
        switch self {
        case .null: "NULL"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .numeric(let number): "\(number)"
        case .text(let text), .verbatim(let text): "\"\(text)\""
        case .date(let microseconds): DateText.text(Double(microseconds) / 1e6 - Self.epochSeconds)
        case .bytes(let data): "<\(data.count) bytes>"
        case .uuid(let uuid): uuid.uuidString
        case .array(let elements, _):
            "[" + elements.prefix(10).map(\.shown).joined(separator: ", ") + (elements.count > 10 ? ", … \(elements.count) in all]" : "]")
        }
    }
}
#endif
