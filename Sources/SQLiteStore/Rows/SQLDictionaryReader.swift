internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Reads the dictionaries of a fetch from a statement's columns.
struct SQLDictionaryReader {
    let columns: [SQLResultColumn]
    /// Returns the ID of a row of an entity, by the column with its key; nil for an entity that the store does not hold.
    let id: (OpaquePointer, Int32, NSEntityDescription) throws -> NSManagedObjectID?
    /// Returns the entity with a number.
    let entity: (Int64) -> NSEntityDescription?
    /// Returns the value of a column that only the store can read.
    let stored: (OpaquePointer, Int32, SQLStorage, NSAttributeDescription) throws -> Any?

    /// Returns the dictionary of a statement's current row.
    ///
    /// - Throws: Code 134060 if a value cannot be converted to the type of its column.
    func dictionary(_ statement: OpaquePointer) throws -> NSDictionary {
        let dictionary = NSMutableDictionary(capacity: columns.count)
        for column in columns {
            let place = Int32(column.index)
            if sqlite3_column_type(statement, place) == SQLITE_NULL { continue }
            let value: Any?
            switch column.reading {
            case .value(let kind): value = try column.column.publicValue(self.value(statement, place, kind))
            case .object(let table, let hasNumber):
                let owner = hasNumber ? entity(sqlite3_column_int64(statement, place + 1)) ?? table.entity : table.entity
                value = try id(statement, place, owner)
            case .stored(let storage, let attribute): value = try stored(statement, place, storage, attribute)
            }
            if let value { dictionary.setObject(value, forKey: column.column.name as NSString) }
        }
        return dictionary
    }

    private func value(_ statement: OpaquePointer, _ column: Int32, _ kind: SQLKind) -> PropertyValue {
        switch kind {
        case .text: return .string(SQLStatement.text(statement, column))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, column)))
        case .data: return .data(SQLStatement.data(statement, column))
        case .url:
            return URL(string: SQLStatement.text(statement, column)).map(PropertyValue.url) ?? .string(SQLStatement.text(statement, column))
        case .uuid:
            let bytes = SQLStatement.data(statement, column)
            return bytes.count == 16 ? .uuid(bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }) : .data(bytes)
        case .number(.boolean): return .bool(sqlite3_column_int64(statement, column) != 0)
        case .number(.decimal): return decimal(statement, column)
        case .number, .null, .object, .anyObject, .entity, .opaque:
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: return .int64(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: return .double(sqlite3_column_double(statement, column))
            default: return decimal(statement, column)
            }
        }
    }

    /// Returns a decimal number: a floating-point one represents its shortest numeral.
    private func decimal(_ statement: OpaquePointer, _ column: Int32) -> PropertyValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .decimal(Decimal(sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT:
            let number = sqlite3_column_double(statement, column)
            // An infinite value has no object that could report that it cannot be read; “-inf” would be read as zero.
            if !number.isFinite { return .double(number) }
            return Decimal(string: number.description).map(PropertyValue.decimal) ?? .double(number)
        default:
            return Decimal(string: SQLStatement.text(statement, column)).map(PropertyValue.decimal)
                ?? .string(SQLStatement.text(statement, column))
        }
    }
}
