import Foundation
internal import Platform

/// Caches the compiled tests of one predicate.
///
/// A compiled predicate is used on one thread at a time: its test is taken from the cache while in use, and returned when the last copy
/// of the ``CompiledPredicate`` is deallocated. A caller that finds none compiles another.
final class CompiledPredicateCache: Sendable {
    /// The capacity: for the entities of an inheritance, and for the usual number of concurrent threads.
    private static let capacity = 8

    /// The tests that are not in use.
    private let idle = LockedBox<[ReusableTest]>([])

    /// Takes a test for a schema from the cache, or compiles one.
    ///
    /// - Parameters:
    ///   - tree: The predicate's tree, the same in every call.
    ///   - schema: The schema of the subjects.
    ///   - logic: The semantics of comparisons with nil.
    ///   - expected: The result that the test looks for.
    /// - Returns: The test, which is returned to the cache when the lease is deallocated.
    func lease(
        _ tree: PredicateTree, for schema: any PredicateSchema, logic: NilLogic, expecting expected: Bool
    ) throws -> CompiledTestLease {
        while let test = take(schema, logic, expected) {
            if let schemas = test.livingSchemas { return CompiledTestLease(test, schemas: schemas, from: self) }
        }
        let compiler = PredicateCompiler(schema: schema, logic: logic)
        WorkCount.compilation()
        let test = try compiler.compiled(tree, expecting: expected)
        let reusable = compiler.isReusable ? self : nil
        return CompiledTestLease(ReusableTest(test, compiler, schema, expected), schemas: compiler.schemas, from: reusable)
    }

    private func take(_ schema: any PredicateSchema, _ logic: NilLogic, _ expected: Bool) -> ReusableTest? {
        // Released outside of the lock, see `recycle`.
        var dropped: [ReusableTest] = []
        defer { withExtendedLifetime(dropped) {} }
        return idle.withLock { idle in
            if idle.contains(where: { $0.schema == nil }) {
                dropped = idle
                idle.removeAll { $0.schema == nil }
            }
            let index = idle.lastIndex { $0.schema === schema && $0.logic == logic && $0.expected == expected }
            return index.map { idle.remove(at: $0) }
        }
    }

    fileprivate func recycle(_ test: ReusableTest) {
        let dropped = idle.withLock { idle in
            idle.append(test)
            return idle.count > Self.capacity ? idle.removeFirst() : nil
        }
        // Outside of the lock: releasing tests may run deinitializers of the host.
        withExtendedLifetime(dropped) {}
    }
}

/// A test and its dependencies. It does not retain schemas.
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

    /// The schemas that the test refers to; nil when it must not be reused, because a schema was deallocated or the value of a constant
    /// object has changed, like that of a managed object with a new ID after a save.
    var livingSchemas: [any PredicateSchema]? {
        let living = schemas.compactMap(\.schema)
        guard living.count == schemas.count, let schema else { return nil }
        guard constants.allSatisfy({ schema.constant(for: $0.reference.object) == $0.value }) else { return nil }
        return living
    }
}

/// A test in use. It retains the schemas, and returns the test to the cache when it is deallocated.
final class CompiledTestLease {
    let test: ReusableTest
    private let schemas: [any PredicateSchema]
    private let cache: CompiledPredicateCache?

    init(_ test: ReusableTest, schemas: [any PredicateSchema], from cache: CompiledPredicateCache?) {
        self.test = test
        self.schemas = schemas
        self.cache = cache
    }

    deinit { cache?.recycle(test) }
}
