internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The changes that were sent and are not settled, by object: their outcome is unknown, or a part of them is still to be sent.
///
/// An object may be edited before its change is retried. Then the original change is sent again unchanged, with its key, and the edit follows as an update.
/// Whatever the outcome of the first attempt, the object is saved once and no edit is lost.
// Everything is in a `LockedBox`.
final class UnsettledChanges: Sendable {
    enum State {
        /// It is not known whether it was saved.
        case unknown
        /// It is a new object that was accepted without an identifier. The store looks for it instead of sending it again as another one.
        case accepted
        /// It was saved, with a version; the change that was to follow was not.
        case saved(ResourceVersion?)
    }
    struct Entry {
        let change: BackendChange
        /// The saved change of the object that this change follows.
        let followed: BackendChange?
        let baseVersion: Int64?
        fileprivate(set) var state: State
        /// The time when the change's key was first sent, by the clock of the store's options.
        let firstSent: Duration
        /// The changes that may have reached a backend that is not idempotent. At most one of them was saved, because all have the same base version.
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
        /// The keys of the sent changes.
        var keys: [NSManagedObjectID: [Content: UUID]] = [:]
    }

    private let state = LockedBox(Contents())

    subscript(id: NSManagedObjectID) -> Entry? { state.withLock { $0.entries[id] } }

    /// Notes a change that was sent.
    ///
    /// - Parameter time: A time before it was sent. If the change was sent before under its key, the first time is kept.
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

    /// Forgets the sent changes of an object, with the keys, which belong to settled changes.
    func settle(_ id: NSManagedObjectID) {
        state.withLock { state in
            state.entries[id] = nil
            state.keys[id] = nil
        }
    }

    /// Forgets a change that was refused. A saved part of the object stays known, as does a new object that exists: sent again, it would be saved twice.
    /// Another attempt has a key of its own.
    func settleRefusal(_ id: NSManagedObjectID) {
        state.withLock { state in
            state.keys[id] = nil
            if case .saved? = state.entries[id]?.state { return }
            state.entries[id] = nil
        }
    }

    /// Forgets a change that was in conflict with one of others. A new object that was saved before stays known, with the version that its changes follow. If
    /// its context knows its ID, a merge policy turns the changes into an update of the others' version, and without a policy they meet the same conflict
    /// again. If the backend has assigned an identifier that the context does not know, only another save can express that the program wants its own values.
    ///
    /// - Parameter version: The current version of the object; nil if it has none.
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

    /// Forgets an unknown outcome that has become known; the keys stay.
    func forgetEntry(_ id: NSManagedObjectID) { state.withLock { $0.entries[id] = nil } }

    /// Returns the key of a change: the one with which it was sent before, or the new one.
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
    /// Whether another change has the same content.
    func hasSameContent(as other: BackendChange) -> Bool {
        kind == other.kind && id == other.id && values == other.values && lists == other.lists
    }

    /// Whether it is an update without any values.
    var isEmptyUpdate: Bool { kind == .update && values.isEmpty && lists.isEmpty }

    /// Returns this change combined with one that follows it.
    func followed(by next: BackendChange) -> BackendChange {
        var both = self
        both.values.merge(next.values) { _, new in new }
        both.changedProperties.formUnion(next.changedProperties)
        for (name, list) in next.lists {
            both.lists[name] = (both.lists[name] ?? ListChange()).followed(by: list)
        }
        return both
    }

    /// Removes the content that was sent before: this change follows it.
    ///
    /// - Parameter isWhole: Whether all values are sent if one has changed.
    mutating func follow(_ sent: BackendChange, isWhole: Bool) {
        for (name, value) in sent.values where values[name] == nil && !value.isNull {
            // The values of a new resource that are nil are not sent.
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
    /// Returns this change combined with one that follows it.
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
