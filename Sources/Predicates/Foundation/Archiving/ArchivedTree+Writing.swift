import Foundation

/// A tree to archive.
enum ArchivedTree {
    case predicate(PredicateTree)
    case expression(ExpressionTree)

    /// The numbers of archived expression types; those above 20 are this framework's, for expressions that public archives do not show.
    enum Kind {
        static let constant = 0
        static let evaluatedObject = 1
        static let variable = 2
        static let keyPath = 3
        static let function = 4
        static let union = 5
        static let intersect = 6
        static let minus = 7
        static let keyPathSpecifier = 10
        static let symbol = 11
        static let assignment = 12
        static let subquery = 13
        static let aggregate = 14
        static let anyKey = 15
        static let conditional = 20
        static let fetch = 50
    }

    /// Returns the object for an archiver.
    func encodable(depth: Int) throws -> NSObject {
        switch self {
        case .predicate(let tree):
            // Unsupported values are found here, because Foundation's archiver can only stop the program once it has begun.
            _ = try fields(depth: depth)
            return NSPredicate.made(from: .success(tree))
        case .expression(let tree): return try ArchivedTree.node(tree, depth: depth)
        }
    }

    /// Returns the fields of the object.
    func fields(depth: Int) throws -> [(String, ArchivedNode.Field)] {
        switch self {
        case .predicate(let tree): try ArchivedTree.fields(tree, depth: depth)
        case .expression(let tree): try ArchivedTree.node(tree, depth: depth).fields
        }
    }

    private static func checkDepth(_ depth: Int) throws {
        guard depth <= PredicateLimits.archiveNesting else {
            throw InvalidPredicateError(
                kind: .tooDeep, message: "The predicate nests deeper than the \(PredicateLimits.archiveNesting) levels of an archive")
        }
    }

    private static func fields(_ tree: PredicateTree, depth: Int) throws -> [(String, ArchivedNode.Field)] {
        try checkDepth(depth)
        switch tree {
        case .true, .false: return []
        case .comparison(let comparison):
            return [
                ("NSLeftExpression", .object(try node(comparison.left, depth: depth + 1))),
                ("NSRightExpression", .object(try node(comparison.right, depth: depth + 1))),
                ("NSPredicateOperator", .object(try node(comparison))),
            ]
        case .not(let part): return try compound(0, [part], depth: depth)
        case .and(let parts): return try compound(1, parts, depth: depth)
        case .or(let parts): return try compound(2, parts, depth: depth)
        case .block: throw PredicateArchive.unreadable("A block predicate cannot be archived")
        }
    }

    private static func compound(_ type: Int, _ parts: [PredicateTree], depth: Int) throws -> [(String, ArchivedNode.Field)] {
        let parts = try parts.map { try ArchivedTree.predicate($0).encodable(depth: depth + 1) }
        return [("NSCompoundPredicateType", .integer(type)), ("NSSubpredicates", .object(NSArray(array: parts)))]
    }

    private static func node(_ comparison: PredicateComparison) throws -> ArchivedNode {
        let type = NSComparisonPredicate.Operator(comparison.operator)
        var fields: [(String, ArchivedNode.Field)] = [
            ("NSOperatorType", .integer(Int(type.rawValue))),
            ("NSModifier", .integer(comparison.modifier == .direct ? 0 : comparison.modifier == .all ? 1 : 2)),
        ]
        let options = ("NSOptions", ArchivedNode.Field.integer(comparison.options.rawValue))
        switch comparison.operator {
        case .equal, .notEqual:
            fields += [("NSNegate", .flag(comparison.operator == .notEqual)), options]
            return ArchivedEqualityOperator(fields)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return ArchivedOrderOperator(fields + [options])
        case .matches: return ArchivedMatchingOperator(fields + [("NSFlags", options.1)])
        case .like: return ArchivedLikeOperator(fields + [("NSFlags", options.1)])
        case .beginsWith, .endsWith: return ArchivedSubstringOperator(fields + [("NSFlags", options.1)])
        case .isIn, .contains: return ArchivedInOperator(fields + [("NSFlags", options.1)])
        // Apple's operator keeps no options, and ignores any that it finds.
        case .between: return ArchivedBetweenOperator(comparison.options.isEmpty ? fields : fields + [options])
        case .custom(let name): throw PredicateArchive.unreadable("The operator \(name) cannot be archived")
        case .comparator: throw PredicateArchive.unreadable("A comparator cannot be archived")
        }
    }

