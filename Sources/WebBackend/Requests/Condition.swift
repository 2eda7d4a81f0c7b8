internal import Predicates
internal import RemoteStore

/// The condition of a list: joined comparisons.
indirect enum Condition: Sendable {
    case comparison(Comparison)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    /// Matches everything, or nothing.
    case constant(Bool)

    /// A comparison of a property.
    struct Comparison: Sendable {
        let keyPath: String
        let comparison: Parameter.Operator
        let values: [PropertyValue]
        let ids: [ResourceID]

        var count: Int { values.count + ids.count }
    }

    /// Creates the condition of a filter.
    init(_ filter: BackendRequest.Filter) {
        self = .comparison(
            Comparison(keyPath: filter.keyPath, comparison: filter.comparison, values: filter.values, ids: filter.ids))
    }

    /// Creates the condition of a predicate; nil if no filter can express a part of it, which the store never sends.
    init?(_ tree: PredicateTree) {
        switch tree {
        case .true: self = .constant(true)
        case .false: self = .constant(false)
        case .and(let parts):
            self = .and(parts.compactMap(Condition.init))
            if parts.count != Self.count(self) { return nil }
        case .or(let parts):
            self = .or(parts.compactMap(Condition.init))
            if parts.count != Self.count(self) { return nil }
        case .not(let part):
            guard let part = Condition(part) else { return nil }
            self = .not(part)
        case .comparison(let comparison):
            guard let known = Comparison(comparison) else { return nil }
            self = .comparison(known)
        case .block: return nil
        }
    }

    /// Returns the condition with its comparisons replaced, and simplified where the replacements are constant.
    func replacing(_ replacement: (Comparison) throws -> Condition) rethrows -> Condition {
        switch self {
        case .constant: return self
        case .comparison(let comparison): return try replacement(comparison)
        case .not(let part):
            let part = try part.replacing(replacement)
            if case .constant(let value) = part { return .constant(!value) }
            return .not(part)
        case .and(let parts): return Self.joined(try parts.map { try $0.replacing(replacement) }, isAnd: true)
        case .or(let parts): return Self.joined(try parts.map { try $0.replacing(replacement) }, isAnd: false)
        }
    }

    private static func joined(_ parts: [Condition], isAnd: Bool) -> Condition {
        var rest: [Condition] = []
        for part in parts {
            guard case .constant(let value) = part else {
                rest.append(part)
                continue
            }
            if value != isAnd { return .constant(value) }
        }
        if rest.isEmpty { return .constant(isAnd) }
        return rest.count == 1 ? rest[0] : isAnd ? .and(rest) : .or(rest)
    }

    private static func count(_ condition: Condition) -> Int {
        switch condition {
        case .and(let parts), .or(let parts): parts.count
        default: 1
        }
    }
}

extension Condition.Comparison {
    init?(_ comparison: PredicateComparison) {
        let keys: [String]
        switch comparison.left {
        case .keyPath(let path): keys = path
        case .evaluatedObject: keys = ["SELF"]
        default: return nil
        }
        let constant: PropertyValue
        switch comparison.right {
        case .constant(let value), .numberedConstant(let value, _): constant = value
        default: return nil
        }
        let path = (comparison.modifier == .any ? "ANY " : "") + keys.joined(separator: ".")
        let kind: Parameter.Operator
        switch comparison.operator {
        case .equal: kind = constant.isNull ? .isNil : .equal
        case .notEqual: kind = constant.isNull ? .isNotNil : .notEqual
        case .lessThan: kind = .lessThan
        case .lessThanOrEqual: kind = .lessThanOrEqual
        case .greaterThan: kind = .greaterThan
        case .greaterThanOrEqual: kind = .greaterThanOrEqual
        case .isIn: kind = .isIn
        case .beginsWith: kind = .beginsWith
        case .endsWith: kind = .endsWith
        case .contains: kind = .contains
        case .like: kind = .like
        default: return nil
        }
        let values: [PropertyValue] =
            switch (kind, constant) {
            case (.isNil, _), (.isNotNil, _): []
            case (.isIn, .array(let elements)): elements
            case (.isIn, .set(let elements)): Array(elements)
            case (.isIn, _): [constant]
            default: [constant]
            }
        self.init(keyPath: path == "objectID" || path == "self" ? "SELF" : path, comparison: kind, values: values, ids: [])
    }
}

extension Condition {
    /// Whether the condition matches nothing.
    var matchesNothing: Bool {
        switch self {
        case .constant(let value): !value
        case .and(let parts): parts.contains(where: \.matchesNothing)
        case .or(let parts): parts.allSatisfy(\.matchesNothing)
        case .comparison(let comparison): comparison.comparison == .isIn && comparison.count == 0
        case .not: false
        }
    }
}
