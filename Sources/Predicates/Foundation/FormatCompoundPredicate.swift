public import Foundation
internal import Platform

/// A compound predicate backed by a tree: the result of `NSPredicate(format: "a == 1 AND b == 2")`.
///
/// It is an `NSCompoundPredicate` whose ``subpredicates`` are created on demand; it is evaluated by its tree. Unlike Foundation's
/// compound predicates, it can be printed and compared.
///
/// Use an instance on any thread, as long as no thread sets its properties.
public final class FormatCompoundPredicate: NSCompoundPredicate, EvaluatedPredicate, NSSecureCoding {
    private struct State {
        var evaluator: PredicateEvaluator
        /// The subpredicates; nil until they are read.
        var parts: [NSPredicate]?
    }
    private let state: LockedBox<State>

    var evaluator: PredicateEvaluator { state.withLock { $0.evaluator } }

    /// Creates a predicate from a tree.
    ///
    /// - Parameter tree: An AND, an OR or a NOT; any other tree becomes the only part of an AND.
    public init(predicateTree tree: PredicateTree) {
        var type = LogicalType.and
        var parts: [NSPredicate]?
        switch tree {
        case .or: type = .or
        case .not: type = .not
        case .and: break
        default: parts = [NSPredicate.made(from: .success(tree))]
        }
        state = LockedBox(State(evaluator: PredicateEvaluator(.success(tree)), parts: parts))
        PredicateArchive.register()
        // Foundation rejects a NOT without a subpredicate; the actual one is created on demand.
        super.init(type: type, subpredicates: type == .not ? [NSPredicate(value: false)] : [])
    }

    /// The subpredicates.
    public override var subpredicates: [NSPredicate] {
        get {
            state.withLock { state in
                if let parts = state.parts { return parts }
                let made: [NSPredicate] =
                    switch try? state.evaluator.result.get() {
                    case .and(let trees)?, .or(let trees)?: trees.map { NSPredicate.made(from: .success($0)) }
                    case .not(let tree)?: [NSPredicate.made(from: .success(tree))]
                    default: []
                    }
                state.parts = made
                return made
            }
        }
        set { rebuild(compoundPredicateType, newValue) }
    }

    /// The kind of compound: AND, OR or NOT.
    public override var compoundPredicateType: LogicalType {
        get { super.compoundPredicateType }
        set {
            let parts = subpredicates
            super.compoundPredicateType = newValue
            rebuild(newValue, parts)
        }
    }

    private func rebuild(_ type: LogicalType, _ newParts: [NSPredicate]) {
        let tree = InvalidPredicateError.catching {
            try NSCompoundPredicate(type: type, subpredicates: newParts).tree()
        }
        // The replaced ones are released outside of the lock: they may be the program's own.
        let replaced = state.withLock { state in
            defer { state = State(evaluator: PredicateEvaluator(tree), parts: newParts) }
            return state
        }
        withExtendedLifetime(replaced) {}
    }

    /// The predicate in canonical format.
    public override var predicateFormat: String { evaluator.format }

    /// The same as ``predicateFormat``.
    public override var description: String { evaluator.format }

    /// Evaluates the predicate with a plain value, a dictionary, or an object; see ``FormatPredicate/evaluate(with:)``.
    public override func evaluate(with object: Any?) -> Bool {
        evaluator.evaluate(object, variables: nil)
    }

    /// Evaluates the predicate with a plain value, a dictionary, or an object.
    ///
    /// - Parameters:
    ///   - object: The value of `SELF`.
    ///   - bindings: The values of the variables, by name.
    /// - Returns: Whether it matches.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluator.evaluate(object, variables: bindings)
    }

    /// Returns whether both predicates have equal trees, regardless of their classes.
    public override func isEqual(_ object: Any?) -> Bool {
        evaluator.isEqual(object)
    }

    /// The hash value, which is the same for equal predicates.
    public override var hash: Int { evaluator.result.hashValue }

    /// Returns a copy with the same tree.
    public override func copy(with zone: NSZone? = nil) -> Any {
        guard let tree = try? evaluator.result.get() else { return self }
        return FormatCompoundPredicate(predicateTree: tree)
    }

    // MARK: Archiving

    /// Whether predicates support secure coding: true.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the predicate in the layout of Apple's archives; see ``PredicateArchive``.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(evaluator.result, with: coder)
    }

    /// Decodes a predicate from an archive of ``encode(with:)``.
    public convenience init?(coder: NSCoder) {
        guard let tree = PredicateArchive.decodePredicate(with: coder) else { return nil }
        self.init(predicateTree: tree)
    }
}

extension FormatCompoundPredicate: PredicateConvertible {
    /// Returns the tree.
    ///
    /// - Throws: The ``InvalidPredicateError`` of a part that could not be parsed.
    public func predicateTree() throws -> PredicateTree {
        try evaluator.result.get()
    }
}
