public import Foundation

/// An expression: a side of a comparison, or a value for a fetch to compute.
///
/// It has the name and the members of Apple's class. The class of that name in Foundation on Linux is not usable and cannot be
/// subclassed; a file that also imports Foundation resolves the ambiguity with `typealias NSExpression = Predicates.NSExpression`.
///
/// A member that the type of expression does not have stops the program; Apple's class raises an exception. An instance is immutable and may be used
/// on any thread.
///
/// Follows `NSExpression` in Apple's documentation of Foundation.
public final class NSExpression: NSObject, NSCopying, NSSecureCoding {
    /// The types of expression.
    public enum ExpressionType: UInt, Sendable {
        /// A value.
        case constantValue = 0
        /// `SELF`
        case evaluatedObject = 1
        /// `$name`
        case variable = 2
        /// A key path.
        case keyPath = 3
        /// A function, arithmetic, a cast or an element.
        case function = 4
        /// `a UNION b`
        case unionSet = 5
        /// `a INTERSECT b`
        case intersectSet = 6
        /// `a MINUS b`
        case minusSet = 7
        /// `$name := value`, which is private in Apple's class.
        case variableAssignment = 12
        /// `SUBQUERY(…)`
        case subquery = 13
        /// `{a, b}`
        case aggregate = 14
        /// `ANYKEY`
        case anyKey = 15
        /// A block.
        case block = 19
        /// `TERNARY(…)`
        case conditional = 20
        /// `FETCH(…)`; `NSFetchRequestExpressionType` on Apple's platforms.
        case fetchRequest = 50
    }

    private enum Content {
        case parsed(Result<ExpressionTree, InvalidPredicateError>)
        /// A Swift key path, whose name is determined when it is needed.
        case swiftKeyPath(AnyKeyPath)
    }
    private let content: Content
    var result: Result<ExpressionTree, InvalidPredicateError> {
        switch content {
        case .parsed(let result): result
        case .swiftKeyPath(let keyPath):
            InvalidPredicateError.catching {
                let names = try KeyPathNames.names(of: keyPath)
                return names.isEmpty ? .evaluatedObject : .keyPath(names)
            }
        }
    }
    /// Whether the constants of a collection were given one by one, which the tree does not distinguish from a constant collection.
    let isWritten: Bool

    init(_ result: Result<ExpressionTree, InvalidPredicateError>, isWritten: Bool = false) {
        content = .parsed(result)
        self.isWritten = isWritten
        PredicateArchive.register()
    }

    init(swiftKeyPath keyPath: AnyKeyPath) {
        content = .swiftKeyPath(keyPath)
        isWritten = false
        PredicateArchive.register()
    }

    /// Creates an expression from a tree.
    ///
    /// - Parameter tree: The tree.
    public convenience init(tree: ExpressionTree) {
        self.init(.success(tree))
    }

    /// Returns the tree.
    ///
    /// - Returns: The tree, the representation for all code that processes predicates.
    /// - Throws: The ``InvalidPredicateError`` of a format or value that could not be parsed.
    public func tree() throws -> ExpressionTree {
        try result.get()
    }

    /// The error of an expression that could not be parsed, or nil.
    public var parseError: InvalidPredicateError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// Evaluates the expression.
    ///
    /// Stops the program when it cannot be evaluated with such an object; ``value(with:context:)`` throws instead.
    ///
    /// - Parameters:
    ///   - object: The value of `SELF`: a plain value, a dictionary or an object.
    ///   - context: The values of variables by name, also passed to blocks.
    /// - Returns: The value.
    public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        do {
            return try value(with: object, context: context)
        } catch {
            stopProgram("\(error)")
        }
    }

    /// Evaluates the expression, or throws.
    ///
    /// - Parameters:
    ///   - object: The value of `SELF`: a plain value, a dictionary or an object.
    ///   - context: The values of variables by name, also passed to blocks.
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

    /// The expression in the format language. For an expression that could not be parsed, the error's message.
    public override var description: String {
        switch result {
        case .success(let tree): tree.description
        case .failure(let error): error.description
        }
    }

    /// Returns whether both expressions have equal trees.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSExpression)?.result == result
    }

    /// The hash value, which is the same for equal expressions.
    public override var hash: Int { result.hashValue }

    /// Returns the expression itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    /// Whether expressions support secure coding: true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the expression in the layout of Apple's archives; see ``PredicateArchive``.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(result, with: coder)
    }

    /// Decodes an expression from an archive of ``encode(with:)``.
    public convenience init?(coder: NSCoder) {
        guard let tree = PredicateArchive.decodeExpression(with: coder) else { return nil }
        self.init(tree: tree)
    }
}

extension NSExpression: ExpressionConvertible {
    /// The tree; for an expression that could not be parsed, a function that reports the error when it is compiled.
    public var expressionTree: ExpressionTree {
        switch result {
        case .success(let tree): tree
        case .failure(let error): .function(error.message, [])
        }
    }
}
