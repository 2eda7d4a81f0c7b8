internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Translates object constants of a predicate from one ID space to another.
extension PredicateTree {
    /// Returns the predicate with replaced object constants.
    ///
    /// - Parameter replacement: A closure that returns the value for an object; nil if there is none: it is removed from lists, and other constants become nil.
    func replacingObjects(_ replacement: (AnyObject) throws -> PropertyValue?) rethrows -> PredicateTree {
        try replacingExpressions { expression in
            if case .subquery(let collection, let variable, let condition) = expression {
                return .subquery(
                    try PredicateTree.compare(collection, .equal, .evaluatedObject).replacingObjects(replacement).leftSide ?? collection,
                    variable: variable, try condition.replacingObjects(replacement))
            }
            guard let value = expression.constantValue, value.hasObjects else { return nil }
            return .constant(try value.replacingObjects(replacement) ?? .null)
        }
    }

    private var leftSide: ExpressionTree? { if case .comparison(let comparison) = self { comparison.left } else { nil } }

    /// The IDs of the objects among the constants.
    var objectIDs: [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        _ = replacingObjects { object in
            if let id = contextID(of: object) { ids.append(id) }
            return nil
        }
        return ids
    }
}

/// Returns the ID of a constant; nil if it is not an object of a context.
func contextID(of object: AnyObject) -> NSManagedObjectID? {
    switch object {
    case let id as NSManagedObjectID: id.current
    case let object as NSManagedObject: object.objectID.current
    default: nil
    }
}

extension PropertyValue {
    fileprivate var hasObjects: Bool {
        switch self {
        case .object: true
        case .array(let values): values.contains(where: \.hasObjects)
        case .set(let values): values.contains(where: \.hasObjects)
        default: false
        }
    }

    fileprivate func replacingObjects(_ replacement: (AnyObject) throws -> PropertyValue?) rethrows -> PropertyValue? {
        switch self {
        case .object(let reference): try replacement(reference.object)
        case .array(let values): .array(try values.compactMap { try $0.replacingObjects(replacement) })
        case .set(let values): .set(Set(try values.compactMap { try $0.replacingObjects(replacement) }))
        default: self
        }
    }
}
