import Foundation

/// An object to archive with its fields, under the name of one of Apple's classes.
///
/// Nodes are only encoded. Archives are decoded directly to ``NSExpression`` and predicates, because the kind of an expression is in its
/// fields.
class ArchivedNode: NSObject, NSSecureCoding {
    /// A field of an archived object.
    enum Field {
        case integer(Int)
        case flag(Bool)
        case object(Any)

        func encode(_ key: String, with coder: NSCoder) {
            switch self {
            case .integer(let value): coder.encode(value, forKey: key)
            case .flag(let value): coder.encode(value, forKey: key)
            case .object(let value): coder.encode(value, forKey: key)
            }
        }
    }

    let fields: [(String, Field)]

    required init(_ fields: [(String, Field)]) {
        self.fields = fields
    }

    class var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        for (key, value) in fields { value.encode(key, with: coder) }
    }

    required init?(coder: NSCoder) {
        nil
    }
}

/// An operator, which is also decoded.
final class ArchivedOperator: NSObject, NSSecureCoding {
    let fields: ArchivedComparisonOperator

    static var supportsSecureCoding: Bool { true }

    init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "NSOperatorType") else { return nil }
        // Operators on strings store their options as flags.
        fields = ArchivedComparisonOperator(
            type: coder.decodeInteger(forKey: "NSOperatorType"), modifier: coder.decodeInteger(forKey: "NSModifier"),
            options: coder.decodeInteger(forKey: "NSOptions") | coder.decodeInteger(forKey: "NSFlags"),
            isNegated: coder.decodeBool(forKey: "NSNegate"))
    }

    func encode(with coder: NSCoder) {}
}

// One class for each of Apple's names, because an archiver maps a class to one name.
final class ArchivedConstantValue: ArchivedNode {}
final class ArchivedSelf: ArchivedNode {}
final class ArchivedVariable: ArchivedNode {}
final class ArchivedKeyPath: ArchivedNode {}
final class ArchivedKeyPathSpecifier: ArchivedNode {}
final class ArchivedFunction: ArchivedNode {}
final class ArchivedSet: ArchivedNode {}
final class ArchivedAggregate: ArchivedNode {}
final class ArchivedSubquery: ArchivedNode {}
final class ArchivedTernary: ArchivedNode {}
final class ArchivedAnyKey: ArchivedNode {}
final class ArchivedSymbol: ArchivedNode {}
final class ArchivedAssignment: ArchivedNode {}
final class ArchivedFetch: ArchivedNode {}
final class ArchivedEqualityOperator: ArchivedNode {}
final class ArchivedOrderOperator: ArchivedNode {}
final class ArchivedMatchingOperator: ArchivedNode {}
final class ArchivedLikeOperator: ArchivedNode {}
final class ArchivedSubstringOperator: ArchivedNode {}
final class ArchivedInOperator: ArchivedNode {}
final class ArchivedBetweenOperator: ArchivedNode {}

extension ArchivedNode {
    /// Apple's expression classes, and the classes of this framework that are archived under their names.
    static var expressionClasses: [(String, AnyClass)] {
        [
            ("NSConstantValueExpression", ArchivedConstantValue.self), ("NSSelfExpression", ArchivedSelf.self),
            ("NSVariableExpression", ArchivedVariable.self), ("NSKeyPathExpression", ArchivedKeyPath.self),
            ("NSKeyPathSpecifierExpression", ArchivedKeyPathSpecifier.self), ("NSFunctionExpression", ArchivedFunction.self),
            ("NSSetExpression", ArchivedSet.self), ("NSAggregateExpression", ArchivedAggregate.self),
            ("NSSubqueryExpression", ArchivedSubquery.self), ("NSTernaryExpression", ArchivedTernary.self),
            ("NSAnyKeyExpression", ArchivedAnyKey.self), ("NSSymbolicExpression", ArchivedSymbol.self),
            ("NSVariableAssignmentExpression", ArchivedAssignment.self), ("NSFetchRequestExpression", ArchivedFetch.self),
        ]
    }

    /// Apple's operator classes, and the classes of this framework that are archived under their names.
    static var operatorClasses: [(String, AnyClass)] {
        [
            ("NSEqualityPredicateOperator", ArchivedEqualityOperator.self), ("NSComparisonPredicateOperator", ArchivedOrderOperator.self),
            ("NSMatchingPredicateOperator", ArchivedMatchingOperator.self), ("NSLikePredicateOperator", ArchivedLikeOperator.self),
            ("NSSubstringPredicateOperator", ArchivedSubstringOperator.self), ("NSInPredicateOperator", ArchivedInOperator.self),
            ("NSBetweenPredicateOperator", ArchivedBetweenOperator.self),
        ]
    }
}
