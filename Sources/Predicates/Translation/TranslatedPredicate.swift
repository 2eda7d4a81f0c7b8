public import Foundation

/// The predicate that `NSPredicate(#Predicate { … })` makes.
///
/// It is translated when it is first used: key paths of managed objects have names once a model is loaded, and predicates are often written
/// before that. What cannot be translated surfaces as an error that names the sub-expression, in the same way as a format that does not
/// parse: ``Foundation/NSPredicate/parseError`` holds it, everything that can throw throws it, and `evaluate(with:)` stops the program with
/// its message.
///
/// May be used on any thread.
public final class TranslatedPredicate: NSPredicate {
    private let translation: Translation

    // `lock` guards `result`; `translate` captures nothing but Foundation's predicate, which is immutable.
    private final class Translation: @unchecked Sendable {
        private let translate: () throws -> PredicateTree
        private let lock = NSLock()
        private var result: (tree: PredicateTree, predicate: NSPredicate)?

        init(_ translate: @escaping () throws -> PredicateTree) { self.translate = translate }

        /// The translation. A failure is not kept: it may be that a model is loaded later.
        func get() throws -> (tree: PredicateTree, predicate: NSPredicate) {
            if let result = lock.withLock({ result }) { return result }
            let tree = try translate()
            let translated = (tree, NSPredicate(tree: tree))
            lock.withLock { result = translated }
            return translated
        }
    }

    /// Wraps a predicate.
    ///
    /// - Parameter predicate: The predicate, with one input.
    public init<Input>(_ predicate: Foundation.Predicate<Input>) {
        translation = Translation { try PredicateTree(predicate) }
        super.init(value: false)
    }

    /// The canonical format string. For a predicate that cannot be translated, the error's message.
    public override var predicateFormat: String {
        do {
            return try predicateTree().description
        } catch {
            return "\(error)"
        }
    }

    /// The same as ``predicateFormat``.
    public override var description: String { predicateFormat }

    /// Evaluates the predicate with an object or a plain value.
    ///
    /// Stops the program when the predicate cannot be evaluated with such a thing; ``Foundation/NSPredicate/matches(_:variables:)`` throws
    /// instead.
    public override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    /// Evaluates the predicate with an object or a plain value; it has no variables that could be given values.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try translation.get().predicate.matches(object, variables: bindings)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Two predicates are equal when they can be translated and their trees are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? TranslatedPredicate else { return false }
        if other === self { return true }
        guard let tree = try? predicateTree(), let otherTree = try? other.predicateTree() else { return false }
        return tree == otherTree
    }

    // The tree may not be known yet, and the hash of an object must not change.
    /// The same for all predicates of this class.
    public override var hash: Int { ObjectIdentifier(TranslatedPredicate.self).hashValue }

    /// The predicate itself, as it never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension TranslatedPredicate: PredicateConvertible {
    /// The tree.
    ///
    /// - Throws: ``InvalidPredicateError`` naming the sub-expression that has no translation.
    public func predicateTree() throws -> PredicateTree { try translation.get().tree }
}

extension PredicateTree {
    /// Translates a predicate of `#Predicate`.
    ///
    /// The tree gives the same answers as the predicate itself, also where values are nil.
    ///
    /// - Parameter predicate: The predicate, with one input.
    /// - Throws: ``InvalidPredicateError`` naming the sub-expression that has no counterpart in the predicate language, or the key path that has
    ///   no name.
    public init<Input>(_ predicate: Foundation.Predicate<Input>) throws {
        let translation = PredicateTranslation()
        translation.bind(predicate.variable, to: .evaluatedObject, name: "$0")
        self = try translation.predicate(predicate.expression)
    }
}

extension ExpressionTree {
    /// Translates an expression of `#Expression`.
    ///
    /// - Parameter expression: The expression, with one input.
    /// - Throws: ``InvalidPredicateError`` naming the sub-expression that has no counterpart in the predicate language, or the key path that has
    ///   no name.
    public init<Input, Output>(_ expression: Foundation.Expression<Input, Output>) throws {
        let translation = PredicateTranslation()
        translation.bind(expression.variable, to: .evaluatedObject, name: "$0")
        self = try translation.expression(expression.expression)
    }
}

extension PredicateFactory where Self: NSPredicate {
    /// Makes a predicate from one of `#Predicate`.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(#Predicate<Album> { $0.year > 2000 && $0.title.localizedStandardContains("dawn") })
    /// ```
    ///
    /// The result is optional only because it is on Apple's platforms. Here it is never nil: a nil predicate of a fetch request would
    /// match everything. What cannot be translated makes a predicate that holds the error: see ``TranslatedPredicate``. Where an error should be
    /// caught at once, use ``init(translating:)``.
    ///
    /// - Parameter predicate: The predicate.
    public init?<Input>(_ predicate: Foundation.Predicate<Input>) {
        let translated = TranslatedPredicate(predicate)
        // A compound predicate is asked for by its own class; it then wraps the translation.
        self = translated as? Self ?? NSCompoundPredicate(andPredicateWithSubpredicates: [translated]) as! Self
    }

    /// Makes a predicate from one of `#Predicate`, or throws.
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: ``InvalidPredicateError`` naming the sub-expression that has no counterpart in the predicate language, or the key path that has
    ///   no name: for managed objects, also while no model with their entity is loaded.
    public init<Input>(translating predicate: Foundation.Predicate<Input>) throws {
        self.init(tree: try PredicateTree(predicate))
    }
}
