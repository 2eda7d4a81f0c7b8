#if PostgreSQL
internal import Foundation
internal import PropertyLists

extension BinaryValue {
    /// The value for people.
    var shown: String {
        switch self {
        case .null: "NULL"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .numeric(let number): "\(number)"
        case .text(let text), .verbatim(let text): "\"\(text)\""
        case .date(let microseconds): DateText.text(Double(microseconds) / 1e6 - Double(DatabaseEpoch.secondsBefore2001))
        case .bytes(let data): "<\(data.count) bytes>"
        case .uuid(let uuid): uuid.uuidString
        case .array(let elements, _):
            "[" + elements.prefix(10).map(\.shown).joined(separator: ", ") + (elements.count > 10 ? ", … \(elements.count) in all]" : "]")
        }
    }
}
#endif
