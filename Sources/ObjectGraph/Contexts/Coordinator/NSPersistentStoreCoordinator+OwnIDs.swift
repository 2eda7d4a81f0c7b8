internal import Foundation
internal import Predicates

// Objects of another coordinator that has the same store open: an ID names its store by the UUID, as its URI does.
extension NSPersistentStoreCoordinator {
    /// Returns the ID under which this coordinator knows the object of an ID that another coordinator has made.
    ///
    /// - Returns: The ID; nil if the given ID is already this coordinator's, or belongs to no store that is open here.
    final func ownID(of id: NSManagedObjectID) -> NSManagedObjectID? {
        guard let token = id.token, !id.isTemporary, store(with: token) == nil else { return nil }
        let uuid = token.identifier
        guard !uuid.isEmpty, let name = id.owningEntity.name, let entity = managedObjectModel.entitiesByName[name],
            let store = persistentStores.first(where: { $0.token.identifier == uuid })
        else { return nil }
        return NSManagedObjectID(entity: entity, token: store.token, reference: id.reference)
    }

    /// Returns a constant of a predicate with the IDs under which this coordinator knows its objects; nil if it contains no ID of another
    /// coordinator.
    final func ownValue(of value: PropertyValue) -> PropertyValue? {
        switch value {
        case .object(let reference):
            let id = (reference.object as? NSManagedObject)?.objectID ?? reference.object as? NSManagedObjectID
            return id.flatMap { ownID(of: $0) }.map { .object(ObjectReference($0)) }
        case .array(let values): return ownValues(of: values).map { .array($0) }
        case .set(let values): return ownValues(of: Array(values)).map { .set(Set($0)) }
        default: return nil
        }
    }

    private func ownValues(of values: [PropertyValue]) -> [PropertyValue]? {
        // Lists are of one kind, and may be long.
        guard case .object? = values.first else { return nil }
        let own = values.map { ownValue(of: $0) }
        return own.contains { $0 != nil } ? zip(own, values).map { $0 ?? $1 } : nil
    }

    /// Returns a request whose predicate contains the IDs under which this coordinator knows the objects.
    final func namingOwnObjects(
        in request: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        guard let tree = try? request.predicate?.tree(), let copy = request.copy() as? NSFetchRequest<any NSFetchRequestResult> else {
            return request
        }
        var found = false
        let own = tree.replacingExpressions { expression in
            guard case .constant(let value) = expression, let own = ownValue(of: value) else { return nil }
            found = true
            return .constant(own)
        }
        if found { copy.predicate = NSPredicate(tree: own) }
        return found ? copy : request
    }
}
