internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The rule for the displayed values: the values that the backend has confirmed, merged with pending changes.
///
/// The functions do not access the file. Each receives the displayed values of the row, and returns the values to display.
extension PendingRecord {
    /// The displayed values of the object's row.
    struct Shown {
        /// The names of the attributes and to-one relationships that are sent.
        let names: [String]
        /// A closure that returns the value of one of them, with local references.
        let value: (String) -> ResourceValue
        /// A closure that returns the members of an ordered list, with local references.
        let members: (String) -> [ResourceReference]

        init(
            names: [String], value: @escaping (String) -> ResourceValue, members: @escaping (String) -> [ResourceReference] = { _ in [] }
        ) { (self.names, self.value, self.members) = (names, value, members) }
    }

    // MARK: Edits

    /// Notes an edit.
    ///
    /// - Parameters:
    ///   - before: The previous values of the changed properties.
    ///   - edits: The edits of lists. For an ordered list, the members are the previous ones, in order.
    mutating func edit(_ before: [String: ResourceValue], _ edits: [String: BackendChange.ListChange] = [:], _ shown: Shown) {
        if isConfirmed { for (name, value) in before where confirmed[name] == nil { confirmed[name] = value } }
        for (name, edit) in edits {
            if let known = lists[name] {
                lists[name] = known.followed(by: edit)
                lists[name]?.members = known.members
            } else {
                lists[name] = edit
            }
        }
        reopen()
        prune(shown)
    }

    /// Notes a deletion.
    mutating func delete() {
        isShown = false
        reopen()
        if isDeletedByOthers, sent == nil { end() }
    }

    /// Whether others have deleted the object.
    var isDeletedByOthers: Bool { theirs.map { $0.values == nil } ?? false }

    /// Resets the record if the object was deleted by others and has no pending changes.
    mutating func endIfSettled() { if isDeletedByOthers, sent == nil, !isShown || confirmed.isEmpty && lists.isEmpty { end() } }

    /// Resets the record: the object no longer exists anywhere.
    private mutating func end() {
        clear(isGone: true)
        (isConfirmed, isShown, confirmed, lists, version) = (false, false, [:], [:], nil)
    }

    /// Removes confirmed values that no longer differ, except those in flight: they may differ once the answer has come.
    mutating func prune(_ shown: Shown) {
        guard isShown, isConfirmed else { return }
        confirmed = confirmed.filter { sent?.values[$0.key] != nil || !shown.value($0.key).isSame(as: $0.value) }
        lists = lists.filter { name, list in
            !list.added.isEmpty || !list.removed.isEmpty || list.members.map { $0 != shown.members(name) } ?? false
        }
        uploads = uploads.filter { confirmed[$0.key] != nil }
    }

    // MARK: Sending

    /// A change with local references.
    struct Draft: Hashable, Sendable {
        var kind: Resource.Saving.Kind
        var values: [String: ResourceValue] = [:]
        var changed: Set<String> = []
        /// For an ordered list, the members are the displayed ones, in order.
        var lists: [String: BackendChange.ListChange] = [:]
    }

    /// Returns the change to send now; nil if there is nothing to send.
    ///
    /// - Parameters:
    ///   - isWhole: Whether an update contains all values.
    ///   - omitted: The properties whose destinations have no identifiers yet. They follow later.
    func draft(_ shown: Shown, isWhole: Bool = false, omitted: Set<String> = []) -> Draft? {
        guard let kind else { return nil }
        var draft = Draft(kind: kind)
        if kind == .delete { return draft }
        for name in shown.names where !omitted.contains(name) {
            let value = shown.value(name)
            if kind == .insert {
                if !value.isNull { draft.values[name] = value }
            } else if let known = confirmed[name], !known.isSame(as: value) {
                draft.values[name] = value
                draft.changed.insert(name)
            }
        }
        if kind == .insert { draft.changed = Set(draft.values.keys) }
        for (name, list) in lists where !omitted.contains(name) {
            var sent = BackendChange.ListChange(added: list.added, removed: kind == .insert ? [] : list.removed)
            if let before = list.members {
                let now = shown.members(name)
                if kind == .update, before == now { continue }
                sent.members = now
            }
            if sent.added.isEmpty, sent.removed.isEmpty, sent.members?.isEmpty ?? true, kind == .insert { continue }
            draft.lists[name] = sent
            draft.changed.insert(name)
        }
        if kind == .update {
            if draft.values.isEmpty, draft.lists.isEmpty { return nil }
            if isWhole {
                for name in shown.names where draft.values[name] == nil && !omitted.contains(name) {
                    draft.values[name] = shown.value(name)
                }
            }
        }
        return draft
    }

    // MARK: Answers

