internal import Foundation
internal import Predicates

/// Creates expressions that evaluate to the results of a fetch, for predicates such as `band IN FETCH(…)`.
///
/// The context executes the fetch once for each request, before it queries its stores.
///
/// Source: [NSFetchRequestExpression](https://developer.apple.com/documentation/coredata/nsfetchrequestexpression).
public enum NSFetchRequestExpression {
    /// Creates an expression for the results of a fetch.
    ///
    /// - Parameters:
    ///   - fetch: An expression that evaluates to an ``NSFetchRequest``.
    ///   - context: An expression that evaluates to the ``NSManagedObjectContext`` to fetch from; it must be the context that the
    ///     predicate is used in.
    ///   - countFlag: Whether the expression evaluates to the number of results.
    public static func expression(forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool) -> NSExpression {
        guard let request = try? fetch.tree(), let place = try? context.tree() else { return fetch.parseError == nil ? context : fetch }
        return NSExpression(tree: .fetch(request, context: place, countOnly: countFlag))
    }
}

extension NSManagedObjectContext {
    /// Returns a predicate in which `FETCH` expressions and paths from constant objects (`$FETCH_SOURCE.band`) are replaced by their
    /// values, objects of another coordinator over one of the stores by their IDs here, and numbers in lists for attributes of text by texts.
    ///
    /// - Parameter entity: The entity of the objects that the predicate is about.
    /// - Throws: The error of a fetch; code 134060 for an expression that does not name a request, or names another context.
    func resolvingContextValues(in predicate: NSPredicate?, of entity: NSEntityDescription) throws -> NSPredicate? {
        guard let predicate, let given = try? predicate.tree() else { return predicate }
        var found = false
        let tree = given.comparingTexts(of: entity, &found)
        let resolved = try tree.replacingExpressions { expression in
            switch expression {
            case .fetch(let request, let context, let countOnly):
                found = true
                return .constant(try results(of: request, in: context, countOnly, expression))
            case .navigation(.constant(.object(let reference)), let keys):
                guard let value = value(of: reference.object, at: keys) else { return nil }
                found = true
                return .constant(try PropertyValue(any: value))
            case .constant(let value):
                guard let own = persistentStoreCoordinator?.ownValue(of: value) else { return nil }
                found = true
                return .constant(own)
            default: return nil
            }
        }
        return found ? NSPredicate(tree: resolved) : predicate
    }

    /// Returns the value of a path from a managed object or a property description; the outer nil if `object` is neither.
    private func value(of object: AnyObject, at keys: [String]) -> Any?? {
        switch object {
        case let object as NSManagedObject: return .some(object.value(forKeyPath: keys.joined(separator: ".")))
        case let property as NSPropertyDescription where keys.first == "userInfo" && keys.count == 2:
            return .some(property.userInfo?[keys[1]])
        case let property as NSPropertyDescription where keys == ["name"]: return .some(property.name)
        default: return nil
        }
    }

    private func results(
        of request: ExpressionTree, in context: ExpressionTree, _ countOnly: Bool, _ whole: ExpressionTree
    ) throws -> PropertyValue {
        guard case .constant(.object(let reference)) = request, let fetch = (reference.object as? any ErasableFetchRequest)?.erased() else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: \(whole) names no fetch request.",
                next: "Give the request itself as a constant, NSExpression(forConstantValue: request).")
        }
        guard case .constant(.object(let place)) = context, place.object === self else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch cannot be executed: \(whole) is to fetch in another context.",
                next: "Give the context that executes the request.")
        }
        if countOnly { return .int64(Int64(try count(for: fetch))) }
        return .array(try self.fetch(fetch).map { try PropertyValue(any: $0) })
    }
}

/// A fetch request of any result type.
private protocol ErasableFetchRequest {
    func erased() -> NSFetchRequest<any NSFetchRequestResult>
}

extension NSFetchRequest: ErasableFetchRequest {}
