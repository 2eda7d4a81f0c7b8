import Foundation

/// A class as a constant of a predicate: the right side of `isKindOfClass:` and `isMemberOfClass:`.
final class ClassConstant: NSObject {
    let type: AnyClass

    init(_ type: AnyClass) { self.type = type }

    override func isEqual(_ object: Any?) -> Bool { (object as? ClassConstant)?.type == type }
    override var hash: Int { ObjectIdentifier(type).hashValue }
    override var description: String { String(reflecting: type) }
}

/// An object that represents one of another class in predicates, as the ID of a managed object represents the object.
package protocol ClassStandIn: AnyObject {
    var predicateClass: AnyClass { get }
}

/// A comparison of an object's class.
enum ClassTest: String {
    case isKind = "isKindOfClass:"
    case isMember = "isMemberOfClass:"

    /// Returns whether objects of a class match.
    func accepts(_ type: AnyClass, _ wanted: AnyClass) -> Bool {
        if self == .isMember { return type == wanted }
        var next: AnyClass? = type
        while let current = next {
            if current == wanted { return true }
            next = _getSuperclass(current)
        }
        return false
    }
}

extension PredicateTree {
    /// Whether the tree compares classes.
    package var testsClasses: Bool {
        switch self {
        case .true, .false, .block: false
        case .not(let part): part.testsClasses
        case .and(let parts), .or(let parts): parts.contains { $0.testsClasses }
        case .comparison(let comparison):
            if case .custom = comparison.operator { true } else { comparison.left.testsClasses || comparison.right.testsClasses }
        }
    }

    /// Replaces comparisons of classes by comparisons of entities, for stores that have no objects.
    ///
    /// - Parameter entities: Returns the entities whose objects are of a class; its argument returns whether a class is accepted.
    package func replacingClassTests(_ entities: (_ accepts: (AnyClass) -> Bool) -> [AnyObject]) -> PredicateTree {
        switch self {
        case .true, .false, .block: return self
        case .not(let part): return .not(part.replacingClassTests(entities))
        case .and(let parts): return .and(parts.map { $0.replacingClassTests(entities) })
        case .or(let parts): return .or(parts.map { $0.replacingClassTests(entities) })
        case .comparison(var comparison):
            comparison.left = comparison.left.replacingClassTests(entities)
            guard case .custom(let name) = comparison.operator, let test = ClassTest(rawValue: name),
                case .constant(.object(let reference)) = comparison.right, let wanted = reference.object as? ClassConstant
            else {
                comparison.right = comparison.right.replacingClassTests(entities)
                return .comparison(comparison)
            }
            let found = entities { test.accepts($0, wanted.type) }
            comparison.left = comparison.left.appending(["entity"])
            comparison.operator = .isIn
            comparison.right = .constant(.array(found.map { .object(ObjectReference($0)) }))
            return .comparison(comparison)
        }
    }
}

extension ExpressionTree {
    fileprivate var testsClasses: Bool {
        switch self {
        case .constant, .numberedConstant, .evaluatedObject, .variable, .keyPath, .anyKey: false
        case .subquery(let collection, _, let condition): collection.testsClasses || condition.testsClasses
        case .conditional(let condition, let value, let otherwise):
            condition.testsClasses || value.testsClasses || otherwise.testsClasses
        default: parts.contains { $0.testsClasses }
        }
    }

    fileprivate func replacingClassTests(_ entities: (_ accepts: (AnyClass) -> Bool) -> [AnyObject]) -> ExpressionTree {
        testsClasses
            ? rebuilt({ $0.replacingClassTests(entities) }, { condition, _ in condition.replacingClassTests(entities) }) : self
    }
}
