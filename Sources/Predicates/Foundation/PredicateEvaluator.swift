import Foundation

/// The implementation of this framework's predicate classes: the tree or the parse error, and the evaluation of plain values.
final class PredicateEvaluator: Sendable {
    let result: Result<PredicateTree, InvalidPredicateError>
    private let cache = CompiledPredicateCache()

    init(_ result: Result<PredicateTree, InvalidPredicateError>) {
        self.result = result
    }

    /// Parses a format.
    convenience init(parsing format: String, arguments: [Any?]) {
        self.init(
            InvalidPredicateError.catching(format: format) { try FormatParser.predicate(format, arguments: arguments) })
    }

    /// Evaluates the predicate, or throws.
    func answer(_ object: Any?, variables: [String: Any]?) throws -> Bool {
        let tree = try result.get()
        if let variables, !variables.isEmpty {
            let substituted = try tree.substituting(NSPredicate.expressions(variables))
            return try substituted.compiled(for: PlainSchema.shared, logic: .twoValued).matches(plain: object)
        }
        let lease = try lease(for: PlainSchema.shared, logic: .twoValued, expecting: true)
        return try CompiledPredicate(test: lease.test.test.closure, owner: lease).matches(plain: object)
    }

    /// Returns the test for a schema, compiled once and reused.
    func lease(for schema: any PredicateSchema, logic: NilLogic, expecting expected: Bool) throws -> CompiledTestLease {
        try cache.lease(result.get(), for: schema, logic: logic, expecting: expected)
    }

    /// Evaluates the predicate. Stops the program if Apple's predicate would raise an exception.
    func evaluate(_ object: Any?, variables: [String: Any]?) -> Bool {
        do {
            return try answer(object, variables: variables)
        } catch {
            stopProgram("\(error)")
        }
    }

    /// The predicate in canonical format, or the error's message.
    var format: String {
        switch result {
        case .success(let tree): tree.description
        case .failure(let error): error.description
        }
    }

    /// Returns whether another predicate has an equal tree, or the same error.
    func isEqual(_ object: Any?) -> Bool {
        if let other = object as? any EvaluatedPredicate { return other.evaluator.result == result }
        guard let other = object as? NSPredicate, let tree = try? result.get() else { return false }
        return (try? other.tree()) == tree
    }

}

/// A predicate class of this framework.
protocol EvaluatedPredicate: NSPredicate {
    var evaluator: PredicateEvaluator { get }
}

extension InvalidPredicateError {
    /// Runs a parser and captures its error.
    static func catching<Value>(format: String? = nil, _ body: () throws -> Value) -> Result<Value, InvalidPredicateError> {
        do {
            return .success(try body())
        } catch let error as InvalidPredicateError {
            return .failure(error)
        } catch {
            return .failure(InvalidPredicateError(kind: .unsupported, message: String(describing: error), format: format))
        }
    }
}
