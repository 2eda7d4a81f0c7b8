internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Assigns numbers to the versions of objects whose backend uses tags, or no versions: rows have numbers.
// Everything is in a `LockedBox`.
final class VersionTable: Sendable {
    private struct Entry {
        var tag: String?
        var number: Int64
        /// The first number of a row that had a tag. A row with a smaller number had none: only its values show whether it is the latest.
        var first: Int64 = 0
    }
    private struct State {
        /// The objects that have a tag, or that were saved without a version.
        var entries = IDTable<Entry>()
        /// The entities whose resources have numbers.
        var numbered: Set<ObjectIdentifier> = []
        /// The entities with rows that were received without a version: lists may have no tags, although single resources have some.
        var untagged: Set<ObjectIdentifier> = []
    }

    private let state = LockedBox(State())

    var count: Int { state.withLock { $0.entries.count } }

    /// Assigns numbers to the rows of an answer, before they are shared.
    func number(_ answer: BackendAnswer) {
        let isNumbered = answer.hasVersions && answer.tags.isEmpty
        for rows in [answer.rows, answer.embedded] where !rows.isEmpty {
            if isNumbered {
                noteNumbers(rows)
                continue
            }
            state.withLock { state in
                if answer.tags.isEmpty { Self.noteUntagged(rows, &state) }
                if state.entries.isEmpty, answer.tags.isEmpty, Self.numberFirst(rows) { return }
                for row in rows {
                    let id = row.knownObjectID
                    if let tag = answer.tags[row.slots] {
                        if let known = state.entries[id] {
                            row.version = known.tag == tag ? known.number : known.number + 1
                            state.entries[id] = Entry(tag: tag, number: row.version, first: known.first)
                        } else {
                            // A row without a tag has the number 1, and may have another version than this one.
                            row.version = state.untagged.contains(ObjectIdentifier(id.owningEntity.top)) ? 2 : 1
                            state.entries[id] = Entry(tag: tag, number: row.version, first: row.version)
                        }
                    } else if row.version == 0 {
                        row.version = state.entries[id]?.number ?? 1
                    } else {
                        state.numbered.insert(ObjectIdentifier(id.owningEntity.top))
                    }
                }
            }
        }
    }

    /// Assigns the first number to rows without versions, as long as no object is known. Returns false if some have versions.
    private static func numberFirst(_ rows: RowList) -> Bool {
        if rows.contains(where: { $0.version != 0 }) { return false }
        for row in rows { row.version = 1 }
        return true
    }

    private static func noteUntagged(_ rows: RowList, _ state: inout State) {
        var last: NSEntityDescription?
        for row in rows {
            let entity = row.knownObjectID.owningEntity
            if entity === last { continue }
            last = entity
            if row.version == 0 { state.untagged.insert(ObjectIdentifier(entity.top)) }
        }
    }

    private func noteNumbers(_ rows: RowList) {
        var last: NSEntityDescription?
        for row in rows {
            let entity = row.knownObjectID.owningEntity
            if entity === last { continue }
            last = entity
            state.withLock { state in _ = state.numbered.insert(ObjectIdentifier(entity.top)) }
        }
    }

    /// Returns the backend's version of an object.
    ///
    /// - Parameter number: The version of the row that the change is based on.
    func version(_ id: NSManagedObjectID, _ number: Int64) -> ResourceVersion? {
        state.withLock { state in
            if let entry = state.entries[id] { return entry.number == number ? entry.tag.map { .tag($0) } : nil }
            return state.numbered.contains(ObjectIdentifier(id.owningEntity.top)) ? .number(number) : nil
        }
    }

    /// Returns whether a change is based on an earlier version than the latest known one, whose tag is no longer kept.
    func isOutdated(_ id: NSManagedObjectID, _ number: Int64) -> Bool {
        state.withLock { state in state.entries[id].map { $0.tag != nil && $0.number != number && number >= $0.first } ?? false }
    }

    /// Returns whether the resources of an entity have versions that a save must determine.
    func hasVersions(_ id: NSManagedObjectID) -> Bool {
        state.withLock { $0.entries[id]?.tag != nil || $0.numbered.contains(ObjectIdentifier(id.owningEntity.top)) }
    }

    /// Returns whether a row is older than another one of the same object, by numbers that only increase.
    func isOlder(_ row: Row, than other: Row) -> Bool {
        row.version < other.version
            && state.withLock { $0.numbered.contains(ObjectIdentifier(row.knownObjectID.owningEntity.top)) }
    }

    /// Records the version of a saved object.
    ///
    /// - Parameter number: The version of the row that the context has sent.
    /// - Returns: The new version of the row in the store.
    func didSave(_ id: NSManagedObjectID, _ number: Int64, _ version: ResourceVersion?) -> Int64 {
        state.withLock { state in
            switch version {
            case .number(let given)?:
                state.entries[id] = nil
                state.numbered.insert(ObjectIdentifier(id.owningEntity.top))
                return given
            case .tag(let tag)?:
                state.entries[id] = Entry(tag: tag, number: number)
                return number
            case nil:
                state.entries[id] = Entry(tag: nil, number: number)
                return number
            }
        }
    }

    /// Forgets objects that no context has any more.
    func forget(_ ids: [NSManagedObjectID]) {
        state.withLock { state in if !state.entries.isEmpty { for id in ids { state.entries[id] = nil } } }
    }
}

extension NSEntityDescription {
    /// The root entity of the inheritance tree, whose objects share their identifiers.
    var top: NSEntityDescription { superentity?.top ?? self }
}
