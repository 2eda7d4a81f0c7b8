internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The raw data and errors of objects that could be read only in part.
// Everything is in a `LockedBox`.
final class UnreadableTable: Sendable {
    private struct Entry {
        /// The resource, if its raw data is kept.
        var resource: UnreadableResource?
        /// The reasons why values cannot be read, by the names of the properties.
        var values: [String: UnreadObjects.Failure] = [:]

        var isEmpty: Bool { resource == nil && values.isEmpty }
    }
    private let entries = LockedBox(IDTable<Entry>())

    /// Records the unreadable parts of an answer, and forgets earlier ones that could be read now.
    func receive(_ answer: BackendAnswer) {
        entries.withLock { entries in
            if !entries.isEmpty {
                for row in answer.rows { Self.forget(of: row, isAsked: true, &entries) }
                for row in answer.embedded { Self.forget(of: row, isAsked: false, &entries) }
            }
            for (_, row, note) in answer.keptRaw { entries[answer.rows[row].knownObjectID, default: Entry()].resource = note }
            for value in answer.unreadValues {
                // The runner has already logged it, together with others of the same cause.
                let failure = UnreadObjects.Failure(RemoteStoreError.unreadValue(value.note, value.property), isLogged: true)
                entries[value.id, default: Entry()].values[value.property] = failure
            }
        }
    }

    private static func forget(of row: Row, isAsked: Bool, _ entries: inout IDTable<Entry>) {
        let id = row.knownObjectID
        guard var entry = entries[id] else { return }
        if isAsked { entry.resource = nil }
        let properties = id.owningEntity.frozenParts.byName
        entry.values = entry.values.filter { name, _ in properties[name].map(row.isUnknown) ?? false }
        if entry.isEmpty { entries.remove(id) } else { entries.set(entry, for: id) }
    }

    func note(_ id: NSManagedObjectID) -> UnreadableResource? {
        entries.withLock { entries in
            guard let entry = entries[id] else { return nil }
            return entry.resource
                ?? entry.values.min { $0.key < $1.key }.flatMap {
                    ($0.value.error as NSError).userInfo[NSUnderlyingErrorKey] as? UnreadableResource
                }
        }
    }

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// Returns the reasons why values of an object could not be read, by the names of the properties.
    func values(of id: NSManagedObjectID) -> [String: UnreadObjects.Failure] {
        entries.withLock { $0.isEmpty ? [:] : $0[id]?.values ?? [:] }
    }

    /// Returns the reason why one of some values of an object could not be read.
    func failure(_ names: Set<String>, of id: NSManagedObjectID) -> UnreadObjects.Failure? {
        let values = values(of: id)
        return values.isEmpty ? nil : values.filter { names.contains($0.key) }.min { $0.key < $1.key }?.value
    }

    /// Forgets objects that no context has any more, or that must be read again.
    func forget(_ ids: [NSManagedObjectID]) {
        entries.withLock { entries in if !entries.isEmpty { for id in ids { entries.remove(id) } } }
    }
}
