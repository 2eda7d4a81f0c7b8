internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A part of a predicate, all parts of which must match, in a form that is compared with others, and kept.
struct CoverageClause: Sendable, Hashable {
    /// The clause as text, in which objects are named by their keys: equal clauses have equal texts.
    let text: String
    /// The clause as it can be compared by value; nil where only equal texts are known to mean the same.
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

    /// Reads a clause that was kept.
    init(text: String) {
        if let tree = try? NSPredicate(format: escaped(text), argumentArray: nil).tree() {
            let read = CoverageClause(tree)
            // What is not read as it was written is only compared as text.
            self = CoverageClause(text, read.text == text ? read.comparison : nil)
        } else {
            self = CoverageClause(text, nil)
        }
    }

    private init(_ text: String, _ comparison: PredicateComparison?) { (self.text, self.comparison) = (text, comparison) }

    /// Returns the clause as a predicate; nil where it cannot be read.
    ///
    /// - Parameter object: Returns the object of a name.
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

    // MARK: What follows from what

    /// Whether every object that this clause matches is matched by another one.
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

    /// Whether a value matches a comparison. Texts are compared for equality only: their order may be a backend's own.
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

/// A text that is read as a format: what it contains is no placeholder.
private func escaped(_ text: String) -> String { text.replacingOccurrences(of: "%", with: "%%") }

/// What a query asks for, in a form that is compared with others.
struct QueryForm: Sendable {
    let entity: NSEntityDescription
    let includesSubentities: Bool
    /// Nil where the predicate cannot be compared, such as one with a block.
    let clauses: [CoverageClause]?
    /// The order as text; nil where it cannot be compared.
    let sorts: String?
    let offset: Int
    /// The maximum number of results; 0 for no limit.
    let limit: Int
    /// What must be known of objects for the query to be evaluated.
    let needs: Needs

    /// - Parameter name: Returns a text for an object of the file.
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

    /// What equal queries have in common.
    var text: String {
        let clauses = clauses?.map(\.text).sorted().joined(separator: "\u{2}") ?? UUID().uuidString
        return [entity.name ?? "", includesSubentities ? "+" : "", clauses, sorts ?? UUID().uuidString, "\(offset)", "\(limit)"]
            .joined(separator: "\u{3}")
    }
}

extension PredicateTree {
    /// Whether a part of the predicate is code, which nothing is known of.
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
