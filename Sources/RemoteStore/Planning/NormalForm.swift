internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Rewrites predicates to the form that is compared with capabilities: negations at the comparisons, constants on the right, ranges as pairs, alternatives of
/// one value as `IN`.
///
/// The result matches the same resources, by the three-valued logic of stores: only true matches.
struct NormalForm {
    private let entity: NSEntityDescription

    init(_ entity: NSEntityDescription) { self.entity = entity }

    /// Returns the clauses of a predicate, all of which must match: empty for everything, only false for nothing.
    func clauses(_ tree: PredicateTree) -> [PredicateTree] {
        switch normalized(tree, isNegated: false) {
        case .true: []
        case .and(let parts): parts
        case let tree: [tree]
        }
    }

    func normalized(_ tree: PredicateTree, isNegated: Bool) -> PredicateTree {
        switch tree {
        case .true: isNegated ? .false : .true
        case .false: isNegated ? .true : .false
        case .not(let part): normalized(part, isNegated: !isNegated)
        case .and(let parts): join(parts.map { normalized($0, isNegated: isNegated) }, isAnd: !isNegated)
        case .or(let parts): join(parts.map { normalized($0, isNegated: isNegated) }, isAnd: isNegated)
        case .block: isNegated ? .not(tree) : tree
        case .comparison(let comparison): isNegated ? negated(plain(comparison)) : simplified(plain(comparison))
        }
    }

    // MARK: Parts

    private func join(_ parts: [PredicateTree], isAnd: Bool) -> PredicateTree {
        var flat: [PredicateTree] = []
        for part in parts {
            switch (part, isAnd) {
            case (.and(let inner), true), (.or(let inner), false): flat += inner
            case (.true, true), (.false, false): continue
            case (.false, true): return .false
            case (.true, false): return .true
            default: flat.append(part)
            }
        }
        var seen: Set<PredicateTree> = []
        flat = flat.filter { seen.insert($0).inserted }
        if !isAnd { flat = joiningEqualities(flat) }
        if flat.count == 1 { return flat[0] }
        if flat.isEmpty { return isAnd ? .true : .false }
        return isAnd ? .and(flat) : .or(flat)
    }

    /// Combines the alternatives for the value of one expression: `a == 1 OR a IN {2, 3}` becomes `a IN {1, 2, 3}`.
    private func joiningEqualities(_ parts: [PredicateTree]) -> [PredicateTree] {
        struct Key: Hashable {
            let left: ExpressionTree
            let options: PredicateComparison.Options
        }
        var places: [Key: Int] = [:]
        var values: [Int: [PropertyValue]] = [:]
        var joined: [PredicateTree] = []
        for part in parts {
            guard case .comparison(let comparison) = part, let own = Self.equalities(comparison) else {
                joined.append(part)
                continue
            }
            let key = Key(left: comparison.left, options: comparison.options)
            if let place = places[key] {
                values[place, default: []] += own
            } else {
                places[key] = joined.count
                values[joined.count] = own
                joined.append(part)
            }
        }
        for (place, own) in values {
            guard case .comparison(var comparison) = joined[place], own.count > 1 else { continue }
            comparison.operator = .isIn
            comparison.right = .constant(.array(Self.distinct(own)))
            joined[place] = .comparison(comparison)
        }
        return joined
    }

    /// The values of which the left side must equal one; nil for other comparisons, and for comparisons with nil.
    private static func equalities(_ comparison: PredicateComparison) -> [PropertyValue]? {
        guard comparison.modifier == .direct, comparison.left.isOneKeyPath, let constant = comparison.right.constantValue else {
            return nil
        }
        switch comparison.operator {
        case .equal: return constant.isNull ? nil : [constant]
        case .isIn: return constant.elements.flatMap { $0.contains(where: \.isNull) ? nil : $0 }
        default: return nil
        }
    }

    static func distinct(_ values: [PropertyValue]) -> [PropertyValue] {
        var seen: Set<PropertyValue> = []
        return values.filter { seen.insert($0).inserted }
    }

    // MARK: Comparisons

    /// Returns the comparison with a constant on its right side, and without a pattern if another comparison of strings is equivalent.
    private func plain(_ comparison: PredicateComparison) -> PredicateComparison {
        let turned = turned(comparison)
        guard turned.operator == .like, turned.left.isOneKeyPath,
            ClauseReader(entity).attribute(at: turned.left.keys)?.attributeType == .stringAttributeType
        else { return turned }
        return turned.withoutPattern
    }

