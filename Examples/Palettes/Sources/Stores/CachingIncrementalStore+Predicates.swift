internal import CoreData
internal import ExampleSupport
internal import Predicates

extension CachingIncrementalStore {
    /// Returns a predicate for the cache, whose objects differ from the application's: a comparison with an object becomes one with its
    /// identifier.
    ///
    /// - Throws: An error that names a comparison with objects that cannot be converted.
    func backingPredicate(_ predicate: NSPredicate?) throws -> NSPredicate? {
        guard let predicate else { return nil }
        return NSPredicate(tree: try translated(try predicate.tree()))
    }

    private func translated(_ tree: PredicateTree) throws -> PredicateTree {
        switch tree {
        case .and(let parts): return .and(try parts.map(translated))
        case .or(let parts): return .or(try parts.map(translated))
        case .not(let part): return .not(try translated(part))
        case .true, .false, .block: return tree
        case .comparison(var comparison):
            guard comparison.left == .evaluatedObject, case .constant(let value) = comparison.right else { return tree }
            comparison.left = .keyPath(["id"])
            comparison.right = .constant(try identifiers(value, in: tree))
            return .comparison(comparison)
        }
    }

    private func identifiers(_ value: PropertyValue, in tree: PredicateTree) throws -> PropertyValue {
        switch value {
        case .array(let values): return .array(try values.map { try identifiers($0, in: tree) })
        case .set(let values): return .array(try values.map { try identifiers($0, in: tree) })
        case .null: return .null
        default:
            guard let identifier = PaletteRequest.identifier(value) else {
                throw NSError.failure(
                    PaletteErrorCode.unanswerableFetch, "The cache cannot look for “\(tree)”. Compare SELF with palettes, or name the id.")
            }
            return .string(identifier)
        }
    }
}
