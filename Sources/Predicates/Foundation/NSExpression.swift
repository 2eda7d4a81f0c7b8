public import Foundation

/// An expression: a side of a comparison, or what a fetch is asked to compute.
///
/// It has the name and the members of Apple's class. Foundation on Linux has a class of that name too, which can do nothing and cannot be
/// subclassed; a file that imports Foundation besides says which it means: `typealias NSExpression = Predicates.NSExpression`.
///
/// A member that the kind of expression does not have stops the program, where Apple's class raises an exception. An instance never changes and
/// may be used on any thread.
///
/// Follows `NSExpression` in Apple's documentation of Foundation.
public final class NSExpression: NSObject, NSCopying, NSSecureCoding {
    /// What an expression is.
    public enum ExpressionType: UInt, Sendable {
        /// A value.
        case constantValue = 0
        /// `SELF`
        case evaluatedObject = 1
        /// `$name`
        case variable = 2
        /// A key path.
        case keyPath = 3
        /// A function, calculation, cast or element.
        case function = 4
        /// `a UNION b`
        case unionSet = 5
        /// `a INTERSECT b`
        case intersectSet = 6
        /// `a MINUS b`
        case minusSet = 7
        /// `$name := value`, which Apple keeps to itself.
        case variableAssignment = 12
        /// `SUBQUERY(…)`
        case subquery = 13
        /// `{a, b}`
        case aggregate = 14
        /// `ANYKEY`
        case anyKey = 15
        /// Code.
        case block = 19
        /// `TERNARY(…)`
        case conditional = 20
        /// `FETCH(…)`; Apple has it as `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }

    let result: Result<ExpressionTree, InvalidPredicateError>
    /// Whether constants in a collection were given one by one, which the tree does not tell from a constant collection.
    let isWritten: Bool

    init(_ result: Result<ExpressionTree, InvalidPredicateError>, isWritten: Bool = false) {
        self.result = result
        self.isWritten = isWritten
        PredicateArchive.register()
    }

    /// Wraps a tree.
    ///
    /// - Parameter tree: The tree.
    public convenience init(tree: ExpressionTree) {
        self.init(.success(tree))
    }

    /// The tree.
    ///
    /// - Returns: The tree, which every reader of predicates works from.
    /// - Throws: The ``InvalidPredicateError`` of a format or value that could not be read.
    public func tree() throws -> ExpressionTree {
        try result.get()
    }

    /// Why the expression could not be read, or nil.
    public var parseError: InvalidPredicateError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// Evaluates the expression.
    ///
    /// Stops the program when it cannot be evaluated with such an object; ``value(with:context:)`` throws instead.
    ///
    /// - Parameters:
    ///   - object: What `SELF` stands for: a plain value, a dictionary or an object.
    ///   - context: The values of variables by their names; it is handed on to blocks.
    /// - Returns: The value.
    public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        do {
            return try value(with: object, context: context)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Evaluates the expression, or throws.
    ///
    /// - Parameters:
    ///   - object: What `SELF` stands for: a plain value, a dictionary or an object.
    ///   - context: The values of variables by their names; it is handed on to blocks.
    /// - Returns: The value; numbers as `NSNumber`, collections as arrays or sets.
    /// - Throws: ``InvalidPredicateError``.
    public func value(with object: Any?, context: NSMutableDictionary? = nil) throws -> Any? {
        var tree = try tree()
        var variables: [String: Any] = [:]
        for case (let name as String, let value) in context ?? [:] { variables[name] = value }
        if !variables.isEmpty { tree = tree.substituting(try NSPredicate.expressions(variables)) }
        let compiler = PredicateCompiler(schema: PlainSchema.shared, logic: .twoValued)
        compiler.surroundings = context
        let read = try compiler.operand(tree, clause: tree.description).scalar()
        let box = PlainValue(original: object, value: try PropertyValue(plain: object))
        return try withExtendedLifetime((box, compiler)) { try read(box.subject).any }
    }

    /// The expression as it is written in a format string. For one that could not be read, the error's message.
    public override var description: String {
        switch result {
        case .success(let tree): tree.description
        case .failure(let error): error.description
        }
    }

    /// Two expressions are equal when their trees are.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSExpression)?.result == result
    }

    /// Hashes in step with equality.
    public override var hash: Int { result.hashValue }

    /// The expression itself, as it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    /// Archives are read by their classes only.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the expression in the layout of Apple's archives; see ``PredicateArchive``.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(result, with: coder)
    }

    /// Reads an expression from an archive that was written by ``encode(with:)``.
    public convenience init?(coder: NSCoder) {
        guard let tree = PredicateArchive.decodeExpression(with: coder) else { return nil }
        self.init(tree: tree)
    }
}

extension NSExpression: ExpressionConvertible {
    /// The tree; of an expression that could not be read, a function that names the error when it is compiled.
    public var expressionTree: ExpressionTree {
        switch result {
        case .success(let tree): tree
        case .failure(let error): .function(error.message, [])
        }
    }
}
