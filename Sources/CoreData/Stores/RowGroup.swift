internal import Foundation
internal import Predicates

/// The rows of one dictionary in a grouped fetch.
final class RowGroup {
    var rows: [Row]
    fileprivate var known: [String: PropertyValue] = [:]
    init(_ rows: [Row]) { self.rows = rows }

    var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self) }
}

/// Resolves groups of rows for compiled expressions: the grouped values, aggregates, and columns.
///
/// Expressions are rewritten first, so that each of these parts is a key.
// Used by the fetch that created it, under the lock of its store.
final class GroupSchema: PredicateSchema, @unchecked Sendable {
    private typealias Reader = (RowGroup) throws -> PropertyValue
    private let rows: RowSchema
    private let grouped: Set<ExpressionTree>
    private var readers: [String: Reader] = [:]
    private var keys: [ExpressionTree: String] = [:]

    init(rows: RowSchema, groupedBy grouped: [ExpressionTree]) {
        self.rows = rows
        self.grouped = Set(grouped)
    }

    var schemaName: String { rows.schemaName }
    func predicateProperty(named name: String) -> PredicateProperty? {
        readers[name].map { read in
            .computed { subject in
                let group = unsafeDowncast(subject.object, to: RowGroup.self)
                if let known = group.known[name] { return known }
                let value = try read(group)
                group.known[name] = value
                return value
            }
        }
    }
    func identity(of subject: PredicateSubject) -> PropertyValue { .null }
    func constant(for object: AnyObject) -> PropertyValue? { rows.constant(for: object) }
    func publicObject(of subject: PredicateSubject) -> Any { unsafeDowncast(subject.object, to: RowGroup.self).known }

    // MARK: Columns

    /// Makes a column readable under its name.
    func add(_ column: FetchColumn) throws {
        let path = try CompiledKeyPath(try rewritten(column.expression, in: column.name), for: self)
        readers[column.name] = { try path.value(of: $0.subject) }
    }

    /// Rewrites an expression over rows as one over groups.
    ///
    /// - Throws: Code 134060 for a value that differs within a group.
    func rewritten(_ expression: ExpressionTree, in clause: String) throws -> ExpressionTree {
        try expression.replacing { try replacement(of: $0, in: clause) }
    }

    /// Rewrites a predicate of groups: columns are referred to by name, as keys and as variables.
    func rewritten(_ predicate: PredicateTree) throws -> PredicateTree {
        let columns = Dictionary(uniqueKeysWithValues: readers.keys.map { ($0, ExpressionTree.keyPath([$0])) })
        return try predicate.substituting(columns).replacingExpressions { expression in
            if case .keyPath(let keys) = expression, keys.count == 1, columns[keys[0]] != nil { return expression }
            return try replacement(of: expression, in: "havingPredicate")
        }
    }

    /// Returns the key for a sort descriptor of the request.
    func sortKey(_ path: String) throws -> String {
        // The name of a column may contain dots, like that of a path.
        if let read = readers[path] { return path.contains(".") ? keyName(for: .variable(path), read) : path }
        guard case .keyPath(let keys)? = try replacement(of: .path(path), in: "sortDescriptors"), keys.count == 1 else { return path }
        return keys[0]
    }

    private func replacement(of expression: ExpressionTree, in clause: String) throws -> ExpressionTree? {
        if grouped.contains(expression) {
            let path = try CompiledKeyPath(expression, for: rows)
            return key(for: expression) { try $0.rows.first.map { try path.value(of: $0.subject) } ?? .null }
        }
        if let (function, argument) = expression.overRows { return try aggregate(function, of: argument, expression) }
        switch expression {
        case .keyPath, .evaluatedObject:
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: “\(clause)” asks for \(expression), which differs within a group.",
                next: "Group by it in propertiesToGroupBy, or take sum:, count:, min:, max: or average: of it.")
        default: return nil
        }
    }

    /// Computes an aggregate of an argument over all rows, ignoring nil.
    private func aggregate(_ function: String, of argument: ExpressionTree, _ whole: ExpressionTree) throws -> ExpressionTree {
        let read = try CompiledKeyPath(argument, for: rows)
        let values = key(for: .function("values", [argument])) { group in
            .array(try group.rows.map { try read.value(of: $0.subject) }.filter { !$0.isNull })
        }
        return .function(function, [values])
    }

    private func key(for part: ExpressionTree, _ read: @escaping Reader) -> ExpressionTree { .keyPath([keyName(for: part, read)]) }

    private func keyName(for part: ExpressionTree, _ read: @escaping Reader) -> String {
        if let known = keys[part] { return known }
        // No property has such a name: the key cannot be confused with a column.
        let key = "\u{0}\(keys.count)"
        keys[part] = key
        readers[key] = read
        return key
    }
}

extension ExpressionTree {
    private static let functions: Set<String> = ["sum", "count", "min", "max", "average", "median", "mode", "stddev"]
    private static let operators = ["@sum": "sum", "@count": "count", "@min": "min", "@max": "max", "@avg": "average"]

    /// The aggregate function and its argument, where the expression is evaluated over all rows.
    var overRows: (function: String, argument: ExpressionTree)? {
        switch self {
        case .function(let name, let arguments):
            let plain = name.hasSuffix(":") ? String(name.dropLast()) : name
            guard Self.functions.contains(plain), arguments.count == 1, arguments[0].isOneValue else { return nil }
            return (plain, arguments[0])
        case .keyPath(let keys):
            guard let first = keys.first, let function = Self.operators[first] else { return nil }
            return (function, keys.count == 1 ? .evaluatedObject : .keyPath(Array(keys.dropFirst())))
        default: return nil
        }
    }

    /// Whether the expression is a single value and not a collection, as in `sum({1, 2})` and `count(SUBQUERY(…))`.
    private var isOneValue: Bool {
        switch self {
        case .aggregate, .subquery, .setOperation: false
        case .constant(.array), .constant(.set): false
        default: true
        }
    }

    /// Whether any part of the expression is an aggregate.
    var isOverRows: Bool {
        var found = false
        _ = replacing { part in
            if part.overRows != nil { found = true }
            return found ? part : nil
        }
        return found
    }
}
