#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Reads the dictionaries of a fetch from results.
struct DictionaryReader {
    let columns: [SQLResultColumn]
    let schema: SQLSchema
    let token: StoreToken
    /// Whether columns hold unchanged texts, and not the form of ``PostgreSQLText``.
    let isVerbatim: Bool

    /// Returns the dictionary of a row.
    ///
    /// - Throws: Code 134060 if a value cannot be converted to the type of its column; code 134091 for a date beyond PostgreSQL's range.
    func dictionary(_ result: QueryResult, _ row: Int) throws -> NSDictionary {
        let dictionary = NSMutableDictionary(capacity: columns.count)
        for column in columns {
            let place = column.index
            if result.isNull(row, place) { continue }
            let value: Any?
            switch column.reading {
            case .value(let kind):
                if case .date = kind { try checkMoved(result, row, column) }
                value = try column.column.publicValue(self.value(result, row, place, kind))
            case .object(let table, let hasNumber):
                let number = hasNumber && !result.isNull(row, place + 1) ? result.integer(row, place + 1) : table.number
                let owner = schema.entity(numbered: number)?.entity ?? table.entity
                value = NSManagedObjectID(entity: owner, token: token, reference: table.keyKind.reference(result, row, place))
            case .stored(.transformable, let attribute) where result.type(of: place) == PostgreSQLType.text:
                value = try JSONColumn.value(result.bytes(row, place), attribute)
            case .stored(.text, _) where isVerbatim: value = result.verbatim(row, place)
            case .stored(let storage, let attribute):
                value = try ColumnValues.value(result.bytes(row, place), storage, attribute).plainValue
            }
            if let value { dictionary.setObject(value, forKey: column.column.name as NSString) }
        }
        return dictionary
    }

    /// Throws if a calculation has moved a date beyond PostgreSQL's range: it would be read as another date.
    private func checkMoved(_ result: QueryResult, _ row: Int, _ column: SQLResultColumn) throws {
        guard [.max, .min].contains(result.integer(row, column.index)), column.column.expression.movesDates else { return }
        throw CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The fetch cannot be executed.",
            reason: "“\(column.column.name)” is a date that PostgreSQL does not have, too far from the one that it is calculated from.",
            next: "Fetch what it is calculated from, and calculate it in the program.")
    }

    /// Returns a value of a kind.
    private func value(_ result: QueryResult, _ row: Int, _ column: Int, _ kind: SQLKind) -> PropertyValue {
        switch kind {
        case .text: return .string(text(result, row, column))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: ColumnValues.seconds(result.integer(row, column))))
        case .data: return .data(result.data(row, column))
        case .url:
            let text = text(result, row, column)
            return URL(string: text).map(PropertyValue.url) ?? .string(text)
        case .uuid: return .uuid(result.bytes(row, column).loadUnaligned(as: UUID.self))
        case .number(let form): return number(result, row, column, form)
        case .null, .object, .anyObject, .entity, .opaque: return number(result, row, column, .any)
        }
    }

    private func text(_ result: QueryResult, _ row: Int, _ column: Int) -> String {
        isVerbatim ? result.verbatim(row, column) : result.text(row, column)
    }

    private func number(_ result: QueryResult, _ row: Int, _ column: Int, _ form: SQLNumberForm) -> PropertyValue {
        let bytes = result.bytes(row, column)
        switch result.type(of: column) {
        case PostgreSQLType.integer, PostgreSQLType.mediumInteger, PostgreSQLType.smallInteger:
            let number = result.integer(row, column)
            return form == .boolean ? .bool(number != 0) : .int64(number)
        case PostgreSQLType.boolean: return .bool(bytes[0] != 0)
        case PostgreSQLType.double: return .double(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
        case PostgreSQLType.numeric:
            if form.isBinary {
                let numeral = BinaryNumeric.numeral(bytes) ?? "nan"
                return Int64(numeral).map(PropertyValue.int64) ?? .double(Double(numeral) ?? .nan)
            }
            return BinaryNumeric.decimal(bytes).map(PropertyValue.decimal) ?? .double(BinaryNumeric.double(bytes) ?? .nan)
        default: return .string(text(result, row, column))
        }
    }
}

extension ExpressionTree {
    /// Whether dates may come from a calculation rather than from a stored value.
    fileprivate var movesDates: Bool {
        switch self {
        case .arithmetic, .cast: true
        case .function(_, let arguments): arguments.contains(where: \.movesDates)
        case .conditional(_, let value, let otherwise): value.movesDates || otherwise.movesDates
        default: false
        }
    }
}

extension StorableValue {
    /// The value as a Foundation type.
    fileprivate var plainValue: Any? {
        switch self {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .string(let text): text
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .box(let box): box.value
        }
    }
}
#endif
