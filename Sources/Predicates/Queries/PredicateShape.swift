import Foundation

/// Identifies a query to a store without the values of its constants.
///
/// Code that translates predicates caches translations by shape and replaces the constants. Computing a shape costs one traversal of the
/// tree.
package struct PredicateShape {
    /// The aspects of a constant's value that may matter, beyond its kind.
    package enum Detail: UInt8, Sendable {
        case none
        /// The spelling of a string: it is compared as a whole, or by its prefix.
        case spelling
        /// The prefix of a LIKE pattern.
        case pattern
        /// Whether a number is 0: a count is compared with it.
        case zero
    }

    /// The shape as a key.
    package var key: [UInt8] = []
    /// The constants in the order of the traversal, which is that of ``PredicateTree/numberingConstants(from:)``.
    package var constants: [PropertyValue] = []
    /// The aspect of each constant's value that may matter, beyond its kind.
    package private(set) var details: [Detail] = []
    /// Whether the shape is not shared with other predicates, because it contains code.
    package private(set) var isUnique = false
    /// Appends the aspect of a constant's value that the translation depends on.
    private let classify: (PropertyValue, Detail, inout [UInt8]) -> Void

    /// Creates an empty shape.
    ///
    /// - Parameter classify: Appends the part of a constant's value that belongs to the shape; its second argument is the aspect that may
    ///   matter.
    package init(classify: @escaping (PropertyValue, Detail, inout [UInt8]) -> Void) {
        self.classify = classify
        key.reserveCapacity(160)
    }

    /// Appends a string.
    package mutating func append(_ text: String) {
        key.append(contentsOf: text.utf8)
        // A byte that UTF-8 never contains, so that strings cannot be confused.
        key.append(0xFF)
    }

    /// Appends a byte.
    package mutating func append(_ byte: UInt8) { key.append(byte) }

    /// Appends a predicate.
    package mutating func append(_ tree: PredicateTree) {
        switch tree {
        case .true: key.append(1)
        case .false: key.append(2)
        case .not(let part):
            key.append(3)
            append(part)
        case .and(let parts):
            key.append(4)
            appendCount(parts.count)
            for part in parts { append(part) }
        case .or(let parts):
            key.append(5)
            appendCount(parts.count)
            for part in parts { append(part) }
        case .block:
            isUnique = true
        case .comparison(let comparison):
            append(comparison)
        }
    }

    private mutating func append(_ comparison: PredicateComparison) {
        key.append(6)
        switch comparison.operator {
        case .lessThan: key.append(0)
        case .lessThanOrEqual: key.append(1)
        case .greaterThan: key.append(2)
        case .greaterThanOrEqual: key.append(3)
        case .equal: key.append(4)
        case .notEqual: key.append(5)
        case .matches: key.append(6)
        case .like: key.append(7)
        case .beginsWith: key.append(8)
        case .endsWith: key.append(9)
        case .isIn: key.append(10)
        case .contains: key.append(11)
        case .between: key.append(12)
        case .custom, .comparator: isUnique = true
        }
        switch comparison.modifier {
        case .direct: key.append(0)
        case .all: key.append(1)
        case .any: key.append(2)
        }
        key.append(UInt8(truncatingIfNeeded: comparison.options.rawValue))
        append(comparison.left, detail: comparison.detail)
        append(comparison.unfoldedRight, detail: comparison.detail)
    }

    /// Appends an expression.
    package mutating func append(_ expression: ExpressionTree) { append(expression, detail: .none) }

    private mutating func append(_ expression: ExpressionTree, detail: Detail) {
        switch expression {
        case .constant(let value):
            key.append(10)
            constants.append(value)
            details.append(detail)
            classify(value, detail, &key)
        case .numberedConstant(let value, _): append(.constant(value), detail: detail)
        case .evaluatedObject: key.append(11)
        case .variable(let name):
            key.append(12)
            append(name)
        case .keyPath(let keys):
            key.append(13)
            append(keys)
        case .navigation(_, let keys):
            key.append(14)
            append(keys)
            appendParts(of: expression)
        case .aggregate(let elements):
            key.append(15)
            appendCount(elements.count)
            appendParts(of: expression)
        case .arithmetic(let operation, _, _):
            key.append(16)
            append(operation.rawValue)
            appendParts(of: expression)
        case .negated:
            key.append(17)
            appendParts(of: expression)
        case .complement:
            key.append(18)
            appendParts(of: expression)
        case .function(let name, let arguments):
            key.append(19)
            append(name)
            appendCount(arguments.count)
            appendParts(of: expression)
        case .method(_, let name, let arguments):
            key.append(20)
            append(name)
            appendCount(arguments.count)
            appendParts(of: expression)
        case .element(_, let index):
            switch index {
            case .at: key.append(21)
            case .first: key.append(22)
            case .last: key.append(23)
            case .size: key.append(24)
            }
            appendParts(of: expression)
        case .subquery(let collection, let variable, let condition):
            key.append(25)
            append(variable)
            append(collection)
            append(condition)
        case .setOperation(let operation, _, _):
            key.append(26)
            append(operation.rawValue)
            appendParts(of: expression)
        case .conditional(let condition, let value, let otherwise):
            key.append(27)
            append(condition)
            append(value)
            append(otherwise)
        case .cast(_, let type):
            key.append(28)
            append(type)
            appendParts(of: expression)
        case .assignment, .anyKey, .fetch, .block: isUnique = true
        }
    }

    private mutating func append(_ keys: [String]) {
        appendCount(keys.count)
        for key in keys { append(key) }
    }

    private mutating func appendParts(of expression: ExpressionTree) {
        for part in expression.parts { append(part) }
    }

    private mutating func appendCount(_ count: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: count)) { key.append(contentsOf: $0) }
    }
}

