public import Foundation

/// The predicate that `NSPredicate(format:)` makes: a tree that can be read, printed, compared and evaluated.
///
/// Foundation's own initializer cannot throw, and neither can ours in its place. So a format that does not parse makes a predicate that holds
/// the error in ``Foundation/NSPredicate/parseError``; everything that can throw (``tree()``, compiling, fetching) throws it, and `evaluate(with:)`, which can
/// neither throw nor answer, stops the program with its message, as the uncaught exception does on Apple's platforms.
///
/// An instance never changes and may be used on any thread.
public final class FormatPredicate: NSPredicate {
    private let result: Result<PredicateTree, InvalidPredicateError>
    /// What evaluates plain values, made when it is first needed; it is taken out while in use, as it serves one thread at a time.
    private let evaluators = EvaluatorPool()

    /// Reads a format.
    ///
    /// - Parameters:
    ///   - parsing: The format.
    ///   - arguments: What the placeholders stand for.
    public init(parsing format: String, arguments: [Any?]) {
        do {
            result = .success(try FormatParser.predicate(format, arguments: arguments))
        } catch let error as InvalidPredicateError {
            result = .failure(error)
        } catch {
            result = .failure(InvalidPredicateError(kind: .syntax, message: String(describing: error), format: format))
        }
        super.init(value: false)
    }

    /// Wraps a tree.
    public init(predicateTree: PredicateTree) {
        result = .success(predicateTree)
        super.init(value: false)
    }

    /// A predicate that holds an error.
    init(failure: InvalidPredicateError) {
        result = .failure(failure)
        super.init(value: false)
    }

    /// The canonical format string. For a format that could not be read, the error's message.
    public override var predicateFormat: String {
        switch result {
        case .success(let tree): tree.description
        case .failure(let error): error.description
        }
    }

    /// The same as ``predicateFormat``.
    public override var description: String { predicateFormat }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// Stops the program when the predicate cannot be evaluated with such a thing; ``Foundation/NSPredicate/matches(_:variables:)`` throws
    /// instead.
    public override func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// - Parameters:
    ///   - object: The value that `SELF` stands for.
    ///   - bindings: The values of the variables, by name.
    /// - Returns: Whether it matches.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try answer(object, variables: bindings)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Evaluates, or throws.
    func answer(_ object: Any?, variables: [String: Any]?) throws -> Bool {
        let tree = try result.get()
        if let variables, !variables.isEmpty {
            return try PlainPredicate(tree.substituting(try NSPredicate.expressions(variables))).matches(object)
        }
        let evaluator = try evaluators.take() ?? PlainPredicate(tree)
        defer { evaluators.giveBack(evaluator) }
        return try evaluator.matches(object)
    }

    /// Two predicates are equal when their trees are.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? FormatPredicate)?.result == result
    }

    /// Hashes in step with equality.
    public override var hash: Int { result.hashValue }

    /// The predicate itself, as it never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension FormatPredicate: PredicateConvertible {
    /// The tree.
    ///
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be read.
    public func predicateTree() throws -> PredicateTree {
        try result.get()
    }
}

/// Keeps one evaluator for reuse.
private final class EvaluatorPool: @unchecked Sendable {
    // Unchecked: `idle` is only touched under the lock.
    private let lock = NSLock()
    private var idle: PlainPredicate?

    func take() -> PlainPredicate? {
        lock.withLock {
            defer { idle = nil }
            return idle
        }
    }

    func giveBack(_ evaluator: PlainPredicate) {
        lock.withLock { idle = evaluator }
    }
}
