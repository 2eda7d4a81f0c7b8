internal import Foundation

extension NSPersistentStoreCoordinator {
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool {
        try prepare(ids, reading: nil, in: context) { try $0.prepareRows(for: $1, for: context.caller) }
    }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool {
        try prepare(ids, reading: relationship.name, in: context) { try $0.prepareRelated(of: relationship, for: $1, for: context.caller) }
    }

    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> [Row] {
        var rows: [Row] = []
        _ = try prepare(ids, reading: properties.count == 1 ? properties[0].name : nil, in: context) { access, ids in
            do {
                rows += try access.loadValues(of: properties, for: ids, for: context.caller)
            } catch let unread as UnreadObjects {
                rows += unread.rows
                throw unread
            }
            return true
        }
        return rows
    }

    /// Groups IDs by their stores, ignoring those of other coordinators' stores.
    func groups(of ids: [NSManagedObjectID]) -> [(store: NSPersistentStore, ids: [NSManagedObjectID])] {
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
        return groups
    }

    /// Calls `ask` for each store with its IDs. Returns true if all of these stores load many objects at once.
    ///
    /// Errors of single objects that a store could not read are recorded; these objects are not requested again.
    private func prepare(
        _ ids: [NSManagedObjectID], reading property: String?, in context: NSManagedObjectContext,
        _ ask: (any RowAccess, [NSManagedObjectID]) throws -> Bool
    ) throws -> Bool {
        var isPrepared = true
        let ids = context.faultErrors.isEmpty ? ids : ids.filter { context.faultErrors.error(of: $0, property) == nil }
        for (original, ids) in groups(of: ids) {
            let store = try reader(original, for: context)
            do {
                isPrepared = try store.withRowAccess { try ask($0, ids) } && isPrepared
            } catch {
                try context.noteUnread(error, reading: property)
            }
        }
        return isPrepared
    }
}
