internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The number of results according to the backend.
extension CachedStore {
    /// Returns the number of results if it can be determined without reading them: objects with pending changes are counted locally, all others by the backend.
    ///
    /// - Returns: Nil if rows have to be read for it.
    func countByBackend(_ query: StoreQuery, for caller: StoreCaller) async throws -> Int? {
        let pending = try PendingState(query, self)
        guard let remote = try remoteQuery(query), try pending.isEmpty || isCountable(query, remote) else { return nil }
        guard let count = try await reader.numberOfResults(remote.with(resultType: .countResultType), for: caller) else { return nil }
        var (theirs, mine) = (0, 0)
        if !pending.isEmpty {
            let ids = pending.rows.compactMap { row -> NSManagedObjectID? in
                let entity = file.key(of: row).entity
                return entity.outer?.isKindOf(entity: query.entity) == true ? remoteID(row, entity) : nil
            }
            if !ids.isEmpty {
                // The pending objects that the backend has counted.
                let own = PredicateTree.compare(
                    .evaluatedObject, .isIn, .constant(.array(ids.map { .object(ObjectReference($0)) })))
                let tree = try remote.predicateTree().map { .and([$0, own]) } ?? own
                let counted = remote.with(predicate: NSPredicate(tree: tree))
                guard let rows = try await rowsIfAnswerable(counted, for: caller) else { return nil }
                theirs = rows.count
            }
            let among = try innerQuery(query.with(resultType: .countResultType), among: among(pending.keys))
            if case .count(let number) = try file.read(among) { mine = number }
        }
        // Objects that were acknowledged or created meanwhile may be counted twice, or not at all.
        guard try pending.isSame(as: PendingState(query, self)), try pending.isEmpty || !outbox.isInserting(query.entity) else {
            return nil
        }
        return count - theirs + mine
    }

    /// Whether pending objects can be counted separately: no object's result depends on another object.
    private func isCountable(_ query: StoreQuery, _ remote: StoreQuery) throws -> Bool {
        guard query.fetchLimit == 0, query.fetchOffset == 0 else { return false }
        let form = try form(query)
        return form.clauses != nil && form.needs.relationships.isEmpty
    }

    private func rowsIfAnswerable(_ query: StoreQuery, for caller: StoreCaller) async throws -> RowList? {
        do {
            guard case .rows(let rows) = try await reader.fetch(query, for: caller) else { return nil }
            return rows
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreUnsupportedRequestTypeError
        {
            return nil
        }
    }
}

/// The rows of an entity with pending changes, at one time.
private struct PendingState {
    let keys: [CacheKey]
    let rows: [Row]

    init(_ query: StoreQuery, _ store: CachedStore) throws {
        keys = try store.pendingKeys(query.entity)
        rows = try store.file.rows(keys)
    }

    var isEmpty: Bool { keys.isEmpty }

    /// Whether the state is unchanged: every acknowledgement and every edit writes its row.
    func isSame(as other: PendingState) -> Bool {
        keys.count == other.keys.count && Set(keys) == Set(other.keys) && rows.count == other.rows.count
            && zip(rows, other.rows).allSatisfy { $0.version == $1.version }
    }
}

extension Outbox {
    /// Whether new objects of an entity's inheritance tree were sent without an answer yet that contains their identifiers.
    func isInserting(_ entity: NSEntityDescription) throws -> Bool {
        let root = file.entity(entity).inner.top.name
        return try records().contains { $0.key.root == root && $0.resource == nil && $0.awaitsInsert }
    }
}
