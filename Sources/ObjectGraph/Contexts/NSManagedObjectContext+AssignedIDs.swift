internal import Foundation
internal import Synchronization

// IDs that stores assign when they save objects.

extension NSManagedObjectContext {
    /// Sets the IDs of new objects that stores have assigned when they saved them.
    func adopt(_ assigned: [NSManagedObjectID: NSManagedObjectID], _ changes: ChangeSet) {
        if assigned.isEmpty { return }
        var adopted: [NSManagedObjectID] = []
        var twins: [NSManagedObject] = []
        for object in changes.inserted where object.registry === registry {
            guard let id = assigned[object.objectID] else { continue }
            if let twin = registry.object(with: id), twin !== object {
                replace(twin, by: object)
                twins.append(twin)
            }
            assign(permanentID: id, to: object)
            adopted.append(id)
        }
        saveCount.add(1, ordering: .releasing)
        notifySourceOfRegistration(adopted)
        if !twins.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(deleted: Set(twins))) }
    }

    /// Removes an object from the context, because a new one turns out to be the same: its store had saved the new object at an earlier attempt whose
    /// outcome was unknown, and a fetch has found it meanwhile.
    private func replace(_ twin: NSManagedObject, by object: NSManagedObject) {
        for owner in registry.all where owner !== twin {
            for relationship in owner.owningEntity.frozen!.relationships { owner.replace(twin, by: object, in: relationship) }
        }
        let lost = twin.owningEntity.frozen!.properties.indices.filter(twin.changed.contains)
        updatedList.remove(twin)
        forget(twin)
        twin.giveWay(to: object)
        for index in lost { twin.reportLostChange(at: index) }
    }
}

extension NSManagedObject {
    /// Replaces an object in a relationship that has been read. The store has the same object in this place, so nothing has changed.
    fileprivate func replace(_ twin: NSManagedObject, by object: NSManagedObject, in relationship: NSRelationshipDescription) {
        switch state(of: relationship) {
        case .fault: return
        case .toOne(let target):
            if target === twin { setState(.toOne(object), of: relationship) }
        case .toMany(let storage):
            guard storage.isLoaded ? storage.contains(twin) : changed.contains(relationship.slotIndex) else { return }
            if !changed.contains(relationship.slotIndex) { return setState(.fault, of: relationship) }
            guard toMany(relationship).contains(twin) else { return }
            let place = relationship.isOrdered ? toMany(relationship).index(of: twin) : nil
            take(twin, outOf: relationship)
            put(object, into: relationship, at: place)
        }
    }
}
