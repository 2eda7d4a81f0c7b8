internal import Foundation
internal import MappedTables
internal import ObjectGraph
internal import PropertyLists
internal import SQLQueries

/// The form in which a column of an existing table is read, compared and written.
///
/// SQLite's columns hold values of any kind. Each is selected in the form that the store's own tables have (`SQLStorage+Columns.swift`), so that
/// conditions mean the same; a value of another kind is an error that names its column.
struct SQLiteColumnForm: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case integer, boolean, double, decimal
        case text
        /// Text, of whatever kind the value is.
        case spelled
        case uuid(SQLiteUUIDStyle)
        case bytes
        case date(SQLiteDateForm)
        case json
    }

    let kind: Kind
    /// The table and the column, for messages.
    let place: String
    /// Whether conditions are about the column itself, so that they can use its index. Values that would be compared wrongly are searched for first,
    /// see ``exception(_:)``.
    let isPlain: Bool
    /// The conversion that SQLite applies to written values.
    private let affinity: SQLiteColumnType.Affinity
    private let isBinary: Bool

    /// Whether the column holds floating-point numbers.
    var isReal: Bool { affinity == .real }
    /// Whether the column holds every value but bytes as text.
    var isText: Bool { affinity == .text }

    // MARK: The form of a type

    /// Creates the form that a type and its values suggest; nil if they suggest none.
    init?(_ type: SQLiteColumnType) {
        let values = type.values
        let natural: Kind? =
            if type.isRowNumber {
                .integer
            } else if type.isDeclaredJSON {
                .json
            } else if type.isDeclaredBoolean, values.texts + values.blobs == 0 {
                values.areFlags ? .boolean : .integer
            } else if type.isDeclaredDate, values.areDates, values.blobs == 0 {
                .date(SQLiteDateForm(type))
            } else if type.isDeclaredUUID, values.areUUIDs, values.numbers == 0 {
                .uuid(SQLiteUUIDStyle(type))
            } else if type.isDeclaredDecimal, values.texts + values.blobs == 0 {
                .decimal
            } else {
                Self.plain(type)
            }
        guard let natural else { return nil }
        self.init(natural, type)
    }

    private static func plain(_ type: SQLiteColumnType) -> Kind? {
        let values = type.values
        switch type.affinity {
        case .integer: return values.texts + values.blobs > 0 ? .spelled : values.reals > 0 ? .double : .integer
        case .real: return values.texts + values.blobs > 0 ? .spelled : .double
        case .text: return .text
        case .numeric, .none:
            if values.count == 0 { return type.declared.isEmpty ? nil : type.affinity == .none ? .bytes : .spelled }
            if values.blobs == values.count { return .bytes }
            if values.texts == values.count { return .spelled }
            if values.integers == values.count { return .integer }
            return values.numbers == values.count ? .double : nil
        }
    }

    private init(_ kind: Kind, _ type: SQLiteColumnType) {
        self.kind = kind
        (place, affinity, isBinary) = (type.place, type.affinity, type.isBinary)
        let isNative =
            switch kind {
            case .integer: type.affinity == .integer || type.affinity == .numeric
            case .boolean: type.affinity == .integer || type.affinity == .numeric
            // Whole numbers in other columns are integers, whose arithmetic differs.
            case .double: type.affinity == .real
            case .decimal: type.affinity == .numeric || type.affinity == .integer || type.affinity == .real
            case .text: type.affinity == .text
            case .bytes: type.affinity == .none
            // JSON values are not compared.
            case .json: true
            case .spelled, .uuid, .date: false
            }
        let isCertain = type.isRowNumber || (type.isStrict && kind != .boolean && type.word != "ANY")
        // An index in an order of its program is of no use.
        isPlain = isNative && (isCertain || (type.isIndexed && !type.hasUnknownCollation) || kind == .json)
    }

    /// Creates the form of a type for an attribute of a storage; nil if the attribute cannot hold the type.
    init?(_ type: SQLiteColumnType, for storage: SQLStorage) {
        let affinity = type.affinity
        let kind: Kind? =
            switch storage {
            case .integer: affinity == .integer || affinity == .numeric || affinity == .none ? .integer : nil
            case .boolean: affinity == .integer || affinity == .numeric || affinity == .none ? .boolean : nil
            case .double: affinity == .text ? nil : .double
            case .decimal: .decimal
            // Every value but bytes has a form as text.
            case .text, .uri: affinity == .text ? .text : .spelled
            case .data, .externalData: affinity == .none || affinity == .numeric ? .bytes : nil
            case .date: type.isRowNumber ? nil : .date(SQLiteDateForm(type))
            case .uuid: affinity == .integer || affinity == .real ? nil : .uuid(SQLiteUUIDStyle(type))
            case .transformable:
                affinity == .none && !type.isDeclaredJSON ? .bytes : affinity == .integer || affinity == .real ? nil : .json
            case .composite: affinity == .none ? .bytes : nil
            }
        guard let kind else { return nil }
        self.init(kind, type)
    }

    // MARK: Statements

    /// Returns the SQL that selects a column.
    ///
    /// - Parameter key: The names of the columns of the row's key, for errors.
    func selected(_ column: String, key: [String]) -> String {
        // By code points, as in memory, whatever the order of the column is. A plain column is better: more clauses can then use an index.
        if isPlain { return kind == .text && !isBinary ? "\(column) COLLATE BINARY" : column }
        return "CoreDataColumn(\(column), \(code), \(([sqlLiteral(place)] + key.prefix(10)).joined(separator: ", ")))"
    }

    /// Returns the condition that a value of a plain column is of another kind than its form. An index serves it. It is nil if there can be no such
    /// value.
    func exception(_ column: String) -> String? {
        guard isPlain else { return nil }
        // NULL, numbers, texts and bytes have this order.
        return switch kind {
        case .integer, .double, .decimal: "\(column) >= ''"
        case .boolean: "\(column) < 0 OR (\(column) > 0 AND \(column) < 1) OR \(column) > 1"
        case .text: "\(column) >= x''"
        case .bytes: "\(column) < x''"
        case .spelled, .uuid, .date, .json: nil
        }
    }

    /// The number by which SQL functions receive the form.
    var code: Int32 {
        switch kind {
        case .integer: 1
        case .boolean: 2
        case .double: 3
        case .decimal: 4
        case .text: 5
        case .spelled: 6
        case .uuid: 7
        case .bytes: 8
        case .json: 9
        case .date(.text): 10
        case .date(.number(let unit)): 11 + unit.code
        }
    }

    /// Returns the values that the column must hold, in messages.
    static func name(ofCode code: Int32) -> String {
        switch code {
        case 1: "an integer"
        case 2: "0 or 1"
        case 3, 4: "a number"
        case 5, 6: "text"
        case 7: "a UUID"
        case 8: "bytes"
        case 9: "JSON"
        case 10: "a date in the form of ISO 8601, such as \(DateNotation.database.examples),"
        default: "a date"
        }
    }
}

