internal import Foundation
internal import Predicates

/// The rows of one dictionary in a grouped fetch.
final class RowGroup {
    var rows: [Row]
    fileprivate var known: [String: PropertyValue] = [:]
    init(_ rows: [Row]) { self.rows = rows }

    /// No property of a group lies in a slot: the address is never read. The evaluating code keeps the group alive.
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
                let group = unchecked(subject.object, as: RowGroup.self)
                if let known = group.known[name] { return known }
                let value = try read(group)
                group.known[name] = value
                return value
            }
        }
    }
    func identity(of subject: PredicateSubject) -> PropertyValue { .null }
    func constant(for object: AnyObject) -> PropertyValue? { rows.constant(for: object) }
    func publicObject(of subject: PredicateSubject) -> Any { unchecked(subject.object, as: RowGroup.self).known }

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
        // Bounded: the keys of a dictionary.
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
            var values: [PropertyValue] = []
            values.reserveCapacity(group.rows.count)
            for row in group.rows {
                let value = try read.value(of: row.subject)
                if !value.isNull { values.append(value) }
            }
            return .array(values)
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
