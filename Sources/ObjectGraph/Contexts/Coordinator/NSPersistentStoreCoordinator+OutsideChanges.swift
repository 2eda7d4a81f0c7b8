internal import Foundation
internal import Predicates

/// The changes that others have made in a store.
package struct OutsideChanges: Sendable {
    package fileprivate(set) var inserted: [NSManagedObjectID] = []
    package fileprivate(set) var updated: [NSManagedObjectID] = []
    package fileprivate(set) var deleted: [NSManagedObjectID] = []
    package fileprivate(set) var refreshed: [NSManagedObjectID] = []

    package init() {}

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }

    package mutating func add(_ other: OutsideChanges) {
        inserted += other.inserted
        updated += other.updated
        deleted += other.deleted
        refreshed += other.refreshed
    }

    fileprivate var saved: SavedIDs {
        var saved = SavedIDs(inserted: inserted, updated: updated, deleted: deleted)
        saved.refreshed = refreshed
        return saved
    }

    /// The IDs under the notification keys, as `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)` takes them.
    package var userInfo: [AnyHashable: Any] { saved.userInfo }
}

extension NSPersistentStoreCoordinator {
    /// The time of the caches of rows.
    package static var cacheTime: UInt64 { RowCache.now }

    /// Forgets the cached rows of a store, after a request that has changed rows without telling which. Call it on any thread.
    package static func forgetRows(of store: NSPersistentStore) { (store.rowAccess as? CachedAccess)?.cache.forgetAll() }

    /// The objects of a store that contexts have.
    package func heldIDs(of store: NSPersistentStore) -> [NSManagedObjectID] { (store.rowAccess as? CachedAccess)?.cache.heldIDs ?? [] }

    /// Adds rows that others have changed, and objects that they have deleted, to the cache of a store. Notifies the contexts that merge
    /// automatically, and the observers of ``Foundation/Notification/Name/NSPersistentStoreRemoteChange``. Call it on any thread.
    ///
    /// - Parameters:
    ///   - queryTime: The cache's time at the request for the rows: saves of contexts since then are newer.
    ///   - isSame: Whether a new row equals the known one.
    /// - Returns: The changes that concern the contexts.
    package func takeOutsideChanges(
        _ rows: [Row], deleted: [NSManagedObjectID], of store: NSPersistentStore, queryTime: UInt64, isSame: (Row, Row) -> Bool
    ) -> OutsideChanges {
        guard let access = store.rowAccess as? CachedAccess else { return OutsideChanges() }
        let cache = access.cache
        var changes = OutsideChanges()
        var new: [NSManagedObjectID: Row] = [:]
        for row in rows {
            guard let id = row.objectID else { continue }
            if let known = cache.row(for: id, maximumAge: -1), isSame(row, known) { continue }
            new[id] = row
            if cache.isHeld(id) { changes.updated.append(id) } else { changes.inserted.append(id) }
        }
        changes.deleted = deleted
        access.keep(changes.updated.compactMap { new[$0] }, queryTime: queryTime)
        let owners = cache.adaptLists(to: new, gone: Set(deleted))
        for id in deleted { cache.didDelete(id) }
        changes.refreshed = owners.filter { new[$0] == nil }.sorted { $0.uriRepresentation().path < $1.uriRepresentation().path }
        if changes.isEmpty { return changes }
        mergeListeners.notify(of: changes.saved, isRemote: false, except: nil)
        postRemoteChange(of: store)
        return changes
    }

    /// Whether there are contexts that merge automatically.
    package var hasMergingContexts: Bool { mergeListeners.withListeners { !$0.isEmpty } }

    /// Notifies the observers of ``Foundation/Notification/Name/NSPersistentStoreRemoteChange`` of changes that concern no context.
    package func postRemoteChange(of store: NSPersistentStore) {
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? ""]
        if let url = store.url { info[NSPersistentStoreURLKey] = url }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
    }
}

extension NSManagedObjectContext {
    /// Merges changes that others have made in a store, and that its cache has already. Suspends until that is done.
    package func merge(_ changes: OutsideChanges) async { await perform { self.merge(changes.saved, isRemote: false) } }
}
