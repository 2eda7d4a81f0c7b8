public import Foundation

/// An AND, OR or NOT that is a tree: what `NSPredicate(format: "a == 1 AND b == 2")` makes.
///
/// It is an `NSCompoundPredicate`, with ``subpredicates`` that are made when they are asked for; it evaluates by its tree, not by them.
/// Foundation's own compound predicates cannot print or compare themselves; this one can.
///
/// An instance may be used on any thread, as long as none sets its properties.
public final class FormatCompoundPredicate: NSCompoundPredicate, EvaluatedPredicate, NSSecureCoding {
    private let lock = NSLock()
    private var current: PredicateEvaluator
    private var parts: [NSPredicate]?

    var evaluator: PredicateEvaluator { lock.withLock { current } }

    /// Wraps a tree.
    ///
    /// - Parameter tree: An AND, an OR or a NOT; any other tree becomes the only part of an AND.
    public init(predicateTree tree: PredicateTree) {
        var type = LogicalType.and
        switch tree {
        case .or: type = .or
        case .not: type = .not
        case .and: break
        default: parts = [NSPredicate.made(from: .success(tree))]
        }
        current = PredicateEvaluator(.success(tree))
        PredicateArchive.register()
        // Foundation refuses a NOT without a part; the real one is made when asked for.
        super.init(type: type, subpredicates: type == .not ? [NSPredicate(value: false)] : [])
    }

    /// The parts, as predicates.
    public override var subpredicates: [NSPredicate] {
        get {
            lock.withLock {
                if let parts { return parts }
                let made: [NSPredicate] =
                    switch try? current.result.get() {
                    case .and(let trees)?, .or(let trees)?: trees.map { NSPredicate.made(from: .success($0)) }
                    case .not(let tree)?: [NSPredicate.made(from: .success(tree))]
                    default: []
                    }
                parts = made
                return made
            }
        }
        set { rebuild(compoundPredicateType, newValue) }
    }

    /// Which of AND, OR and NOT it is.
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
        lock.withLock {
            parts = newParts
            current = PredicateEvaluator(tree)
        }
    }

    /// The canonical format string.
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

    /// A predicate of its own with the same tree.
    public override func copy(with zone: NSZone? = nil) -> Any {
        guard let tree = try? evaluator.result.get() else { return self }
        return FormatCompoundPredicate(predicateTree: tree)
    }

    // MARK: Archiving

    /// Archives are read by their classes only.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the predicate in the layout of Apple's archives; see ``PredicateArchive``.
    public func encode(with coder: NSCoder) {
        PredicateArchive.encode(evaluator.result, with: coder)
    }

    /// Reads a predicate from an archive that was written by ``encode(with:)``.
    public convenience init?(coder: NSCoder) {
        guard let tree = PredicateArchive.decodePredicate(with: coder) else { return nil }
        self.init(predicateTree: tree)
    }
}

extension FormatCompoundPredicate: PredicateConvertible {
    /// The tree.
    ///
    /// - Throws: The ``InvalidPredicateError`` of a part that could not be read.
    public func predicateTree() throws -> PredicateTree {
        try evaluator.result.get()
    }
}
