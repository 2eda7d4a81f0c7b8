public import Foundation

extension NSExpression {
    /// Parses an expression in the format language.
    ///
    /// An expression that does not parse holds the error in ``parseError``; ``init(parsing:_:)`` throws it.
    ///
    /// - Parameters:
    ///   - expressionFormat: The expression, such as `tracks.@sum.length / 60`.
    ///   - arguments: The arguments of the placeholders, in order.
    public convenience init(format expressionFormat: String, _ arguments: Any?...) {
        self.init(expressionFormat, arguments)
    }

    /// Parses an expression in the format language with its arguments in an array.
    ///
    /// - Parameters:
    ///   - expressionFormat: The expression.
    ///   - arguments: The arguments of the placeholders, in order.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(expressionFormat, arguments)
    }

    private convenience init(_ format: String, _ arguments: [Any?]) {
        self.init(InvalidPredicateError.catching(format: format) { try FormatParser.expression(format, arguments: arguments) })
    }

    /// Parses an expression in the format language, or throws.
    ///
    /// - Parameters:
    ///   - expressionFormat: The expression.
    ///   - arguments: The arguments of the placeholders, in order.
    /// - Throws: ``InvalidPredicateError``.
    public convenience init(parsing expressionFormat: String, _ arguments: Any?...) throws {
        self.init(tree: try FormatParser.expression(expressionFormat, arguments: arguments))
    }

    /// Creates an expression for a constant value.
    ///
    /// - Parameter value: A value that ``PropertyValue`` supports, or nil.
    public convenience init(forConstantValue value: Any?) {
        self.init(InvalidPredicateError.catching { .constant(try PropertyValue(any: value)) })
    }

    /// Returns an expression for the evaluated object: `SELF`.
    public static func expressionForEvaluatedObject() -> NSExpression { NSExpression(tree: .evaluatedObject) }

    /// Returns an expression for any key: `ANYKEY`.
    public static func expressionForAnyKey() -> NSExpression { NSExpression(tree: .anyKey) }

    /// Creates an expression for a variable: `$name`.
    ///
    /// - Parameter variable: The name without the dollar sign.
    public convenience init(forVariable variable: String) {
        self.init(tree: .variable(variable))
    }

    /// Creates an expression for a key path.
    ///
    /// - Parameter keyPath: Keys joined by dots.
    public convenience init(forKeyPath keyPath: String) {
        self.init(tree: .path(keyPath))
    }

    /// Creates an expression for a Swift key path.
    ///
    /// - Parameter keyPath: The key path, such as `\Track.album?.title`. Its name is determined when it is needed: see ``KeyPathNames``. A key path
    ///   without a name is an error when the expression is evaluated.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(swiftKeyPath: keyPath)
    }

    /// Creates an expression for a function by name, such as `sum:` or `add:to:`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - parameters: The arguments.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        self.init(
            InvalidPredicateError.catching { ExpressionTree.function(named: name, try NSExpression.trees(parameters)) })
    }

    /// Creates an expression for a method of an operand.
    ///
    /// - Parameters:
    ///   - target: The operand.
    ///   - name: The name of the method, such as `substringFromIndex:`.
    ///   - parameters: The arguments.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        self.init(
            InvalidPredicateError.catching { .method(try target.tree(), name, try NSExpression.trees(parameters ?? [])) })
    }

    /// Creates an expression for a collection of expressions.
    ///
    /// - Parameter subexpressions: The elements; an element that is not an expression becomes a constant.
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(
            InvalidPredicateError.catching {
                let elements = try NSExpression.trees(subexpressions)
                let constants = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
                return constants.count == elements.count ? .constant(.array(constants)) : .aggregate(elements)
            }, isWritten: true)
    }

    /// Creates an expression for a union: `left UNION right`.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(InvalidPredicateError.catching { .setOperation(.union, try left.tree(), try right.tree()) })
    }

    /// Creates an expression for an intersection: `left INTERSECT right`.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(InvalidPredicateError.catching { .setOperation(.intersect, try left.tree(), try right.tree()) })
    }

    /// Creates an expression for a difference: `left MINUS right`.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(InvalidPredicateError.catching { .setOperation(.minus, try left.tree(), try right.tree()) })
    }

    /// Creates an expression for the elements of a collection that match a predicate.
    ///
    /// - Parameters:
    ///   - expression: The collection.
    ///   - variable: The name of the variable for an element, without the dollar sign.
    ///   - predicate: The predicate of the elements.
    public convenience init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
        self.init(
            InvalidPredicateError.catching { .subquery(try expression.tree(), variable: variable, try predicate.tree()) })
    }

    /// Creates an expression that is one of two expressions.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - trueExpression: The expression if the condition is true.
    ///   - falseExpression: The expression otherwise.
    public convenience init(forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression) {
        self.init(
            InvalidPredicateError.catching { .conditional(try predicate.tree(), try trueExpression.tree(), try falseExpression.tree()) })
    }

    /// Creates an expression that a block computes.
    ///
    /// - Parameters:
    ///   - block: Computes the value from the evaluated object, the values of the arguments (`NSNull` for nil) and the context.
    ///   - arguments: The arguments.
    public convenience init(block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?) {
        let code = ExpressionBlock { object, arguments, context in block(object, arguments.map { $0 ?? NSNull() }, context) }
        self.init(InvalidPredicateError.catching { .block(code, try (arguments ?? []).map { try $0.tree() }) })
    }

    private static func trees(_ elements: [Any]) throws -> [ExpressionTree] {
        try elements.map { element in
            if let expression = element as? NSExpression { return try expression.tree() }
            if let tree = element as? ExpressionTree { return tree }
            return .constant(try PropertyValue(any: element))
        }
    }
}
