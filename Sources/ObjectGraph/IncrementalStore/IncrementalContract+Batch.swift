internal import Foundation

extension IncrementalContract {
    /// Validates and converts a store's answer to a batch request.
    func batchOutcome(_ answer: Any, of request: any BatchRequest) throws -> BatchOutcome {
        let answer = AttributeCheck.unwrapped(answer)
        switch request.wanted {
        case .status:
            if let isDone = answer as? Bool { return .status(isDone) }
            // An empty array is the answer to a save.
            if let answer = answer as? [Any], answer.isEmpty { return .status(true) }
        case .ids:
            if let ids = answer as? [NSManagedObjectID] { return .ids(ids) }
        case .count:
            if let count = answer as? Int { return .count(count) }
        }
        throw broken(
            "execute(_:with:)", "It answered \(Swift.type(of: request)) with \(answer.map { "\(Swift.type(of: $0))" } ?? "nil").",
            next: "Return what the request's resultType says: a Bool, an array of IDs, or a number; or throw.")
    }
}
