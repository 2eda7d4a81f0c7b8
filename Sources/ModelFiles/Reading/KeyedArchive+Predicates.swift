internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import PropertyLists

extension KeyedArchive {
    /// Returns the predicate of an object.
    func predicate(of index: Int) throws -> NSPredicate { try PredicateArchive.predicate(in: self, at: index) }
}

extension KeyedArchive.Object {
    /// Returns the predicate of a field, nil for none.
    func predicate(_ key: String) throws -> NSPredicate? { try reference(key).map(archive.predicate) }

    /// Returns the expression of a field, nil for none.
    func expression(_ key: String) throws -> Predicates.NSExpression? {
        try reference(key).map { try PredicateArchive.expression(in: archive, at: $0) }
    }
}
