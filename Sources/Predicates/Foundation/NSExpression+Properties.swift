public import Foundation

extension NSExpression {
    /// The tree of the expression. Stops the program when there is none.
    private var readTree: ExpressionTree {
        switch result {
        case .success(let tree): return tree
        case .failure(let error): stopProgram("\(error)")
        }
    }

    private func missing(_ name: String) -> Never {
        stopProgram("\(self) is an expression that has no \(name)")
    }

    /// The type of the expression.
    public var expressionType: ExpressionType {
        switch readTree {
        case .constant, .numberedConstant: isWritten ? .aggregate : .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath, .navigation: .keyPath
        case .arithmetic, .negated, .complement, .function, .method, .element, .cast: .function
        case .setOperation(.union, _, _): .unionSet
        case .setOperation(.intersect, _, _): .intersectSet
        case .setOperation(.minus, _, _): .minusSet
        case .assignment: .variableAssignment
        case .subquery: .subquery
        case .aggregate: .aggregate
        case .anyKey: .anyKey
        case .block: .block
        case .conditional: .conditional
        case .fetch: .fetchRequest
        }
    }

    /// The value of a constant, with numbers as `NSNumber`; nil for other types.
    public var constantValue: Any? {
        if case .constant(let value) = readTree { return value.any }
        return nil
    }

    /// The keys of a key path, joined by dots.
    public var keyPath: String {
        switch readTree {
        case .keyPath(let keys), .navigation(_, let keys): return keys.joined(separator: ".")
        default: missing("key path")
        }
    }

    /// The name of a function or method; for arithmetic, Apple's name of the function, such as `add:to:`.
    public var function: String {
        guard let call = readTree.asCall else { missing("function") }
        return call.name
    }

    /// The name of a variable, of the variable of a subquery, or of an assigned variable.
    public var variable: String {
        switch readTree {
        case .variable(let name), .assignment(let name, _): return name
        case .subquery(_, let name, _): return name
        default: missing("variable")
        }
    }

    /// The operand of a method or of a key path.
    public var operand: NSExpression {
        switch readTree {
        case .method(let operand, _, _), .navigation(let operand, _): return NSExpression(tree: operand)
        case .keyPath: return NSExpression(tree: .evaluatedObject)
        // Apple's functions are methods of a private class.
        case let tree where tree.asCall != nil: return NSExpression(tree: .constant(.string("_NSPredicateUtilities")))
        default: missing("operand")
        }
    }

    /// The arguments of a function, method or block; nil for other types.
    public var arguments: [NSExpression]? {
        if case .block(_, let arguments) = readTree { return arguments.map(NSExpression.init(tree:)) }
        return readTree.asCall?.arguments.map(NSExpression.init(tree:))
    }

    /// The elements of an aggregate, as an array of expressions; for a subquery, the expression of its collection.
    public var collection: Any {
        switch readTree {
        case .constant(.array(let values)): return values.map { NSExpression(tree: .constant($0)) }
        case .aggregate(let elements): return elements.map(NSExpression.init(tree:))
        case .subquery(let collection, _, _): return NSExpression(tree: collection)
        default: missing("collection")
        }
    }

    /// The predicate of a subquery or a conditional.
    public var predicate: NSPredicate {
        switch readTree {
        case .subquery(_, _, let condition), .conditional(let condition, _, _): return NSPredicate.made(from: .success(condition))
        default: missing("predicate")
        }
    }

    /// The left side of a set expression.
    public var left: NSExpression {
        guard case .setOperation(_, let left, _) = readTree else { missing("left side") }
        return NSExpression(tree: left)
    }

    /// The right side of a set expression.
    public var right: NSExpression {
        guard case .setOperation(_, _, let right) = readTree else { missing("right side") }
        return NSExpression(tree: right)
    }

    /// The expression of a conditional whose predicate matches.
    public var `true`: NSExpression {
        guard case .conditional(_, let value, _) = readTree else { missing("value for true") }
        return NSExpression(tree: value)
    }

    /// The expression of a conditional whose predicate does not match.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let value) = readTree else { missing("value for false") }
        return NSExpression(tree: value)
    }

    /// The block of a block expression.
    public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any? {
        guard case .block(let block, _) = readTree else { missing("block") }
        return { object, arguments, context in
            do {
                return try block.body(object, arguments, context)
            } catch {
                stopProgram("\(error)")
            }
        }
    }
}