    private static func node(_ tree: ExpressionTree, depth: Int) throws -> ArchivedNode {
        try checkDepth(depth)
        func child(_ tree: ExpressionTree) throws -> ArchivedNode.Field { .object(try node(tree, depth: depth + 1)) }
        func type(_ kind: Int) -> (String, ArchivedNode.Field) { ("NSExpressionType", .integer(kind)) }
        switch tree {
        case .constant(.array(let values)) where values.contains(where: \.isNumber):
            let elements = try values.map { try node(.constant($0), depth: depth + 1) }
            return ArchivedAggregate([type(Kind.aggregate), ("NSCollection", .object(NSArray(array: elements)))])
        case .constant(let value):
            try checkDepth(depth + value.height(limit: PredicateLimits.archiveNesting + 1) - 1)
            return try constantNode(value)
        case .numberedConstant(let value, _): return try node(.constant(value), depth: depth)
        case .evaluatedObject: return ArchivedSelf([type(Kind.evaluatedObject)])
        case .anyKey: return ArchivedAnyKey([type(Kind.anyKey)])
        case .variable(let name): return ArchivedVariable([type(Kind.variable), ("NSVariable", .object(NSString(string: name)))])
        case .keyPath(let keys): return keyPath(ArchivedSelf([type(Kind.evaluatedObject)]), keys)
        case .navigation(let base, let keys): return keyPath(try node(base, depth: depth + 1), keys)
        case .aggregate(let elements):
            let elements = try elements.map { try node($0, depth: depth + 1) }
            return ArchivedAggregate([type(Kind.aggregate), ("NSCollection", .object(NSArray(array: elements)))])
        case .setOperation(let operation, let left, let right):
            let kind = operation == .union ? Kind.union : operation == .intersect ? Kind.intersect : Kind.minus
            return ArchivedSet([type(kind), ("NSLeftExpression", try child(left)), ("NSRightExpression", try child(right))])
        case .subquery(let collection, let variable, let condition):
            let condition = try ArchivedTree.predicate(condition).encodable(depth: depth + 1)
            return ArchivedSubquery([
                type(Kind.subquery), ("NSCollection", try child(collection)), ("NSVariable", .object(NSString(string: variable))),
                ("NSPredicate", .object(condition)),
            ])
        case .conditional(let condition, let value, let otherwise):
            let condition = try ArchivedTree.predicate(condition).encodable(depth: depth + 1)
            return ArchivedTernary([
                type(Kind.conditional), ("NSPredicate", .object(condition)), ("NSTrueExpression", try child(value)),
                ("NSFalseExpression", try child(otherwise)),
            ])
        case .assignment(let name, let value):
            return ArchivedAssignment([
                type(Kind.assignment), ("NSVariable", .object(NSString(string: name))), ("NSSubexpression", try child(value)),
            ])
        case .fetch(let request, let context, let countOnly):
            return ArchivedFetch([
                type(Kind.fetch), ("NSFetchRequest", try child(request)), ("NSContext", try child(context)),
                ("NSCountOnly", .flag(countOnly)),
            ])
        case .method(let operand, let name, let arguments):
            return function(try child(operand), name, try arguments.map { try node($0, depth: depth + 1) })
        case .block: throw PredicateArchive.unreadable("A block expression cannot be archived")
        case .arithmetic, .negated, .complement, .function, .element, .cast:
            guard let call = tree.asCall else { throw PredicateArchive.unreadable("\(tree) cannot be archived") }
            var arguments = try call.arguments.map { try node($0, depth: depth + 1) }
            if case .element(_, let index) = tree, ExpressionTree.ElementIndex(selector: index.description) != nil {
                arguments[1] = ArchivedSymbol([type(Kind.symbol), ("NSSymbol", .object(NSString(string: index.description)))])
            }
            // Functions are methods of a class that only Apple's framework has.
            let utilities = ArchivedConstantValue([
                type(Kind.constant), ("NSConstantValueClassName", .object(NSString("_NSPredicateUtilities"))),
            ])
            return function(.object(utilities), call.name, arguments)
        }
    }

