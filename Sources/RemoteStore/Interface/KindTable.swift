@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The entities of objects whose static entity has subentities, taken from received rows: references need not name them.
// Everything is in a `LockedBox`.
final class KindTable: Sendable {
    private let kinds = LockedBox(IDTable<NSEntityDescription>())
    /// The maximum number of entries. Removed entries are determined again, so objects that no context has ever had do not accumulate.
    private static let limit = 500_000

    var count: Int { kinds.withLock { $0.count } }

    /// Notes the entities of rows.
    func note(_ rows: RowList) {
        var last: NSEntityDescription?
        var isWanted = false
        for row in rows {
            let id = row.knownObjectID
            if id.owningEntity !== last {
                last = id.owningEntity
                isWanted = id.owningEntity.superentity != nil || !id.owningEntity.subentities.isEmpty
            }
            if isWanted { note(id) }
        }
    }

    /// Notes the entity of an object, which is the one of its ID.
    func note(_ id: NSManagedObjectID) {
        kinds.withLock { kinds in
            if kinds.count >= Self.limit { kinds.removeAll() }
            kinds[id] = id.owningEntity
        }
    }

    /// Returns the entity of an object; nil if it is unknown.
    func kind(_ id: NSManagedObjectID) -> NSEntityDescription? { kinds.withLock { $0[id] } }

    /// Forgets objects that no context has any more.
    func forget(_ ids: [NSManagedObjectID]) {
        kinds.withLock { kinds in if !kinds.isEmpty { for id in ids { kinds[id] = nil } } }
    }
}