    /// Notes that the backend has saved the sent change.
    ///
    /// - Parameters:
    ///   - id: The identifier that the backend has assigned.
    ///   - told: The values that the backend has computed, with local references.
    /// - Returns: The values that the row has to display in addition.
    mutating func acknowledge(
        id: ResourceID? = nil, version new: ResourceVersion?, _ told: [String: ResourceValue] = [:], _ shown: Shown
    ) -> [String: ResourceValue] {
        let isOld = isOld(new)
        guard sent != nil, let was = takeSaved() else { return [:] }
        var written: [String: ResourceValue] = [:]
        switch was.change.kind {
        case .delete:
            forgetTheirs()
            (isConfirmed, confirmed, lists, version) = (false, [:], [:], nil)
            return [:]
        case .insert:
            isConfirmed = true
            resource = id ?? resource
            for name in shown.names { confirmed[name] = was.values[name] ?? shown.value(name).empty }
        case .update:
            // If the change contains the whole object, its other properties have their confirmed values.
            for (name, value) in was.values where was.change.changedProperties.contains(name) { confirmed[name] = value }
        }
        if isDeletedByOthers {
            // The deletion happened after the save.
        } else if !isOld, theirs != nil {
            // The sent change has overwritten the changes of others, or the backend has merged them.
            forgetTheirs()
        } else if let known = theirs, let values = known.values, isShown {
            // Others have changed the sent properties after the save. If they were not edited since, there is no conflict.
            let contested = values.filter { name, _ in confirmed[name].map { !shown.value(name).isSame(as: $0) } ?? false }
            for (name, value) in values where contested[name] == nil { (written[name], confirmed[name]) = (value, nil) }
            if contested.isEmpty {
                forgetTheirs()
                version = known.version
            } else {
                note(Theirs(values: contested, version: known.version))
            }
        }
        for (name, value) in told where !isOld {
            let before = was.values[name] ?? confirmed[name] ?? shown.value(name)
            if shown.value(name).isSame(as: before) {
                written[name] = value
                confirmed[name] = nil
            } else {
                confirmed[name] = value
            }
        }
        lists = Self.rest(of: lists, after: was.lists)
        if theirs == nil, !isOld { version = new }
        prune(shown.showing(written))
        endIfSettled()
        return written
    }

    /// Whether the outcome of the sent change has an older version than an earlier read: the change was sent again, and others have changed the object since it
    /// was saved.
    func isOld(_ new: ResourceVersion?) -> Bool {
        guard let sent, let new, let known = theirs?.version ?? version else { return false }
        if case .number(let old) = known, case .number(let new) = new { return old > new }
        // A tag that differs from the one that the change is based on was read after the change was saved. Before that, the change would have been in conflict.
        return sent.change.kind == .update && sent.change.version != nil && known != sent.change.version && known != new
    }

    /// Returns the remaining edits of lists after a part of them was sent.
    static func rest(
        of now: [String: BackendChange.ListChange], after sent: [String: BackendChange.ListChange]
    ) -> [String: BackendChange.ListChange] {
        var rest = now
        for (name, before) in sent {
            let now = now[name] ?? .init()
            var list = BackendChange.ListChange()
            list.added = now.added.filter { !before.added.contains($0) } + before.removed.filter { !now.removed.contains($0) }
            list.removed = now.removed.filter { !before.removed.contains($0) } + before.added.filter { !now.added.contains($0) }
            list.members = before.members
            rest[name] = list.added.isEmpty && list.removed.isEmpty && list.members == nil ? nil : list
        }
        return rest
    }

    // MARK: Reads

    /// Merges the result of a read: its values become the confirmed ones, and pending changes stay on top.
    ///
    /// A property is contested if others have changed it to a value other than the one set here: see ``settle(_:_:)``. A partial read, such as a list with few
    /// properties, says nothing about the other properties: their conflicts remain, and the change is still based on the previous version. A read made for
    /// comparison is final: properties that it does not contain are not available from any read.
    ///
    /// - Parameters:
    ///   - compares: Whether the read was made to compare the object with changes of others.
    ///   - kept: The properties that keep their displayed values even if only others have changed them. They become pending.
    ///   - uncompared: The properties whose values are not compared.
    /// - Returns: The values that the row has to display.
    mutating func receive(
        _ values: [String: ResourceValue], version new: ResourceVersion?, _ shown: Shown, compares: Bool = false,
        keeping kept: Set<String> = [], uncompared: Set<String> = []
    ) -> [String: ResourceValue] {
        // For a new object, the answer to the insert tells its state, or the backend refuses it.
        guard isConfirmed, !isDeletedByOthers else { return [:] }
        if let new, let version, version.isNewer(than: new) { return [:] }
        if let known = theirs?.version, known.isNewer(than: new) { return [:] }
        var written: [String: ResourceValue] = [:]
        var contested: [String: ResourceValue] = [:]
        for (name, value) in values {
            let mine = shown.value(name)
            guard let base = confirmed[name] else {
                if value.isSame(as: mine) {
                    // An earlier read has returned the value, and the conflict is still to be resolved.
                    if !isShown, theirs?.values?[name] != nil { contested[name] = value }
                    continue
                }
                if kept.contains(name) {
                    (confirmed[name], isMerged) = (value, true)
                    continue
                }
                written[name] = value
                // For a deleted object, every change of others is contested.
                if !isShown { contested[name] = value }
                continue
            }
            // A property that was set without having been read has no confirmed value to compare with.
            let isOwn = base == .many([]) || value.isSame(as: mine) || sent?.values[name]?.isSame(as: value) ?? false
            if isOwn || value.isSame(as: base) { confirmed[name] = value } else { contested[name] = value }
        }
        if !written.isEmpty { isMerged = true }
        for (name, value) in theirs?.values ?? [:] where values[name] == nil && (confirmed[name] != nil || !isShown) {
            contested[name] = value
        }
        let isTold = compares || isTold(by: values, shown, besides: uncompared)
        if contested.isEmpty {
            forgetTheirs()
            if isTold { version = new }
            prune(shown.showing(written))
        } else {
            note(Theirs(values: contested, version: isTold ? new : theirs?.version ?? version))
        }
        return written
    }

