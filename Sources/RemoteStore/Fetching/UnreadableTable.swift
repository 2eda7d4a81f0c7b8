@_spi(Stores) internal import ObjectGraph

/// What a backend has got for objects that it could read in part only.
// Everything is in a `LockedBox`.
final class UnreadableTable: Sendable {
    private let notes = LockedBox(IDTable<UnreadableResource>())

    /// Notes what of an answer could be read in part, and forgets what could not be read before.
    func receive(_ answer: BackendAnswer) {
        notes.withLock { notes in
            if !notes.isEmpty { for row in answer.rows { notes[row.knownObjectID] = nil } }
            for (_, row, note) in answer.keptRaw { notes[answer.rows[row].knownObjectID] = note }
        }
    }

    func note(_ id: NSManagedObjectID) -> UnreadableResource? { notes.withLock { $0[id] } }

    /// Forgets objects that no context has any more.
    func forget(_ ids: [NSManagedObjectID]) {
        notes.withLock { notes in if !notes.isEmpty { for id in ids { notes[id] = nil } } }
    }
}
