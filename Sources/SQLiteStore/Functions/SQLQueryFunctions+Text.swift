internal import CSQLite
internal import Foundation
internal import Predicates
internal import SQLQueries

/// A pattern that is retained for further rows of a statement.
private final class HeldPattern {
    let pattern: TextPattern
    init(_ pattern: TextPattern) { self.pattern = pattern }
}

extension SQLQueryFunctions {
    func addTextFunctions(to connection: OpaquePointer) throws {
        // text, pattern, options
        try add("CoreDataBeginsWith", 3, to: connection) { context, _, values in SQLQueryFunctions.match(context, values, .beginsWith) }
        try add("CoreDataEndsWith", 3, to: connection) { context, _, values in SQLQueryFunctions.match(context, values, .endsWith) }
        try add("CoreDataContains", 3, to: connection) { context, _, values in SQLQueryFunctions.match(context, values, .contains) }
        try add("CoreDataLike", 3, to: connection) { context, _, values in SQLQueryFunctions.match(context, values, .like) }
        try add("CoreDataMatches", 3, to: connection) { context, _, values in SQLQueryFunctions.match(context, values, .matches) }
        // text, options
        try add("CoreDataFold", 2, to: connection) { context, _, values in
            guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL else { return sqlite3_result_null(context) }
            let options = PredicateComparison.Options(rawValue: Int(sqlite3_value_int(values[1])))
            SQLFunctionValue.write(TextPattern.folded(SQLFunctionValue.text(values[0]), options), context)
        }
    }

    private static func match(_ context: OpaquePointer?, _ values: Arguments?, _ operation: TextOperator) {
        guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL, sqlite3_value_type(values[1]) != SQLITE_NULL else {
            return sqlite3_result_null(context)
        }
        call(context) {
            let held: HeldPattern
            // SQLite owns a reference as long as the pattern stays the same; only this function sets it.
            if let known = sqlite3_get_auxdata(context, 1) {
                held = Unmanaged<HeldPattern>.fromOpaque(known).takeUnretainedValue()
            } else {
                let options = PredicateComparison.Options(rawValue: Int(sqlite3_value_int(values[2])))
                let text = SQLFunctionValue.text(values[1])
                held = HeldPattern(try TextPattern(operation, text, options, clause: "\(operation.keyword) \(text)"))
                sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(held).toOpaque()) { pointer in
                    if let pointer { Unmanaged<HeldPattern>.fromOpaque(pointer).release() }
                }
            }
            let bytes = sqlite3_value_text(values[0])
            let text = UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(values[0])))
            sqlite3_result_int(context, try held.pattern.matches(text) ? 1 : 0)
        }
    }
}

/// The collations of queries.
enum SQLTextCollation {
    static func register(on connection: OpaquePointer) throws {
        typealias Compare =
            @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32
        func add(_ name: String, _ compare: Compare) throws {
            try SQLQueryFunctions.check(
                sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, nil, compare, nil), connection, name)
        }
        // Equal strings have equal characters, in any spelling.
        try add("CoreDataText") { _, a, first, b, second in SQLTextCollation.compare(first, a, second, b, .binary) }
        try add("CoreDataNoCase") { _, a, first, b, second in SQLTextCollation.compare(first, a, second, b, .caseInsensitive) }
        try add("CoreDataLocalized") { _, a, first, b, second in SQLTextCollation.compare(first, a, second, b, .localized) }
        try add("CoreDataLocalizedNoCase") { _, a, first, b, second in
            SQLTextCollation.compare(first, a, second, b, .localizedCaseInsensitive)
        }
        try add("CoreDataFinder") { _, a, first, b, second in SQLTextCollation.compare(first, a, second, b, .localizedStandard) }
    }

    private static func compare(
        _ first: UnsafeRawPointer?, _ firstCount: Int32, _ second: UnsafeRawPointer?, _ secondCount: Int32, _ order: TextOrder
    ) -> Int32 {
        func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
            String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
        }
        if order == .binary, firstCount == secondCount, firstCount == 0 || memcmp(first!, second!, Int(firstCount)) == 0 { return 0 }
        switch order.compareTexts(text(first, firstCount), text(second, secondCount)) {
        case .orderedAscending: return -1
        case .orderedSame: return 0
        case .orderedDescending: return 1
        }
    }
}