    /// Whether values cover all pending properties: otherwise others may have changed the missing ones. For a deleted object, these are all properties.
    func isTold(by values: [String: ResourceValue], _ shown: Shown, besides uncompared: Set<String>) -> Bool {
        let names = isShown ? Array(confirmed.filter { $0.value != .many([]) }.keys) : shown.names
        return names.allSatisfy { values[$0] != nil || uncompared.contains($0) }
    }

    /// Notes that others have deleted the object.
    mutating func receiveDeletion() {
        guard isConfirmed else { return }
        if isShown { note(Theirs(values: nil, version: nil)) } else { end() }
    }

    // MARK: Conflicts

    /// The values that an object has to display after a conflict was resolved, or a change dropped.
    struct Settlement: Hashable, Sendable {
        /// The values to display.
        var values: [String: ResourceValue] = [:]
        /// The edits of lists to revert.
        var undone: [String: BackendChange.ListChange] = [:]
        /// Whether the row is removed.
        var isRemoved = false
        /// Whether the backend's identifier is removed: the object is sent as a new one.
        var isNew = false
    }

    /// Resolves a conflict by a rule.
    ///
    /// - Parameter isAssigned: Whether the backend assigns identifiers: an object that is created again then gets a new one.
    mutating func settle(_ rule: ConflictResolution, _ shown: Shown, isAssigned: Bool = true) -> Settlement {
        var settlement = Settlement()
        guard let theirs else { return settlement }
        let takesMine: Bool
        switch rule {
        case .setAside, .resolver:
            setAside()
            return settlement
        case .preferMine, .overwrite: takesMine = true
        case .preferTheirs: takesMine = false
        case .rollback: return drop()
        }
        isMerged = true
        guard let values = theirs.values else {
            // Others have deleted the object.
            guard takesMine else { return drop() }
            clear()
            (isConfirmed, confirmed, version) = (false, [:], nil)
            if isAssigned { (resource, settlement.isNew) = (nil, true) }
            return settlement
        }
        if !isShown, !takesMine { return drop() }
        clear()
        version = theirs.version
        if isShown {
            for (name, value) in values {
                if takesMine {
                    confirmed[name] = value
                } else {
                    settlement.values[name] = value
                    confirmed[name] = nil
                }
            }
        }
        prune(shown.showing(settlement.values))
        return settlement
    }

    /// Drops the change: the confirmed values are displayed again.
    ///
    /// - Parameter keepsAttempts: Whether the number of attempts is kept if the row is removed.
    mutating func drop(keepsAttempts: Bool = false) -> Settlement {
        var settlement = Settlement()
        let theirs = theirs
        let isRemoved = !isConfirmed || theirs.map { $0.values == nil } ?? false
        clear(attempts: isRemoved && keepsAttempts ? attempts : 0)
        defer { (confirmed, lists, uploads) = ([:], [:], [:]) }
        if isRemoved {
            isConfirmed = false
            settlement.isRemoved = true
            isShown = false
            return settlement
        }
        settlement.values = confirmed.merging(theirs?.values ?? [:]) { _, new in new }
        settlement.undone = lists
        if let new = theirs?.version { version = new }
        isShown = true
        return settlement
    }
}

extension PendingRecord.Shown {
    /// Returns the displayed values after some values were written.
    func showing(_ written: [String: ResourceValue]) -> PendingRecord.Shown {
        written.isEmpty ? self : PendingRecord.Shown(names: names, value: { written[$0] ?? value($0) }, members: members)
    }
}

extension ResourceVersion {
    /// Whether the version is known to be newer. Tags have no order.
    func isNewer(than other: ResourceVersion?) -> Bool {
        if case .number(let own) = self, case .number(let others)? = other { own > others } else { false }
    }
}
