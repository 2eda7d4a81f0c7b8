internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A clause of a conjunctive predicate, in a form that can be compared and stored.
struct CoverageClause: Sendable, Hashable {
    /// The clause as text, in which objects are named by their keys: equal clauses have equal texts.
    let text: String
    /// The clause as a comparison that can be compared by value; nil if only equal texts are known to have the same meaning.
    let comparison: PredicateComparison?

    static func == (left: CoverageClause, right: CoverageClause) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// - Parameter tree: The clause, with strings in place of objects.
    init(_ tree: PredicateTree) {
        text = tree.description
        if case .comparison(let comparison) = tree, comparison.modifier == .direct, comparison.left.isOneKeyPath,
            let constant = comparison.right.constantValue, !constant.isNull
        {
            self.comparison = comparison
        } else {
            comparison = nil
        }
    }

    /// Creates a clause from its stored text.
    init(text: String) {
        if let tree = try? NSPredicate(format: escaped(text), argumentArray: nil).tree() {
            let read = CoverageClause(tree)
            // A clause that does not read back to the same text is compared as text only.
            self = CoverageClause(text, read.text == text ? read.comparison : nil)
        } else {
            self = CoverageClause(text, nil)
        }
    }

    private init(_ text: String, _ comparison: PredicateComparison?) { (self.text, self.comparison) = (text, comparison) }

    /// Returns the clause as a predicate; nil if it cannot be parsed.
    ///
    /// - Parameter object: A closure that returns the object with a name.
    func tree(naming object: (String) -> NSManagedObjectID?) -> PredicateTree? {
        guard let tree = try? NSPredicate(format: escaped(text), argumentArray: nil).tree() else { return nil }
        var isReadable = true
        func replaced(_ value: PropertyValue) -> PropertyValue {
            switch value {
            case .string(let text) where text.hasPrefix("\u{1}"):
                guard let id = object(String(text.dropFirst())) else {
                    isReadable = false
                    return value
                }
                return .object(ObjectReference(id))
            case .array(let values): return .array(values.map(replaced))
            case .set(let values): return .set(Set(values.map(replaced)))
            default: return value
            }
        }
        let result = tree.replacingExpressions { expression in expression.constantValue.map { .constant(replaced($0)) } }
        return isReadable ? result : nil
    }

    // MARK: Implication

    /// Whether every object that matches this clause also matches another one.
    func implies(_ other: CoverageClause) -> Bool {
        if text == other.text { return true }
        guard let own = comparison, let wide = other.comparison, own.left == wide.left, own.options == wide.options,
            let value = own.right.constantValue, let bound = wide.right.constantValue
        else { return false }
        switch own.operator {
        case .equal: return Self.matches(value, wide.operator, bound, wide.options)
        case .isIn: return value.elements?.allSatisfy { Self.matches($0, wide.operator, bound, wide.options) } ?? false
        case .greaterThan, .greaterThanOrEqual:
            switch wide.operator {
            case .greaterThanOrEqual: return Self.isTrue(value, .greaterThanOrEqual, bound)
            case .greaterThan:
                return Self.isTrue(value, own.operator == .greaterThan ? .greaterThanOrEqual : .greaterThan, bound)
            default: return false
            }
        case .lessThan, .lessThanOrEqual:
            switch wide.operator {
            case .lessThanOrEqual: return Self.isTrue(value, .lessThanOrEqual, bound)
            case .lessThan: return Self.isTrue(value, own.operator == .lessThan ? .lessThanOrEqual : .lessThan, bound)
            default: return false
            }
        case .beginsWith:
            guard wide.operator == .beginsWith, own.options.isEmpty, case .string(let long) = value, case .string(let short) = bound else {
                return false
            }
            return long.unicodeScalars.starts(with: short.unicodeScalars)
        default: return false
        }
    }

