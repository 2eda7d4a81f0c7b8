@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The entities of objects that may be of several, from the rows that have come: references need not name them.
// Everything is in a `LockedBox`.
final class KindTable: Sendable {
    private let kinds = LockedBox(IDTable<NSEntityDescription>())
    /// What is forgotten is found out again; objects that no context has ever had do not pile up.
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

    /// Notes that an object is of the entity that its ID has.
    func note(_ id: NSManagedObjectID) {
        kinds.withLock { kinds in
            if kinds.count >= Self.limit { kinds.removeAll() }
            kinds[id] = id.owningEntity
        }
    }

    /// Returns the entity of an object; nil where it is unknown.
    func kind(_ id: NSManagedObjectID) -> NSEntityDescription? { kinds.withLock { $0[id] } }

    /// Forgets objects that no context has any more.
    func forget(_ ids: [NSManagedObjectID]) {
        kinds.withLock { kinds in if !kinds.isEmpty { for id in ids { kinds[id] = nil } } }
    }
}
