public import Foundation

/// What comparing with nil means.
public enum NilLogic: Hashable, Sendable {
    /// As in SQL, and so in Core Data's SQLite store: comparing nil with a value is neither true nor false, and neither is its negation;
    /// what is not true does not match. `x != 5` and `NOT x == 5` leave out the rows in which `x` is nil.
    case threeValued
    /// As Foundation does in memory: nil differs from every value and equals nil; every other comparison with it is false.
    case twoValued
}

/// A predicate made ready for the subjects of one schema.
///
/// Compiling finds every error that can be found without a subject. A compiled predicate serves one thread at a time, and keeps the schemas
/// alive that it was compiled for.
public struct CompiledPredicate {
    @usableFromInline let test: (PredicateSubject) throws -> Bool
    /// Owns what the test refers to, and gives what can be used again back to the predicate it came from.
    @usableFromInline let owner: AnyObject

    init(test: @escaping (PredicateSubject) throws -> Bool, owner: AnyObject) {
        self.test = test
        self.owner = owner
    }

    /// Answers whether a subject matches.
    ///
    /// - Parameter subject: A subject of the schema that the predicate was compiled for.
    /// - Returns: Whether it matches; an unknown answer is no.
    /// - Throws: What the schema's closures throw, and ``InvalidPredicateError`` where types that are known only now do not fit a clause.
    @inlinable public func matches(_ subject: PredicateSubject) throws -> Bool {
        try withExtendedLifetime(owner) { try test(subject) }
    }

    /// As ``matches(_:)``, for many subjects in a row: the predicate is not kept alive for each of them.
    ///
    /// The caller holds on to the predicate until it has asked for the last, with `withExtendedLifetime`.
    ///
    /// - Parameter subject: A subject of the schema that the predicate was compiled for.
    /// - Returns: Whether it matches; an unknown answer is no.
    /// - Throws: As ``matches(_:)``.
    @inlinable package func matchesWhileHeld(_ subject: PredicateSubject) throws -> Bool { try test(subject) }
}

extension PredicateTree {
    /// Makes the predicate ready for the subjects of a schema.
    ///
    /// - Parameters:
    ///   - schema: What the predicate will look at.
    ///   - logic: What comparing with nil means.
    /// - Returns: The compiled predicate.
    /// - Throws: ``InvalidPredicateError`` naming the clause: for an unknown key, a variable without a value, an invalid regular expression, or a
    ///   clause that cannot be evaluated.
    public func compiled(for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws -> CompiledPredicate {
        WorkCount.compilation()
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        return CompiledPredicate(test: try compiler.test(self, expecting: true), owner: compiler)
    }
}

extension NSPredicate {
    /// Makes the predicate ready for the subjects of a schema.
    ///
    /// A predicate from a format or a tree is compiled once for a schema and used again, also as a part of Foundation's compound predicates.
    /// It keeps no schema alive.
    ///
    /// - Parameters:
    ///   - schema: What the predicate will look at.
    ///   - logic: What comparing with nil means.
    /// - Returns: The compiled predicate.
    /// - Throws: ``InvalidPredicateError``, also that of a format that could not be read.
    public func compiled(for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws -> CompiledPredicate {
        let owner = LeaseOwner()
        let test = try test(for: schema, logic: logic, expecting: true, depth: 0, owner: owner)
        return CompiledPredicate(test: test.closure, owner: owner)
    }

    /// Puts the test together from those of the parts, as far as the parts are predicates of ours.
    private func test(
        for schema: any PredicateSchema, logic: NilLogic, expecting expected: Bool, depth: Int, owner: LeaseOwner
    ) throws -> CompiledTest {
        if let predicate = self as? any EvaluatedPredicate {
            let lease = try predicate.evaluator.lease(for: schema, logic: logic, expecting: expected)
            owner.leases.append(lease)
            return lease.test.test
        }
        guard depth <= PredicateLimits.nesting else {
            throw InvalidPredicateError(kind: .tooDeep, message: "The predicate nests deeper than \(PredicateLimits.nesting) levels")
        }
        guard !(self is any PredicateConvertible), let compound = self as? NSCompoundPredicate else {
            WorkCount.compilation()
            let compiler = PredicateCompiler(schema: schema, logic: logic)
            owner.leases.append(compiler)
            return try compiler.compiled(tree(), expecting: expected)
        }
        let parts = compound.subpredicates
        guard compound.compoundPredicateType != .not || parts.count == 1 else {
            throw InvalidPredicateError(kind: .unsupported, message: "A NOT predicate has \(parts.count) parts instead of one")
        }
        let isNot = compound.compoundPredicateType == .not
        let tests = try parts.map {
            try $0.test(for: schema, logic: logic, expecting: isNot != expected, depth: depth + 1, owner: owner)
        }
        switch compound.compoundPredicateType {
        case .not: return tests[0]
        case .and: return CompiledTest.junction(tests, sufficesOne: !expected)
        case .or: return CompiledTest.junction(tests, sufficesOne: expected)
        @unknown default: throw InvalidPredicateError(kind: .unsupported, message: "A compound predicate is of an unknown type")
        }
    }
}

/// Owns what the parts of a test refer to.
private final class LeaseOwner {
    var leases: [AnyObject] = []
}

/// An expression made ready for the subjects of one schema: a key path such as `band.name` or `tracks.@count`, or any calculation.
///
/// A compiled key path serves one thread at a time.
public struct CompiledKeyPath {
    private let read: (PredicateSubject) throws -> PropertyValue
    /// Owns what the closure refers to.
    private let owner: AnyObject

    /// Makes a key path ready.
    ///
    /// - Parameters:
    ///   - keyPath: Keys joined by dots, collection operators among them.
    ///   - schema: What it will be read from.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown.
    public init(_ keyPath: String, for schema: any PredicateSchema) throws {
        try self.init(.path(keyPath), for: schema)
    }

    /// Makes an expression ready.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - schema: What it will be read from.
    ///   - logic: What comparing with nil means in predicates within the expression.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown or a part cannot be evaluated.
    public init(_ expression: ExpressionTree, for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws {
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        read = try compiler.operand(expression, clause: expression.description).scalar()
        owner = compiler
    }

    /// Reads the value.
    ///
    /// - Parameter subject: A subject of the schema.
    /// - Returns: The value; of a path over a to-many relationship, an array.
    /// - Throws: What the schema's closures throw.
    public func value(of subject: PredicateSubject) throws -> PropertyValue {
        try withExtendedLifetime(owner) { try read(subject) }
    }
}
