internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The changes that were sent and are not settled, by object: their outcome is not known, or a part of them is still to be sent.
///
/// An object may be edited before its changes are sent again. What was sent first is then sent again as it was, with its key, and the edit follows as
/// an update: whatever became of the first attempt, the object is saved once and no edit is lost.
// Everything is in a `LockedBox`.
final class UnsettledChanges: Sendable {
    enum State {
        /// Whether it was saved is not known.
        case unknown
        /// It is a new object that was accepted without an identifier: it is sought, and not sent again as another one.
        case accepted
        /// It was saved, and has got a version; what was to follow was not.
        case saved(ResourceVersion?)
    }
    struct Entry {
        let change: BackendChange
        /// What was saved of the object before, which the change follows.
        let followed: BackendChange?
        let baseVersion: Int64?
        fileprivate(set) var state: State
        /// When the change's key was first sent, by the clock of the store's options.
        let firstSent: Duration
        /// The changes that a backend has got, or not, that is not idempotent: one of them at most was saved, for all are based on the same version.
        var attempts: [BackendChange] = []
    }

    private struct Content: Hashable {
        let id: NSManagedObjectID
        let kind: Resource.Saving.Kind
        let version: Int64?
        let values: [String: ResourceValue]
        let lists: [String: BackendChange.ListChange]
    }
    private struct Contents {
        var entries: [NSManagedObjectID: Entry] = [:]
        /// The keys of what was sent.
        var keys: [NSManagedObjectID: [Content: UUID]] = [:]
    }

    private let state = LockedBox(Contents())

    subscript(id: NSManagedObjectID) -> Entry? { state.withLock { $0.entries[id] } }

    /// Notes what was sent of an object.
    ///
    /// - Parameter time: The time before it was sent. Of a change that was sent before under its key, the first one stays.
    func note(
        _ change: BackendChange, following followed: BackendChange? = nil, of id: NSManagedObjectID, baseVersion: Int64?,
        _ entryState: State, sentAfter time: Duration
    ) {
        state.withLock { state in
            let known = state.entries[id].flatMap { $0.change.idempotencyKey == change.idempotencyKey ? $0.firstSent : nil }
            state.entries[id] = Entry(
                change: change, followed: followed, baseVersion: baseVersion, state: entryState, firstSent: known ?? time)
        }
    }

    /// Notes another attempt to change an object at a backend that is not idempotent.
    func noteAttempt(_ change: BackendChange, of id: NSManagedObjectID, baseVersion: Int64?, sentAfter time: Duration) {
        state.withLock { state in
            let new = Entry(change: change, followed: nil, baseVersion: baseVersion, state: .unknown, firstSent: time)
            var entry = state.entries[id] ?? new
            if entry.baseVersion != baseVersion || entry.change.kind == .delete { entry = new }
            entry.attempts.append(change)
            state.entries[id] = entry
        }
    }

    /// Forgets what was sent of an object; its keys too, which belong to changes that are settled.
    func settle(_ id: NSManagedObjectID) {
        state.withLock { state in
            state.entries[id] = nil
            state.keys[id] = nil
        }
    }

    /// Forgets a change that was refused. What was saved of the object before stays known, as does a new object that is there: sent again, it would be
    /// saved twice. Another attempt has a key of its own.
    func settleRefusal(_ id: NSManagedObjectID) {
        state.withLock { state in
            state.keys[id] = nil
            if case .saved? = state.entries[id]?.state { return }
            state.entries[id] = nil
        }
    }

    /// Forgets a change that has met one of others. A new object that was saved before stays known, with the version that its changes follow: where its
    /// context knows its ID, a merge policy makes them an update of what others have made of it, and without one they meet the same again. Where the backend
    /// has assigned an identifier of which the context does not know, nothing but another save can say that the program wants its own.
    ///
    /// - Parameter version: The version that the object has now; nil where it has none.
    func settle(_ id: NSManagedObjectID, meeting version: ResourceVersion?) {
        state.withLock { state in
            state.keys[id] = nil
            if let entry = state.entries[id], entry.change.kind == .insert, case .saved = entry.state {
                if entry.change.id == nil { state.entries[id]?.state = .saved(version) }
            } else {
                state.entries[id] = nil
            }
        }
    }

    /// Forgets that an outcome is not known, because it has turned out; the keys stay.
    func forgetEntry(_ id: NSManagedObjectID) { state.withLock { $0.entries[id] = nil } }

    /// Returns the key of a change: the one that it was sent with before, or the new one.
    func key(of draft: BackendChange, _ id: NSManagedObjectID, baseVersion: Int64?) -> UUID {
        let content = Content(id: id, kind: draft.kind, version: baseVersion, values: draft.values, lists: draft.lists)
        return state.withLock { state in
            if let known = state.keys[id]?[content] { return known }
            state.keys[id, default: [:]][content] = draft.idempotencyKey
            return draft.idempotencyKey
        }
    }
}

extension BackendChange {
    /// Whether another change says the same.
    func hasSameContent(as other: BackendChange) -> Bool {
        kind == other.kind && id == other.id && values == other.values && lists == other.lists
    }

    /// Whether it is an update of nothing.
    var isEmptyUpdate: Bool { kind == .update && values.isEmpty && lists.isEmpty }

    /// Returns this change with another one that follows it, as one.
    func followed(by next: BackendChange) -> BackendChange {
        var both = self
        both.values.merge(next.values) { _, new in new }
        both.changedProperties.formUnion(next.changedProperties)
        for (name, list) in next.lists {
            both.lists[name] = (both.lists[name] ?? ListChange()).followed(by: list)
        }
        return both
    }

    /// Leaves out what was sent before: this change follows it.
    ///
    /// - Parameter isWhole: Whether all values are needed where one is.
    mutating func follow(_ sent: BackendChange, isWhole: Bool) {
        for (name, value) in sent.values where values[name] == nil && !value.isNull {
            // Of a new resource values that are nil are not sent.
            if case .one = value { values[name] = .one(nil) } else { values[name] = .value(.null) }
        }
        let changed = values.filter { name, value in
            guard let before = sent.values[name] else { return !(sent.kind == .insert && value.isNull) }
            return before != value && !(before.isNull && value.isNull)
        }
        if !isWhole || changed.isEmpty { values = changed }
        var rest: [String: ListChange] = [:]
        for name in Set(lists.keys).union(sent.lists.keys) {
            let (now, before) = (lists[name] ?? ListChange(), sent.lists[name] ?? ListChange())
            if now == before { continue }
            var list = ListChange()
            list.added = now.added.filter { !before.added.contains($0) } + before.removed.filter { !now.removed.contains($0) }
            list.removed = now.removed.filter { !before.removed.contains($0) } + before.added.filter { !now.added.contains($0) }
            list.members = now.members
            if !list.added.isEmpty || !list.removed.isEmpty || now.members != before.members { rest[name] = list }
        }
        lists = rest
        changedProperties = Set(changed.keys).union(rest.keys)
    }
}

extension BackendChange.ListChange {
    /// Returns this change with another one that follows it, as one.
    func followed(by next: BackendChange.ListChange) -> BackendChange.ListChange {
        var joined = BackendChange.ListChange()
        joined.added = added.filter { !next.removed.contains($0) } + next.added.filter { !removed.contains($0) }
        joined.removed = removed.filter { !next.added.contains($0) } + next.removed.filter { !added.contains($0) }
        joined.members = next.members
        return joined
    }

    /// The change that undoes this one.
    var inverted: BackendChange.ListChange { .init(added: removed, removed: added, members: members) }
}
