public import Foundation

/// A predicate that is a tree, which can be read, printed, compared and evaluated.
///
/// `NSPredicate(format:)` makes one: an ``NSComparisonPredicate`` for a comparison, a ``FormatCompoundPredicate`` for AND, OR and NOT, and this
/// class itself for what remains, such as `TRUEPREDICATE`.
///
/// Foundation's own initializer cannot throw, and neither can ours in its place. So a format that does not parse makes a predicate that holds
/// the error in ``Foundation/NSPredicate/parseError``; everything that can throw (``tree()``, compiling, fetching) throws it, and `evaluate(with:)`, which can
/// neither throw nor answer, stops the program with its message, as the uncaught exception does on Apple's platforms.
///
/// An instance never changes and may be used on any thread.
public class FormatPredicate: NSPredicate, EvaluatedPredicate, NSSecureCoding {
    let evaluator: PredicateEvaluator

    /// Reads a format.
    ///
    /// - Parameters:
    ///   - parsing: The format.
    ///   - arguments: What the placeholders stand for.
    public convenience init(parsing format: String, arguments: [Any?]) {
        self.init(PredicateEvaluator(parsing: format, arguments: arguments))
    }

    /// Wraps a tree.
    ///
    /// - Parameter predicateTree: The tree.
    public convenience init(predicateTree: PredicateTree) {
        self.init(PredicateEvaluator(.success(predicateTree)))
    }

    /// Wraps a tree, or why there is none.
    init(_ evaluator: PredicateEvaluator) {
        self.evaluator = evaluator
        PredicateArchive.register()
        // Foundation compares its own predicates by what they were made of: a true one must equal our `TRUEPREDICATE`, and no other.
        switch evaluator.result {
        case .success(.true): super.init(value: true)
        case .success(.false): super.init(value: false)
        default: super.init { _, _ in false }
        }
    }

    /// The canonical format string. For a format that could not be read, the error's message.
    public override var predicateFormat: String { evaluator.format }

    /// The same as ``predicateFormat``.
    public override var description: String { evaluator.format }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// Stops the program when the predicate cannot be evaluated with such a thing; ``Foundation/NSPredicate/matches(_:variables:)`` throws
    /// instead.
    public override func evaluate(with object: Any?) -> Bool {
        evaluator.evaluate(object, variables: nil)
    }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// - Parameters:
    ///   - object: The value that `SELF` stands for.
    ///   - bindings: The values of the variables, by name.
    /// - Returns: Whether it matches.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.evaluate(object, variables: bindings)
    }

    /// Two predicates are equal when their trees are, whatever their classes.
    public override func isEqual(_ object: Any?) -> Bool {
        evaluator.isEqual(object)
    }

    /// Hashes in step with equality.
    public override var hash: Int { evaluator.result.hashValue }

    /// The predicate itself, as it never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    /// Archives are read by their classes only.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the predicate in the layout of Apple's archives; see ``PredicateArchive``.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(evaluator.result, with: coder)
    }

    /// Reads a predicate from an archive that was written by ``encode(with:)``.
    public required convenience init?(coder: NSCoder) {
        let isTrue: Bool? = Self.self == TruePredicate.self ? true : Self.self == FalsePredicate.self ? false : nil
        guard let tree = PredicateArchive.decodePredicate(with: coder, isTrue: isTrue) else { return nil }
        self.init(PredicateEvaluator(.success(tree)))
    }
}

extension FormatPredicate: PredicateConvertible {
    /// The tree.
    ///
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be read.
    public func predicateTree() throws -> PredicateTree {
        try evaluator.result.get()
    }
}
