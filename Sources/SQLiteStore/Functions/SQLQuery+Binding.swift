internal import Foundation
internal import Predicates
internal import SQLQueries

extension SQLQuery {
    /// Binds the parameters of a prepared statement.
    ///
    /// - Throws: ``InvalidPredicateError`` for an invalid regular expression.
    func bind(to statement: OpaquePointer) throws {
        for (index, binding) in plan.bindings.enumerated() { try values.value(of: binding).bind(to: statement, at: index + 1) }
    }
}