/// UUIDs as a column has them.
enum SQLiteUUIDStyle: Hashable, Sendable {
    case text(hasHyphens: Bool, isUpper: Bool)
    case bytes

    /// Creates the style of a column's values, or the one that its type suggests if there are none.
    init(_ type: SQLiteColumnType) {
        if let text = type.values.firstText {
            self = .text(hasHyphens: text.utf8.count == 36, isUpper: text.contains { $0.isUppercase })
        } else if type.affinity == .none || type.values.blobs > 0 {
            self = .bytes
        } else {
            self = .text(hasHyphens: type.length != 32, isUpper: false)
        }
    }

    func value(_ uuid: UUID) -> SQLiteRawValue {
        switch self {
        case .bytes: return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .text(let hasHyphens, let isUpper):
            let text = hasHyphens ? uuid.uuidString : uuid.uuidString.replacing("-", with: "")
            return .text(isUpper ? text : text.lowercased())
        }
    }
}

/// Dates as a column has them.
enum SQLiteDateForm: Hashable, Sendable {
    /// A number, since 1970.
    enum Unit: Hashable, Sendable {
        case seconds, milliseconds, microseconds

        var code: Int32 {
            switch self {
            case .seconds: 0
            case .milliseconds: 1
            case .microseconds: 2
            }
        }
        var count: DateCount {
            switch self {
            case .seconds: .seconds1970
            case .milliseconds: .milliseconds1970
            case .microseconds: .microseconds1970
            }
        }
        static let all = [Unit.seconds, .milliseconds, .microseconds]
    }
    case text(DateStyle)
    case number(Unit)

    /// Creates the form of a column's values, or the one that its type suggests if there are none.
    init(_ type: SQLiteColumnType) {
        let values = type.values
        if values.numbers > values.texts || values.count == 0 && (type.affinity == .integer || type.affinity == .real) {
            // Seconds reach the year 5138, and milliseconds of 1973 are more.
            self = .number(values.largest >= 1e14 ? .microseconds : values.largest >= 1e11 ? .milliseconds : .seconds)
        } else {
            self = .text(values.date ?? (type.word == "DATE" ? .day : DateStyle()))
        }
    }

    /// Returns the value of seconds since 2001; nil if the form cannot hold it.
    func value(_ seconds: Double, isReal: Bool) -> SQLiteRawValue? {
        switch self {
        case .text(let style): return DateText.text(seconds, style).map(SQLiteRawValue.text)
        case .number(let unit):
            let number = unit.count.number(seconds)
            if isReal { return .real(number) }
            let whole = number.rounded()
            // Seconds have a fraction if the date has one.
            if unit == .seconds, whole != number { return .real(number) }
            return whole.magnitude < 9e18 ? .integer(Int64(whole)) : nil
        }
    }
}
