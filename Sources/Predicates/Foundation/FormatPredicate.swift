public import Foundation

/// A predicate backed by a tree, which can be parsed, printed, compared and evaluated.
///
/// `NSPredicate(format:)` creates one: an ``NSComparisonPredicate`` for a comparison, a ``FormatCompoundPredicate`` for AND, OR and NOT,
/// and this class for others, such as `TRUEPREDICATE`.
///
/// Foundation's initializer cannot throw, so neither can the one here. A format that does not parse creates a predicate that holds the
/// error in ``Foundation/NSPredicate/parseError``; all throwing functions (`tree()`, compilation, fetches) throw it, and
/// `evaluate(with:)` stops the program with its message, where Apple's framework raises an exception.
///
/// An instance is immutable and may be used on any thread.
open class FormatPredicate: NSPredicate, EvaluatedPredicate, NSSecureCoding {
    let evaluator: PredicateEvaluator

    /// Parses a format.
    ///
    /// - Parameters:
    ///   - parsing: The format.
    ///   - arguments: The arguments of the placeholders.
    public convenience init(parsing format: String, arguments: [Any?]) {
        self.init(PredicateEvaluator(parsing: format, arguments: arguments))
    }

    /// Creates a predicate from a tree.
    ///
    /// - Parameter predicateTree: The tree.
    public convenience init(predicateTree: PredicateTree) {
        self.init(PredicateEvaluator(.success(predicateTree)))
    }

    /// Creates a predicate from a tree or a parse error.
    init(_ evaluator: PredicateEvaluator) {
        self.evaluator = evaluator
        PredicateArchive.register()
        // Foundation compares its own predicates by their kind: a true one must equal this framework's `TRUEPREDICATE`, and no other.
        switch evaluator.result {
        case .success(.true): super.init(value: true)
        case .success(.false): super.init(value: false)
        default: super.init { _, _ in false }
        }
    }

    /// The predicate in canonical format. For a format that could not be parsed, the error's message.
    open override var predicateFormat: String { evaluator.format }

    /// The same as ``predicateFormat``.
    open override var description: String { evaluator.format }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// Stops the program when the predicate cannot be evaluated with such an object; ``Foundation/NSPredicate/matches(_:variables:)``
    /// throws instead.
    open override func evaluate(with object: Any?) -> Bool {
        evaluator.evaluate(object, variables: nil)
    }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// - Parameters:
    ///   - object: The value of `SELF`.
    ///   - bindings: The values of the variables, by name.
    /// - Returns: Whether it matches.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.evaluate(object, variables: bindings)
    }

    /// Returns whether both predicates have equal trees, regardless of their classes.
    open override func isEqual(_ object: Any?) -> Bool {
        evaluator.isEqual(object)
    }

    /// The hash value, which is the same for equal predicates.
    open override var hash: Int { evaluator.result.hashValue }

    /// Returns the predicate itself, which is immutable.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    /// Whether predicates support secure coding: true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the predicate in the layout of Apple's archives; see ``PredicateArchive``.
    open func encode(with coder: NSCoder) {
        PredicateArchive.encode(evaluator.result, with: coder)
    }

    /// Decodes a predicate from an archive of ``encode(with:)``.
    public required init?(coder: NSCoder) {
        let isTrue: Bool? = Self.self == TruePredicate.self ? true : Self.self == FalsePredicate.self ? false : nil
        guard let tree = PredicateArchive.decodePredicate(with: coder, isTrue: isTrue) else { return nil }
        evaluator = PredicateEvaluator(.success(tree))
        switch tree {
        case .true: super.init(value: true)
        case .false: super.init(value: false)
        default: super.init { _, _ in false }
        }
    }
}

extension FormatPredicate: PredicateConvertible {
    /// Returns the tree.
    ///
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be parsed.
    public func predicateTree() throws -> PredicateTree {
        try evaluator.result.get()
    }
}
