internal import Foundation

/// A store whose rows can be copied while nobody writes to it.
protocol CopyableStore: RowTable {
    /// Runs `body` while nobody writes to the store.
    func holdingWrites<Result>(_ body: () throws -> Result) rethrows -> Result
}

/// Copies everything that one store holds into another, row by row: no object is made awake, and nothing of the program's own runs.
struct StoreCopy {
    let source: any RowTable
    /// The entities of the store.
    let entities: [NSEntityDescription]

    private func forEachRow(_ body: (Row) throws -> Void) throws {
        for entity in entities { try source.forEachRow(of: entity, includingSubentities: false, body) }
    }

    /// Fills a new store in memory.
    func fill(_ store: InMemoryStore) throws {
        var ids: [NSManagedObjectID: NSManagedObjectID] = [:]
        try forEachRow { row in
            let id = row.objectID.unsafelyUnwrapped
            ids[id] = store.newID(for: id.owningEntity)
        }
        try forEachRow { row in
            let id = row.objectID.unsafelyUnwrapped
            let copy = row.copy()
            copy.objectID = ids[id]
            for relationship in id.owningEntity.frozen.unsafelyUnwrapped.relationships {
                let slot = row.layout.slots[relationship.slotIndex]
                if relationship.isToMany {
                    copy.setObjectIDs(ObjectIDList(try source.relatedIDs(of: relationship, in: row).compactMap { ids[$0] }), at: slot)
                } else {
                    copy.setObjectID(row.objectID(at: slot).flatMap { ids[$0] }, at: slot)
                }
            }
            store.put(copy, at: copy.objectID.unsafelyUnwrapped)
        }
    }

    /// Inserts everything into a context whose model has the same entities, all of plain managed objects. It is not saved.
    func insert(into context: NSManagedObjectContext) throws {
        guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
        var objects: [NSManagedObjectID: NSManagedObject] = [:]
        try forEachRow { row in
            let id = row.objectID.unsafelyUnwrapped
            guard let twin = model.entitiesByName[id.owningEntity.name ?? ""] else { return }
            let object = NSManagedObject(entity: twin, insertInto: context)
            for case let attribute as NSAttributeDescription in id.owningEntity.frozen.unsafelyUnwrapped.properties
            where !attribute.isTransient {
                let value = row.any(at: row.layout.slots[attribute.slotIndex], of: attribute)
                object.setValue(value, forKey: attribute.name)
            }
            objects[id] = object
        }
        try forEachRow { row in
            let id = row.objectID.unsafelyUnwrapped
            guard let object = objects[id] else { return }
            for relationship in id.owningEntity.frozen.unsafelyUnwrapped.relationships where !relationship.isTransient {
                if relationship.isToMany {
                    let related = try source.relatedIDs(of: relationship, in: row).compactMap { objects[$0] }
                    if related.isEmpty { continue }
                    object.setValue(relationship.isOrdered ? NSOrderedSet(array: related) : Set(related), forKey: relationship.name)
                } else if let target = row.objectID(at: row.layout.slots[relationship.slotIndex]).flatMap({ objects[$0] }) {
                    object.setValue(target, forKey: relationship.name)
                }
            }
        }
    }
}