extension PredicateComparison {
    /// The right side; the two literal bounds of BETWEEN are two constants.
    var unfoldedRight: ExpressionTree {
        if self.operator == .between, case .constant(.array(let bounds)) = right, bounds.count == 2 {
            return .aggregate(bounds.map { .constant($0) })
        }
        return right
    }

    /// The aspect of the constants on either side that may matter, beyond their kind.
    fileprivate var detail: PredicateShape.Detail {
        if modifier == .direct, left.isCount || right.isCount { return .zero }
        guard options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) else { return .none }
        switch self.operator {
        case .equal, .notEqual, .isIn, .beginsWith: return .spelling
        case .like: return .pattern
        default: return .none
        }
    }
}

extension ExpressionTree {
    /// Whether the expression is the count of a collection.
    fileprivate var isCount: Bool {
        switch self {
        case .keyPath(let keys), .navigation(_, let keys): keys.last == "@count"
        default: false
        }
    }
}

extension PredicateTree {
    /// The tree with a number for each constant: its place among ``PredicateShape/constants``.
    ///
    /// - Parameter next: The number of the first constant; becomes the number after the last.
    package func numberingConstants(from next: inout Int) -> PredicateTree {
        switch self {
        case .true, .false, .block: return self
        case .not(let part): return .not(part.numberingConstants(from: &next))
        case .and(let parts): return .and(parts.map { $0.numberingConstants(from: &next) })
        case .or(let parts): return .or(parts.map { $0.numberingConstants(from: &next) })
        case .comparison(var comparison):
            comparison.right = comparison.unfoldedRight
            comparison.left = comparison.left.numberingConstants(from: &next)
            comparison.right = comparison.right.numberingConstants(from: &next)
            return .comparison(comparison)
        }
    }
}

extension ExpressionTree {
    /// The expression with a number for each constant.
    ///
    /// - Parameter next: The number of the first constant; becomes the number after the last.
    package func numberingConstants(from next: inout Int) -> ExpressionTree {
        if case .constant(let value) = self {
            defer { next += 1 }
            return .numberedConstant(value, number: next)
        }
        return rebuilt(
            { $0.numberingConstants(from: &next) }, { condition, _ in condition.numberingConstants(from: &next) })
    }

    /// The expression without the numbers of its constants, to be compared with another.
    package var withoutNumbers: ExpressionTree {
        if case .numberedConstant(let value, _) = self { return .constant(value) }
        return rebuilt({ $0.withoutNumbers }, { condition, _ in condition.rebuilt { $0.withoutNumbers } })
    }
}
