import Foundation

/// What one predicate has been compiled to, waiting to be used again.
///
/// A compiled predicate serves one thread at a time: it is taken out while in use, and comes back when the last copy of the
/// ``CompiledPredicate`` goes. Who finds none compiles another.
final class CompiledPredicateCache: @unchecked Sendable {
    // Unchecked: `idle` is only touched under the lock; what is in it belongs to nobody at that time.

    /// How many are kept: for the entities of an inheritance, and for as many threads as usually ask at once.
    private static let capacity = 8

    private let lock = NSLock()
    private var idle: [ReusableTest] = []

    /// Takes out what was compiled for a schema, or compiles.
    ///
    /// - Parameters:
    ///   - tree: The predicate's tree, always the same.
    ///   - schema: What the predicate will look at.
    ///   - logic: What comparing with nil means.
    ///   - expected: The answer that the test looks for.
    /// - Returns: The test, which comes back here when the lease goes.
    func lease(
        _ tree: PredicateTree, for schema: any PredicateSchema, logic: NilLogic, expecting expected: Bool
    ) throws -> CompiledLease {
        while let test = take(schema, logic, expected) {
            if let schemas = test.livingSchemas { return CompiledLease(test, schemas: schemas, from: self) }
        }
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        WorkCount.compilation()
        let test = try compiler.compiled(tree, expecting: expected)
        let reusable = compiler.isReusable ? self : nil
        return CompiledLease(ReusableTest(test, compiler, schema, expected), schemas: compiler.schemas, from: reusable)
    }

    private func take(_ schema: any PredicateSchema, _ logic: NilLogic, _ expected: Bool) -> ReusableTest? {
        lock.withLock {
            idle.removeAll { $0.schema == nil }
            let index = idle.lastIndex { $0.schema === schema && $0.logic == logic && $0.expected == expected }
            return index.map { idle.remove(at: $0) }
        }
    }

    fileprivate func giveBack(_ test: ReusableTest) {
        let dropped = lock.withLock {
            idle.append(test)
            return idle.count > Self.capacity ? idle.removeFirst() : nil
        }
        // Outside of the lock: what goes may be anything that a host's closures hold.
        withExtendedLifetime(dropped) {}
    }
}

/// A test and what it depends on. It keeps no schema alive.
struct ReusableTest {
    private struct Weak {
        weak var schema: (any PredicateSchema)?
    }

    let test: CompiledTest
    let logic: NilLogic
    let expected: Bool
    private(set) weak var schema: (any PredicateSchema)?
    private let schemas: [Weak]
    private let constants: [PredicateCompiler.ResolvedConstant]

    init(_ test: CompiledTest, _ compiler: PredicateCompiler, _ schema: any PredicateSchema, _ expected: Bool) {
        self.test = test
        logic = compiler.logic
        self.expected = expected
        self.schema = schema
        schemas = compiler.schemas.map { Weak(schema: $0) }
        constants = compiler.constants
    }

    /// The schemas that the test refers to, or nil when it must not be used again: a schema is gone, or an object among the constants
    /// stands for something else by now, as a managed object does once a save has given it another identifier.
    var livingSchemas: [any PredicateSchema]? {
        let living = schemas.compactMap(\.schema)
        guard living.count == schemas.count, let schema else { return nil }
        guard constants.allSatisfy({ schema.constant(for: $0.reference.object) == $0.value }) else { return nil }
        return living
    }
}

/// A test in use. It owns the schemas, and gives the test back when it goes.
final class CompiledLease {
    let test: ReusableTest
    private let schemas: [any PredicateSchema]
    private let cache: CompiledPredicateCache?

    init(_ test: ReusableTest, schemas: [any PredicateSchema], from cache: CompiledPredicateCache?) {
        self.test = test
        self.schemas = schemas
        self.cache = cache
    }

    deinit { cache?.giveBack(test) }
}
