internal import Foundation

/// The semantics of comparisons with nil.
public enum NilLogic: Hashable, Sendable {
    /// SQL's semantics, and those of Core Data's SQLite store: comparing nil with a value is neither true nor false, and neither is its
    /// negation; a predicate that is not true does not match. `x != 5` and `NOT x == 5` exclude the rows in which `x` is nil.
    case threeValued
    /// Foundation's semantics in memory: nil differs from every value and equals nil; every other comparison with it is false.
    case twoValued
}

/// A predicate compiled for the subjects of one schema.
///
/// Compilation finds every error that can be found without a subject. Use a compiled predicate on one thread at a time; it retains the
/// schemas that it was compiled for.
public struct CompiledPredicate {
    @usableFromInline let test: (PredicateSubject) throws -> Bool
    /// Retains the objects that the test refers to, and returns reusable parts to the predicate.
    @usableFromInline let owner: AnyObject

    init(test: @escaping (PredicateSubject) throws -> Bool, owner: AnyObject) {
        self.test = test
        self.owner = owner
    }

    /// Returns whether a subject matches.
    ///
    /// - Parameter subject: A subject of the schema that the predicate was compiled for.
    /// - Returns: Whether it matches; an unknown result is false.
    /// - Throws: The errors of the schema's closures, and ``InvalidPredicateError`` if types found at run time do not fit a clause.
    @inlinable public func matches(_ subject: PredicateSubject) throws -> Bool {
        try withExtendedLifetime(owner) { try test(subject) }
    }

    /// Works like ``matches(_:)`` for many subjects, without retaining the predicate for each.
    ///
    /// The caller keeps the predicate alive until the last call, with `withExtendedLifetime`.
    ///
    /// - Parameter subject: A subject of the schema that the predicate was compiled for.
    /// - Returns: Whether it matches; an unknown result is false.
    /// - Throws: The errors of ``matches(_:)``.
    @inlinable package func matchesUnretained(_ subject: PredicateSubject) throws -> Bool { try test(subject) }
}

extension PredicateTree {
    /// Compiles the predicate for the subjects of a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema of the subjects.
    ///   - logic: The semantics of comparisons with nil.
    /// - Returns: The compiled predicate.
    /// - Throws: ``InvalidPredicateError`` naming the clause: for an unknown key, a variable without a value, an invalid regular
    ///   expression, or a clause that cannot be evaluated.
    public func compiled(for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws -> CompiledPredicate {
        WorkCount.compilation()
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        return CompiledPredicate(test: try compiler.test(self, expecting: true), owner: compiler)
    }
}

/// An expression compiled for the subjects of one schema: a key path such as `band.name` or `tracks.@count`, or any other expression.
///
/// Use a compiled key path on one thread at a time.
public struct CompiledKeyPath {
    private let read: (PredicateSubject) throws -> PropertyValue
    /// Retains the objects that the closure refers to.
    private let owner: AnyObject

    /// Compiles a key path.
    ///
    /// - Parameters:
    ///   - keyPath: Keys joined by dots, possibly with collection operators.
    ///   - schema: The schema of the subjects.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown.
    public init(_ keyPath: String, for schema: any PredicateSchema) throws {
        try self.init(.path(keyPath), for: schema)
    }

    /// Compiles an expression.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - schema: The schema of the subjects.
    ///   - logic: The semantics of comparisons with nil in predicates within the expression.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown or a part cannot be evaluated.
    public init(_ expression: ExpressionTree, for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws {
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        read = try compiler.operand(expression, clause: expression.description).scalar()
        owner = compiler
    }

    /// Reads the value.
    ///
    /// - Parameter subject: A subject of the schema.
    /// - Returns: The value; for a path over a to-many relationship, an array.
    /// - Throws: The errors of the schema's closures.
    public func value(of subject: PredicateSubject) throws -> PropertyValue {
        try withExtendedLifetime(owner) { try read(subject) }
    }
}
