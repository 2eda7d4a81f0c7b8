internal import CoreData
internal import Foundation
internal import Predicates
internal import RemoteStore

/// Values as the text that hashes have, readable for other programs.
enum RedisText {
    /// The fields of a hash that are no properties.
    static let entityField = "#entity", versionField = "#version"

    /// Returns a value as bytes; nil for no value, which has no field.
    ///
    /// - Throws: ``RedisError/unkept(attribute:value:)`` for a value that has no form here.
    static func bytes(_ value: PropertyValue, _ attribute: String) throws -> Data? {
        switch value {
        case .null: nil
        case .string(let text): Data(text.utf8)
        case .bool(let flag): Data((flag ? "1" : "0").utf8)
        case .int64(let number): Data("\(number)".utf8)
        case .double(let number): Data("\(number)".utf8)
        case .decimal(let number): Data("\(number)".utf8)
        case .date(let date): Data("\(date.timeIntervalSinceReferenceDate)".utf8)
        case .data(let data): data
        case .uuid(let id): Data(id.uuidString.utf8)
        case .url(let url): Data(url.absoluteString.utf8)
        case .array, .set, .object: try archived(value, attribute)
        }
    }

    /// Returns the value of an attribute.
    static func value(_ bytes: Data?, _ attribute: RedisSchema.Attribute) throws -> PropertyValue {
        guard let bytes else { return .null }
        let text = String(decoding: bytes, as: UTF8.self)
        let value: PropertyValue? =
            switch attribute.type {
            case .string: .string(text)
            case .integer16, .integer32, .integer64: Int64(text).map { .int64($0) }
            case .boolean: .bool(text == "1")
            case .double, .float: Double(text).map { .double($0) }
            case .decimal: Decimal(string: text).map { .decimal($0) }
            case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .uri: URL(string: text).map { .url($0) }
            case .transformable: try PropertyValue(any: PropertyListSerialization.propertyList(from: bytes, format: nil))
            default: .data(bytes)
            }
        guard let value else { throw RedisError.unkept(attribute: attribute.name, value: text) }
        return value
    }

    /// The place of a value in a sorted set: nil comes first.
    ///
    /// - Throws: ``RedisError/unsortable(attribute:value:)`` for a value that is no number which a double has exactly.
    static func score(_ value: PropertyValue, _ attribute: String) throws -> String {
        switch value {
        case .null: return "-inf"
        case .int64(let number) where number.magnitude <= 1 << 53: return "\(number)"
        case .double(let number) where number.isFinite: return "\(number)"
        case .date(let date): return "\(date.timeIntervalSinceReferenceDate)"
        default: throw RedisError.unsortable(attribute: attribute, value: "\(value)")
        }
    }

    private static func archived(_ value: PropertyValue, _ attribute: String) throws -> Data {
        guard let plain = value.any, PropertyListSerialization.propertyList(plain, isValidFor: .binary) else {
            throw RedisError.unkept(attribute: attribute, value: "\(value)")
        }
        return try PropertyListSerialization.data(fromPropertyList: plain, format: .binary, options: 0)
    }

    // MARK: References

    /// Returns a reference as text: the identifier, and the entity where it is not the destination of the relationship.
    static func text(_ reference: ResourceReference) -> String {
        reference.entity.map { "\(reference.id) \($0)" } ?? "\(reference.id)"
    }

    /// Returns the reference of a text.
    static func reference(_ text: String) -> ResourceReference? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let number = parts.first.flatMap({ Int64($0) }) else { return nil }
        return ResourceReference(.integer(number), entity: parts.count > 1 ? String(parts[1]) : nil)
    }
}
