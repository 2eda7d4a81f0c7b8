public import Foundation

extension NSPredicate {
    /// Compiles the predicate for the subjects of a schema.
    ///
    /// A predicate from a format or a tree is compiled once for a schema and reused, also as a part of Foundation's compound predicates.
    /// It does not retain schemas.
    ///
    /// - Parameters:
    ///   - schema: The schema of the subjects.
    ///   - logic: The semantics of comparisons with nil.
    /// - Returns: The compiled predicate.
    /// - Throws: ``InvalidPredicateError``, also that of a format that could not be parsed.
    public func compiled(for schema: any PredicateSchema, logic: NilLogic = .threeValued) throws -> CompiledPredicate {
        let owner = RetainedParts()
        let test = try test(for: schema, logic: logic, expecting: true, depth: 0, owner: owner)
        return CompiledPredicate(test: test.closure, owner: owner)
    }

    /// Combines the tests of a predicate's parts, as far as the parts are this framework's predicates.
    private func test(
        for schema: any PredicateSchema, logic: NilLogic, expecting expected: Bool, depth: Int, owner: RetainedParts
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

/// Retains the objects that the parts of a test refer to.
private final class RetainedParts {
    var leases: [AnyObject] = []
}
