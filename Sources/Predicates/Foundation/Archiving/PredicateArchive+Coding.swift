import Foundation

/// Connects predicates and expressions with Foundation's coders.
extension PredicateArchive {
    private static let depthKey = "Predicates.PredicateArchive.depth"

    /// Decodes the fields of a predicate.
    static func decodePredicate(with coder: NSCoder, isTrue: Bool? = nil) -> PredicateTree? {
        nested(with: coder) {
            if let tree = try CoderFields(coder: coder).predicateTree() { return tree }
            guard let isTrue else { throw unreadable("The archive holds a predicate of an unknown kind") }
            return isTrue ? .true : .false
        }
    }

    /// Decodes the fields of an expression.
    static func decodeExpression(with coder: NSCoder) -> ExpressionTree? {
        nested(with: coder) { try CoderFields(coder: coder).expressionTree() }
    }

    /// Decodes one level deeper: an untrusted archive may nest without end, and Foundation decodes recursively.
    private static func nested<Value>(with coder: NSCoder, _ body: () throws -> Value) -> Value? {
        let storage = Thread.current.threadDictionary
        let depth = storage[depthKey] as? Int ?? 0
        defer { storage[depthKey] = depth == 0 ? nil : depth }
        storage[depthKey] = depth + 1
        do {
            try checkDepth(depth)
            return try body()
        } catch {
            coder.failWithError(error)
            return nil
        }
    }

    static func checkDepth(_ depth: Int) throws {
        // A key path has two levels of archived objects that the tree does not have.
        guard depth <= PredicateLimits.archiveNesting + 2 else {
            throw InvalidPredicateError(kind: .tooDeep, message: "The archive nests deeper than \(PredicateLimits.archiveNesting) levels")
        }
    }

    static func encode(_ result: Result<PredicateTree, InvalidPredicateError>, with coder: NSCoder) {
        encode(coder) { try ArchivedTree.predicate(result.get()) }
    }

    static func encode(_ result: Result<ExpressionTree, InvalidPredicateError>, with coder: NSCoder) {
        encode(coder) { try ArchivedTree.expression(result.get()) }
    }

    /// Encodes the fields of an object. An unsupported value fails the coder and thereby the archiving.
    private static func encode(_ coder: NSCoder, _ tree: () throws -> ArchivedTree) {
        do {
            for (key, value) in try tree().fields(depth: 0) { value.encode(key, with: coder) }
        } catch {
            coder.failWithError(error)
        }
    }
}