    /// Whether a value matches a comparison. Strings are compared for equality only, because a backend may order them differently.
    private static func matches(
        _ value: PropertyValue, _ operation: PredicateComparison.Operator, _ bound: PropertyValue, _ options: PredicateComparison.Options
    ) -> Bool {
        switch operation {
        case .equal: return options.isEmpty && value == bound
        case .isIn: return options.isEmpty && (bound.elements?.contains(value) ?? false)
        case .notEqual: return options.isEmpty && isTrue(value, .notEqual, bound)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return isTrue(value, operation, bound)
        case .beginsWith:
            guard options.isEmpty, case .string(let text) = value, case .string(let start) = bound else { return false }
            return text.unicodeScalars.starts(with: start.unicodeScalars)
        default: return false
        }
    }

    private static func isTrue(_ left: PropertyValue, _ operation: PredicateComparison.Operator, _ right: PropertyValue) -> Bool {
        guard let kind = AttributeKind(left), kind == AttributeKind(right), kind == .number || kind == .date || operation == .notEqual
        else {
            return false
        }
        return ((try? ValueOperations.compare(left, operation, right, clause: "a clause of a cache")) ?? nil) ?? false
    }
}

/// Returns a text for use as a format, without placeholders.
private func escaped(_ text: String) -> String { text.replacingOccurrences(of: "%", with: "%%") }

/// The content of a query, in a form that can be compared.
struct QueryForm: Sendable {
    let entity: NSEntityDescription
    let includesSubentities: Bool
    /// The clauses; nil if the predicate cannot be compared, such as one with a block.
    let clauses: [CoverageClause]?
    /// The order as text; nil if it cannot be compared.
    let sorts: String?
    let offset: Int
    /// The maximum number of results; 0 for no limit.
    let limit: Int
    /// The properties that must be known to evaluate the query.
    let needs: Needs

    /// - Parameter name: A closure that returns a text for an object of the file.
    init(_ query: StoreQuery, naming name: (NSManagedObjectID) -> String) throws {
        entity = query.entity
        includesSubentities = query.includesSubentities
        (offset, limit) = (query.fetchOffset, query.fetchLimit)
        var reader = NeedsReader(query.entity)
        var clauses: [CoverageClause]? = []
        if let tree = try query.predicateTree() {
            reader.add(tree)
            if tree.hasCode {
                clauses = nil
            } else {
                let named = tree.replacingObjects { object in
                    contextID(of: object).map { .string("\u{1}" + name($0)) } ?? .string("\u{1}\(object)")
                }
                clauses = NormalForm(query.entity).clauses(named).map { CoverageClause($0) }
            }
        }
        self.clauses = clauses
        var sorts: [String]? = []
        for descriptor in query.sortDescriptors {
            guard let key = descriptor.key, !descriptor.hasComparator else {
                sorts = nil
                continue
            }
            reader.add(path: key)
            sorts?.append("\(descriptor.ascending ? "+" : "-")\(key)/\(descriptor.textOrder)")
        }
        self.sorts = sorts?.joined(separator: " ")
        for column in query.columns + query.groupedBy { reader.add(column.expression) }
        needs = reader.needs
    }

    /// A text that is the same for equal queries.
    var text: String {
        let clauses = clauses?.map(\.text).sorted().joined(separator: "\u{2}") ?? UUID().uuidString
        return [entity.name ?? "", includesSubentities ? "+" : "", clauses, sorts ?? UUID().uuidString, "\(offset)", "\(limit)"]
            .joined(separator: "\u{3}")
    }
}

extension PredicateTree {
    /// Whether a part of the predicate is opaque code.
    fileprivate var hasCode: Bool {
        switch self {
        case .block: return true
        case .true, .false: return false
        case .and(let parts), .or(let parts): return parts.contains(where: \.hasCode)
        case .not(let part): return part.hasCode
        case .comparison(let comparison):
            if case .comparator = comparison.operator { return true }
            var found = false
            _ = PredicateTree.comparison(comparison).replacingExpressions { expression in
                switch expression {
                case .block, .fetch: found = true
                // The value changes from call to call.
                case .function(let name, _) where name == "now" || name.hasPrefix("random"): found = true
                default: break
                }
                return nil
            }
            return found
        }
    }
}
