internal import Foundation

/// Caches a store's answers for as long as a context has the objects, and queries the store for the rest.
// `cache` has its own lock.
final class CachedAccess: RowAccess {
    private unowned let store: any StoreInterface
    private let observesCache: Bool
    let cache = RowCache()

    init(_ store: any StoreInterface) {
        self.store = store
        observesCache = store is any RowCacheObserver
    }

    /// The store, if it observes the cache.
    private var observer: (any RowCacheObserver)? { observesCache ? store as? any RowCacheObserver : nil }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        if let known = cache.row(for: id, maximumAge: caller.stalenessInterval) { return known }
        let queryTime = RowCache.now
        guard let row = try store.row(for: id, for: caller) else { return nil }
        return keep([row], queryTime: queryTime)[0]
    }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        if let known = cache.related(relationship.name, of: id, maximumAge: caller.stalenessInterval) { return known }
        // Few stores have lists in their rows.
        if relationship.isToMany, let row = cache.row(for: id, maximumAge: caller.stalenessInterval), !row.isUnknown(relationship) {
            return row.relatedIDs(relationship)
        }
        let queryTime = RowCache.now
        let ids = try store.related(by: relationship, from: [id], for: caller)[id] ?? []
        cache.setRelated(ids, relationship.name, of: id, queryTime: queryTime)
        return ids
    }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        // Rows that must not be cached are read one at a time.
        if caller.stalenessInterval == 0 { return false }
        let missing = cache.withoutRow(ids, maximumAge: caller.stalenessInterval)
        let queryTime = RowCache.now
        if missing.isEmpty { return true }
        do {
            keep(try store.rows(for: missing, for: caller), queryTime: queryTime)
        } catch let unread as UnreadObjects {
            keep(unread.rows, queryTime: queryTime)
            throw unread
        }
        return true
    }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool {
        if caller.stalenessInterval == 0 { return false }
        let queryTime = RowCache.now
        do {
            keep(try store.related(by: relationship, from: ids, for: caller), of: relationship, for: ids, queryTime: queryTime)
        } catch let unread as UnreadObjects {
            keep(unread.related, of: relationship, for: ids.filter { unread.failures[$0] == nil }, queryTime: queryTime)
            throw unread
        }
        return true
    }

    func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        // Another context may have loaded them already.
        var rows: [Row] = []
        var missing: [NSManagedObjectID] = []
        for id in ids {
            if let known = cache.row(for: id, maximumAge: caller.stalenessInterval), !properties.contains(where: known.isUnknown) {
                rows.append(known)
            } else {
                missing.append(id)
            }
        }
        if missing.isEmpty { return rows }
        let queryTime = RowCache.now
        do {
            return rows + keep(try store.values(of: properties, for: missing, for: caller), queryTime: queryTime)
        } catch var unread as UnreadObjects {
            unread.rows = rows + keep(unread.rows, queryTime: queryTime)
            throw unread
        }
    }

    /// Caches loaded rows.
    ///
    /// - Parameter queryTime: The time of the query: rows that a context has saved since are kept.
    /// - Returns: The rows in the cache.
    @discardableResult func keep(_ rows: some Sequence<Row>, queryTime: UInt64 = .max) -> [Row] {
        let observer = observer
        cache.reserve(rows.underestimatedCount)
        return rows.map { row in
            guard let id = row.objectID else { return row }
            if queryTime != .max, let earlier = observer?.timeOfEarlierQuery(for: row), earlier < queryTime {
                return cache.setRow(row, of: id, queryTime: earlier, loadTime: earlier, comparedBy: observer)
            }
            return cache.setRow(row, of: id, queryTime: queryTime, comparedBy: observer)
        }
    }

    /// Caches loaded rows, like ``keep(_:queryTime:)``, for callers that do not need the rows of the cache.
    func file(_ rows: RowList, queryTime: UInt64) { cache.setRows(rows, queryTime: queryTime, comparedBy: observer) }

    /// Caches a relationship of many objects; it is empty for objects that are not in the answer.
    func keep(
        _ related: [NSManagedObjectID: [NSManagedObjectID]], of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID],
        queryTime: UInt64 = .max
    ) { for id in ids { cache.setRelated(related[id] ?? [], relationship.name, of: id, queryTime: queryTime) } }

    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? {
        cache.related(relationship.name, of: id)
    }

    func knownRow(for id: NSManagedObjectID) -> Row? { cache.row(for: id, maximumAge: -1) }

    func forgetRow(of id: NSManagedObjectID) {
        cache.forget(id)
        observer?.willReload([id])
    }

    var wantsRegistrations: Bool { true }
    func didRegister(_ ids: [NSManagedObjectID]) { cache.retain(ids) }
    func didUnregister(_ ids: [NSManagedObjectID]) {
        let gone = cache.release(ids)
        if !gone.isEmpty { observer?.didRelease(gone) }
    }

    /// Begins to make the cache's entries for new objects on another thread, if there are many: call it before their store writes them.
    ///
    /// - Parameter registers: Whether this also registers the objects with the context, see ``RowAccess/didRegister(_:)``.
    /// - Returns: The argument for ``didSave(_:_:except:)`` when the store has answered, or for ``RowCache/remove(_:)`` if it has failed.
    func prepare(_ new: [StoreChange], registers: Bool = false) -> SideWork<PreparedRows?>? {
        new.count < SideThreads.minimumCount ? nil : SideWork { [cache] in cache.prepare(new, retaining: registers) }
    }

    /// Updates the cache after a save.
    ///
    /// - Parameter prepared: The entries that were made for the inserted objects; nil for none.
    func didSave(
        _ changes: StoreChangeSet, _ prepared: PreparedRows? = nil, except isLeftOut: (NSManagedObjectID) -> Bool = { _ in false }
    ) {
        let inserted = prepared.map { cache.fill($0).map { changes.inserted[$0] } } ?? changes.inserted
        cache.didSave(inserted, areNew: true, except: isLeftOut)
        for part in [changes.updated, changes.locked] { cache.didSave(part, areNew: false, except: isLeftOut) }
        for change in changes.deleted where !isLeftOut(change.objectID) { cache.didDelete(change.objectID) }
    }
}
