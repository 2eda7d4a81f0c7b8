internal import Foundation

extension NSPersistentStoreCoordinator {
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool {
        try prepare(ids, in: context) { try $0.prepareRows(for: $1, in: context) }
    }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool {
        try prepare(ids, in: context) { try $0.prepareRelated(of: relationship, for: $1, in: context) }
    }

    /// Asks each store for its own. True if all of them take questions about many objects.
    private func prepare(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, _ ask: (NSPersistentStore, [NSManagedObjectID]) throws -> Bool
    ) throws -> Bool {
        var groups: [(store: NSPersistentStore, ids: [NSManagedObjectID])] = []
        for id in ids {
            guard let store = id.persistentStore, store.persistentStoreCoordinator === self else { continue }
            if let last = groups.indices.last, groups[last].store === store {
                groups[last].ids.append(id)
            } else if let index = groups.firstIndex(where: { $0.store === store }) {
                groups[index].ids.append(id)
            } else {
                groups.append((store, [id]))
            }
        }
        var isPrepared = true
        for (original, ids) in groups {
            let store = try reader(original, for: context)
            isPrepared = try store.exclusively { try ask(store, ids) } && isPrepared
        }
        return isPrepared
    }
}
