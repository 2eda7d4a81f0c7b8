import Foundation

/// What predicates and expressions do with a coder of Foundation's.
extension PredicateArchive {
    private static let depthKey = "Predicates.PredicateArchive.depth"

    /// Reads the fields of a predicate that is being decoded.
    static func decodePredicate(with coder: NSCoder, isTrue: Bool? = nil) -> PredicateTree? {
        nested(with: coder) {
            if let tree = try CoderFields(coder: coder).predicateTree() { return tree }
            guard let isTrue else { throw unreadable("The archive holds a predicate of an unknown kind") }
            return isTrue ? .true : .false
        }
    }

    /// Reads the fields of an expression that is being decoded.
    static func decodeExpression(with coder: NSCoder) -> ExpressionTree? {
        nested(with: coder) { try CoderFields(coder: coder).expressionTree() }
    }

    /// Runs one level deeper: a hostile archive nests as it likes, and Foundation reads it by recursion.
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
        // A key path has two levels of its own that the tree has not.
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

    /// Writes the fields of an object that is being encoded. What cannot be written fails the coder, and so the archiving.
    private static func encode(_ coder: NSCoder, _ tree: () throws -> ArchivedTree) {
        do {
            for (key, value) in try tree().fields(depth: 0) { value.encode(key, with: coder) }
        } catch {
            coder.failWithError(error)
        }
    }
}
