public import Foundation
internal import Platform

/// The predicate that `NSPredicate(#Predicate { … })` creates.
///
/// It is translated when it is first used: key paths of managed objects have names once a model is loaded, and predicates are often
/// created before that. An unsupported expression is reported like a format that does not parse, with an error that names the
/// subexpression: ``Foundation/NSPredicate/parseError`` holds it, all throwing functions throw it, and `evaluate(with:)` stops the
/// program with its message.
///
/// Use it on any thread.
public final class TranslatedPredicate: NSPredicate {
    private let translation: Translation

    // The lock of `result` guards it; `translate` captures only Foundation's predicate, which is immutable.
    private final class Translation: @unchecked Sendable {
        private let translate: () throws -> PredicateTree
        private let result = LockedBox<(tree: PredicateTree, predicate: NSPredicate)?>(nil)

        init(_ translate: @escaping () throws -> PredicateTree) { self.translate = translate }

        /// Returns the translation. A failure is not cached, because a model may be loaded later.
        func get() throws -> (tree: PredicateTree, predicate: NSPredicate) {
            if let result = result.withLock({ $0 }) { return result }
            let tree = try translate()
            let translated = (tree, NSPredicate(tree: tree))
            result.withLock { $0 = translated }
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

    /// The predicate in canonical format. For a predicate that cannot be translated, the error's message.
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
    /// Stops the program when the predicate cannot be evaluated with such an object; ``Foundation/NSPredicate/matches(_:variables:)``
    /// throws instead.
    public override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

    /// Evaluates the predicate with an object or a plain value; it has no variables.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        do {
            return try translation.get().predicate.matches(object, variables: bindings)
        } catch {
            stopProgram("\(error)")
        }
    }

    /// Returns whether both predicates can be translated and have equal trees.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? TranslatedPredicate else { return false }
        if other === self { return true }
        guard let tree = try? predicateTree(), let otherTree = try? other.predicateTree() else { return false }
        return tree == otherTree
    }

    // The tree may not be known yet, and the hash of an object must not change.
    /// The hash value, which is the same for all predicates of this class.
    public override var hash: Int { ObjectIdentifier(TranslatedPredicate.self).hashValue }

    /// Returns the predicate itself, which is immutable.
    public override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension TranslatedPredicate: PredicateConvertible {
    /// Returns the tree.
    ///
    /// - Throws: ``InvalidPredicateError`` naming the subexpression that cannot be translated.
    public func predicateTree() throws -> PredicateTree { try translation.get().tree }
}

extension PredicateTree {
    /// Translates a predicate of `#Predicate`.
    ///
    /// The tree has the same results as the predicate, also for nil values.
    ///
    /// - Parameter predicate: The predicate, with one input.
    /// - Throws: ``InvalidPredicateError`` naming the subexpression without a counterpart in the predicate language, or the key path
    ///   without a name.
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
    /// - Throws: ``InvalidPredicateError`` naming the subexpression without a counterpart in the predicate language, or the key path
    ///   without a name.
    public init<Input, Output>(_ expression: Foundation.Expression<Input, Output>) throws {
        let translation = PredicateTranslation()
        translation.bind(expression.variable, to: .evaluatedObject, name: "$0")
        self = try translation.expression(expression.expression)
    }
}

extension PredicateFactory where Self: NSPredicate {
    /// Creates a predicate from a `#Predicate`.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(#Predicate<Album> { $0.year > 2000 && $0.title.localizedStandardContains("dawn") })
    /// ```
    ///
    /// The result is optional only because it is on Apple's platforms. Here it is never nil: a nil predicate in a fetch request would
    /// match everything. A predicate that cannot be translated holds the error: see ``TranslatedPredicate``. To catch the error at once,
    /// use ``init(translating:)``.
    ///
    /// - Parameter predicate: The predicate.
    public init?<Input>(_ predicate: Foundation.Predicate<Input>) {
        let translated = TranslatedPredicate(predicate)
        // A compound predicate is requested by its own class; it then wraps the translation.
        self = translated as? Self ?? NSCompoundPredicate(andPredicateWithSubpredicates: [translated]) as! Self
    }

    /// Creates a predicate from a `#Predicate`, or throws.
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: ``InvalidPredicateError`` naming the subexpression without a counterpart in the predicate language, or the key path
    ///   without a name: for managed objects, also while no model with their entity is loaded.
    public init<Input>(translating predicate: Foundation.Predicate<Input>) throws {
        self.init(tree: try PredicateTree(predicate))
    }
}