    private static func keyPath(_ operand: ArchivedNode, _ keys: [String]) -> ArchivedNode {
        let specifier = ArchivedKeyPathSpecifier([
            ("NSExpressionType", .integer(Kind.keyPathSpecifier)), ("NSKeyPath", .object(NSString(string: keys.joined(separator: ".")))),
        ])
        return ArchivedKeyPath([
            ("NSExpressionType", .integer(Kind.keyPath)), ("NSOperand", .object(operand)),
            ("NSSelectorName", .object(NSString(string: keys.count == 1 ? "valueForKey:" : "valueForKeyPath:"))),
            ("NSArguments", .object(NSArray(array: [specifier]))),
        ])
    }

    private static func function(_ operand: ArchivedNode.Field, _ name: String, _ arguments: [ArchivedNode]) -> ArchivedNode {
        ArchivedFunction([
            ("NSExpressionType", .integer(Kind.function)), ("NSOperand", operand), ("NSSelectorName", .object(NSString(string: name))),
            ("NSArguments", .object(NSArray(array: arguments))),
        ])
    }

    /// Foundation's archiver on Linux merges equal objects, and 1, 1.0 and TRUE are equal: a number is therefore archived with its type.
    /// Decimal numbers are not supported by it: they are archived as the nearest binary number, with their digits in addition.
    private static func constantNode(_ value: PropertyValue) throws -> ArchivedNode {
        var fields: [(String, ArchivedNode.Field)] = [("NSExpressionType", .integer(Kind.constant))]
        if case .decimal(let number) = value {
            fields.append(("NSConstantValue", .object(NSNumber(value: value.double ?? 0))))
            fields.append(("PredicatesDecimal", .object(NSString(string: number.description))))
        } else if let object = try constant(value) {
            fields.append(("NSConstantValue", .object(object)))
        }
        if let type = value.numberType { fields.append(("PredicatesNumberType", .integer(type))) }
        return ArchivedConstantValue(fields)
    }

    /// Returns the constant as an object that Foundation can archive.
    private static func constant(_ value: PropertyValue) throws -> NSObject? {
        switch value {
        case .null: return nil
        case .bool(let value): return NSNumber(value: value)
        case .int64(let value): return NSNumber(value: value)
        case .double(let value): return NSNumber(value: value)
        case .decimal: throw PredicateArchive.unreadable("A decimal number within a set cannot be archived")
        case .string(let value): return NSString(string: value)
        case .date(let value): return value as NSDate
        case .data(let value): return value as NSData
        case .uuid(let value): return value as NSUUID
        case .url(let value): return value as NSURL
        case .array(let values): return NSArray(array: try values.map { try constant($0) ?? NSNull() })
        case .set(let values): return NSSet(array: try values.map { try constant($0) ?? NSNull() })
        case .object: throw PredicateArchive.unreadable("\(value.typeName) cannot be archived")
        }
    }
}

extension PropertyValue {
    /// The type of the number, as a code of this framework in archives.
    fileprivate var numberType: Int? {
        switch self {
        case .bool: 1
        case .int64: 2
        case .double: 3
        default: nil
        }
    }

    /// Converts the number to the type that an archive specifies.
    func number(ofType type: Int) -> PropertyValue {
        switch (type, self) {
        case (1, _) where isNumber: .bool(double != 0)
        case (2, .bool), (2, .double): Int64(exactly: double ?? 0).map(PropertyValue.int64) ?? self
        case (3, _) where isNumber: .double(double ?? 0)
        default: self
        }
    }
}
