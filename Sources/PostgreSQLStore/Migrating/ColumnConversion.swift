#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The values of columns that change their type, or are new.
enum ColumnConversion {
    /// Returns the SQL that converts a value of a column to another type; nil if the value stays as it is.
    static func conversion(from old: SQLStorage, to new: SQLStorage) -> ((SQLIdentifier) -> String)? {
        switch (old, new) {
        case (.boolean, .integer): { "\($0)::integer::bigint" }
        case (.boolean, .double): { "\($0)::integer::double precision" }
        case (.boolean, .decimal): { "\($0)::integer::numeric" }
        case (.integer, .boolean), (.double, .boolean), (.decimal, .boolean): { "(\($0) <> 0)" }
        case (.integer, .double), (.decimal, .double): { "\($0)::double precision" }
        case (.integer, .decimal), (.double, .decimal): { "\($0)::numeric" }
        case (.double, .integer), (.decimal, .integer): { "trunc(\($0))::bigint" }
        default: nil
        }
    }

    /// Returns the default value of an attribute in SQL; nil if it has none.
    ///
    /// - Throws: The error of a transformable value that cannot be archived.
    static func defaultValue(of attribute: NSAttributeDescription, _ storage: SQLStorage) throws -> String? {
        guard let given = attribute.defaultValue, let value = AttributeCheck.conform(given, to: attribute) else { return nil }
        switch (storage, value) {
        case (_, .null): return nil
        case (.boolean, .integer(let number)): return number == 0 ? "false" : "true"
        case (_, .integer(let number)): return "\(number)"
        case (.date, .double(let seconds)):
            guard let microseconds = ColumnValues.microseconds(seconds) else { return nil }
            return "TIMESTAMPTZ '2000-01-01 00:00:00+00' + \(microseconds) * INTERVAL '1 microsecond'"
        case (_, .double(let number)): return number.isNaN ? nil : "'\(number)'::double precision"
        case (_, .string(let text)): return textLiteral(text)
        case (_, .data(let data)): return bytes(data)
        case (_, .uuid(let uuid)): return "'\(uuid.uuidString)'::uuid"
        case (.uri, .box(let box)): return (box.value as? URL).map { textLiteral($0.absoluteString) }
        case (.decimal, .box(let box)): return (box.value as? Decimal).map { "\($0.description)::numeric" }
        case (_, .box(let box)): return bytes(try AttributeArchive.data(of: box.value, attribute))
        }
    }

    private static func textLiteral(_ text: String) -> String {
        var bytes: [UInt8] = []
        PostgreSQLText.append(text, to: &bytes)
        return sqlLiteral(String(decoding: bytes, as: UTF8.self))
    }

    private static func bytes(_ data: Data) -> String {
        "'\\x" + data.map { String(format: "%02x", $0) }.joined() + "'::bytea"
    }
}
#endif