    /// Returns the comparison with a constant on its right side.
    private func turned(_ comparison: PredicateComparison) -> PredicateComparison {
        guard comparison.modifier == .direct, comparison.left.constantValue != nil, comparison.right.isOneKeyPath else { return comparison }
        let turned: PredicateComparison.Operator
        switch comparison.operator {
        case .equal, .notEqual: turned = comparison.operator
        case .lessThan: turned = .greaterThan
        case .lessThanOrEqual: turned = .greaterThanOrEqual
        case .greaterThan: turned = .lessThan
        case .greaterThanOrEqual: turned = .lessThanOrEqual
        default: return comparison
        }
        var result = comparison
        (result.left, result.operator, result.right) = (comparison.right, turned, comparison.left)
        return result
    }

    private func simplified(_ comparison: PredicateComparison) -> PredicateTree {
        guard comparison.modifier == .direct, comparison.left.isOneKeyPath, let elements = comparison.right.constantValue?.elements else {
            return .comparison(comparison)
        }
        func with(_ operation: PredicateComparison.Operator, _ value: PropertyValue) -> PredicateTree {
            var part = comparison
            (part.operator, part.right) = (operation, .constant(value))
            return .comparison(part)
        }
        switch comparison.operator {
        case .between where elements.count == 2 && !elements.contains(where: \.isNull):
            return .and([with(.greaterThanOrEqual, elements[0]), with(.lessThanOrEqual, elements[1])])
        case .isIn:
            // Equality with nil is never true, and only true matches.
            let values = Self.distinct(elements.filter { !$0.isNull })
            if values.isEmpty { return .false }
            return values.count == 1 ? with(.equal, values[0]) : with(.isIn, .array(values))
        default: return .comparison(comparison)
        }
    }

    /// Returns the predicate that matches if a comparison is false.
    private func negated(_ comparison: PredicateComparison) -> PredicateTree {
        // Membership in one value is equality: services support its negation.
        if comparison.operator == .isIn, comparison.modifier == .direct, comparison.left.isOneKeyPath,
            let elements = comparison.right.constantValue?.elements, !elements.contains(where: \.isNull)
        {
            let values = Self.distinct(elements)
            if values.count == 1 {
                var equality = comparison
                (equality.operator, equality.right) = (.equal, .constant(values[0]))
                return negated(equality)
            }
        }
        let opposite: PredicateComparison.Operator?
        switch comparison.operator {
        case .equal: opposite = .notEqual
        case .notEqual: opposite = .equal
        case .lessThan: opposite = .greaterThanOrEqual
        case .lessThanOrEqual: opposite = .greaterThan
        case .greaterThan: opposite = .lessThanOrEqual
        case .greaterThanOrEqual: opposite = .lessThan
        default: opposite = nil
        }
        guard comparison.modifier == .direct, let opposite, comparison.left.isOneKeyPath, let value = comparison.right.constantValue else {
            return .not(.comparison(comparison))
        }
        let isOrder = comparison.operator != .equal && comparison.operator != .notEqual
        // An order comparison between values of different types is false, and so is its opposite.
        if isOrder, ClauseReader(entity).attribute(at: comparison.left.keys).map({ AttributeKind($0) == AttributeKind(value) }) != true {
            return .not(.comparison(comparison))
        }
        var result = comparison
        result.operator = opposite
        return .comparison(result)
    }
}

/// The kinds of values that are compared with each other.
enum AttributeKind: Hashable {
    case number, text, date, uuid, url, data

    init?(_ attribute: NSAttributeDescription) {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .decimalAttributeType, .booleanAttributeType:
            self = .number
        case .stringAttributeType: self = .text
        case .dateAttributeType: self = .date
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .url
        case .binaryDataAttributeType: self = .data
        default: return nil
        }
    }

    init?(_ value: PropertyValue) {
        switch value {
        case .bool, .int64, .decimal: self = .number
        case .double(let number):
            if number.isNaN { return nil }
            self = .number
        case .string: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .url: self = .url
        case .data: self = .data
        default: return nil
        }
    }
}

extension ExpressionTree {
    /// The constant, if the expression is one.
    var constantValue: PropertyValue? {
        switch self {
        case .constant(let value), .numberedConstant(let value, number: _): value
        default: nil
        }
    }

    /// Whether the expression is a key path of the evaluated object, or that object.
    var isOneKeyPath: Bool {
        switch self {
        case .evaluatedObject, .keyPath: true
        default: false
        }
    }

    /// The keys of a key path; empty for the evaluated object.
    var keys: [String] {
        if case .keyPath(let keys) = self { keys } else { [] }
    }
}

extension PropertyValue {
    /// The elements of a collection; nil for other values.
    var elements: [PropertyValue]? {
        switch self {
        case .array(let values): values
        case .set(let values): Array(values)
        default: nil
        }
    }
}
