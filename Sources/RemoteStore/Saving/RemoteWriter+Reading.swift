internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The reads around a save: changes of others, versions, and whether a change with an unknown outcome was saved.
extension RemoteWriter {
    // MARK: Changes whose outcome is not known

    /// Prepares changes of objects that have an earlier change with an unknown outcome.
    ///
    /// An idempotent backend receives the same change again, and later edits follow as an update. Otherwise the object is read by its identifier. A new object
    /// whose identifier the backend assigns is not sent again.
    func repeatUnsettled(_ pending: inout [PendingChange], _ report: inout SaveProgress, for caller: StoreCaller) async {
        for index in pending.indices {
            let one = pending[index]
            guard let known = unsettled[one.id] else { continue }
            guard one.kind == .insert || known.baseVersion == one.change.baseVersion else {
                // The object was read since: either that row contains the change, or the change is made again.
                unsettled.forgetEntry(one.id)
                continue
            }
            let canRepeat = one.saving.repeats(keyOfAge: (reader.options.now() - known.firstSent).inSeconds)
            var attempts = known.attempts
            // If the backend has forgotten the key of an update, the update is looked up like one without a key.
            if case .unknown = known.state, known.change.kind == .update, !canRepeat, attempts.isEmpty { attempts = [known.change] }
            if !attempts.isEmpty {
                do {
                    if let (saved, version) = try await savedAttempt(attempts, known, one, for: caller) {
                        unsettled.note(saved, of: one.id, baseVersion: one.change.baseVersion, .saved(version), sentAfter: report.began)
                        follow(saved, version, index, &pending, &report)
                        continue
                    }
                } catch {
                    // Without this read, the change could conflict with its own earlier attempt, as if others had made it.
                    pending[index].state = .done(.unknown(error as NSError))
                    report.outcomes[one.id] = .unknown(error as NSError)
                    continue
                }
            }
            switch (known.state, known.change.kind, one.kind) {
            case (.saved(let version), _, _): follow(known.change, version, index, &pending, &report)
            case (.accepted, _, .insert): await seek(known.change, canRepeat: canRepeat, index, &pending, &report, for: caller)
            case (.unknown, .insert, .insert) where !canRepeat:
                await lookFor(known.change, index, &pending, &report, for: caller)
            case (.unknown, .insert, .insert), (.unknown, .update, .update), (.unknown, .update, .delete), (.unknown, .update, .insert):
                guard canRepeat else { continue }
                pending[index].repeated = known.change
                pending[index].followed = known.followed
                pending[index].dependencies = []
                // Other changes may refer to a new object that was saved before.
                if known.followed?.kind == .insert { report.outcomes[one.id] = .accepted }
            case (.unknown, .delete, .delete): continue
            default: unsettled.forgetEntry(one.id)
            }
        }
    }

    /// Lets a change follow an earlier one that was saved.
    private func follow(
        _ sent: BackendChange, _ version: ResourceVersion?, _ index: Int, _ pending: inout [PendingChange], _ report: inout SaveProgress
    ) {
        let one = pending[index]
        pending[index] = PendingChange(index, of: one, following: sent, version)
        pending[index].dependencies = newReferences(of: pending[index], report)
        // Other changes may refer to it.
        if one.kind == .insert { report.outcomes[one.id] = .accepted }
    }

    /// Reads the object to determine which of several attempts to change it was saved.
    ///
    /// - Returns: Everything that was saved of it, with its version; nil if nothing was saved, or if others have changed the object, too.
    /// - Throws: The error of the read, in which case the outcome stays unknown.
    private func savedAttempt(
        _ attempts: [BackendChange], _ known: UnsettledChanges.Entry, _ one: PendingChange, for caller: StoreCaller
    ) async throws -> (change: BackendChange, version: ResourceVersion?)? {
        guard let row = try await reader.read([one.id], isFresh: true, for: caller).first else { return nil }
        for attempt in attempts.reversed() {
            var whole = attempt
            if case .saved = known.state { whole = known.change.followed(by: attempt) }
            let isElsewhereTheSame = one.change.base.map { row.hasEqualKnownValues(as: $0, besides: whole.changedProperties) } ?? true
            if isElsewhereTheSame, reader.contains(row, whole.values) { return (whole, reader.versions.version(one.id, row.version)) }
        }
        return nil
    }

    /// Reads whether a new object was saved.
    private func lookFor(
        _ sent: BackendChange, _ index: Int, _ pending: inout [PendingChange], _ report: inout SaveProgress, for caller: StoreCaller
    ) async {
        let one = pending[index]
        func fail(_ outcome: IncompleteSave.Outcome) {
            pending[index].state = .done(outcome)
            report.outcomes[one.id] = outcome
        }
        guard sent.id != nil else {
            return fail(
                .refused(
                    CoreDataError.make(
                        NSPersistentStoreSaveError, "A new “\(sent.entity)” is not sent again.",
                        reason:
                            "It was sent before, and the answer was lost: it may be saved already, and the backend would save it twice.",
                        next: "Fetch to see whether it is there; delete this object then, and insert another where it is not.")))
        }
        do {
            guard let row = try await reader.read([one.id], isFresh: true, for: caller).first else { return unsettled.forgetEntry(one.id) }
            var isOwn = reader.contains(row, sent.values)
            if case .newUUID = one.saving.identity { isOwn = true }
            // Another object has the identifier: the backend will refuse this one.
            guard isOwn else { return unsettled.forgetEntry(one.id) }
            let version = reader.versions.version(one.id, row.version)
            let rest = draft(of: PendingChange(index, of: one, following: sent, version)).values
            // Bounded: the keys of a dictionary.
            let before = Dictionary(uniqueKeysWithValues: rest.map { ($0.key, sent.values[$0.key] ?? $0.value.empty) })
            // The following edits are based on the sent values, and others have changed the same properties since.
            if !reader.contains(row, before), !reader.contains(row, rest) { return fail(.conflicting(row)) }
            unsettled.note(sent, of: one.id, baseVersion: nil, .saved(version), sentAfter: report.began)
            follow(sent, version, index, &pending, &report)
        } catch {
            fail(.unknown(error as NSError))
        }
    }

    /// Looks for a new object that was accepted without an identifier. If exactly one resource has the sent values, the object gets its identifier.
    private func seek(
        _ sent: BackendChange, canRepeat: Bool, _ index: Int, _ pending: inout [PendingChange], _ report: inout SaveProgress,
        for caller: StoreCaller
    ) async {
        let one = pending[index]
        let found: [NSManagedObjectID]
        do { found = try await reader.seek(sent, one.entity, for: caller) } catch {
            pending[index].state = .done(.unknown(error as NSError))
            report.outcomes[one.id] = .unknown(error as NSError)
            return
        }
        if found.count == 1 {
            report.assigned[one.id] = found[0]
            unsettled.forgetEntry(one.id)
            // The object is read again: properties that the answer did not report are unknown, too.
            unsettled.note(sent, of: found[0], baseVersion: one.change.baseVersion, .saved(nil), sentAfter: report.began)
            report.unversioned.append(found[0])
            return follow(sent, nil, index, &pending, &report)
        }
        if canRepeat {
            pending[index].repeated = sent
            pending[index].dependencies = []
            return
        }
        let error = RemoteStoreError.isNotIdentified(sent, found.count)
        pending[index].state = .done(.unknown(error))
        report.outcomes[one.id] = .unknown(error)
    }

    // MARK: Changes of others

    /// Compares objects with their current values if the backend does not detect conflicts, and checks whether new objects already exist if the backend would
    /// replace them.
    func compareWithReading(
        _ pending: inout [PendingChange], _ report: inout SaveProgress, for caller: StoreCaller
    ) async throws {
        let compared = pending.indices.filter { index in
            guard case .waiting = pending[index].state else { return false }
            if pending[index].kind == .insert {
                return pending[index].saving.insertsReplace && reader.decoding.resourceID(pending[index].id.current) != nil
            }
            guard pending[index].change.base != nil else { return false }
            return pending[index].saving.conflicts == .byReading || isOutdated(pending[index])
        }
        if compared.isEmpty { return }
        let rows = try await reader.read(compared.map { pending[$0].id }, isFresh: true, for: caller)
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        for index in compared {
            let current = byID[pending[index].id]
            if pending[index].kind == .insert {
                // The object is its own: an attempt whose answer was lost has created it.
                guard let current, unsettled[pending[index].id].map({ !reader.contains(current, $0.change.values) }) ?? true else {
                    continue
                }
                pending[index].state = .done(.conflicting(current))
                report.outcomes[pending[index].id] = .conflicting(current)
                continue
            }
            guard let base = pending[index].change.base else { continue }
            if let current, !isOutdated(pending[index]), current.hasEqualKnownValues(as: base) { continue }
            // The change is its own: its outcome was not known.
            if let current, let sent = unsettled[pending[index].id]?.change, reader.contains(current, sent.values) { continue }
            let stored = current?.filled(from: base)
            pending[index].state = .done(.conflicting(stored))
            report.outcomes[pending[index].id] = .conflicting(stored)
        }
    }

    /// Whether this program has read or saved a later version of the object: the conflict is then known without the backend.
    func isOutdated(_ change: PendingChange) -> Bool {
        change.saving.conflicts == .backend
            && change.change.baseVersion.map { reader.versions.isOutdated(change.id, $0) } ?? false
    }

    /// Reads the versions that the backend has not reported.
    func learnVersions(_ report: inout SaveProgress, for caller: StoreCaller) async {
        if report.unversioned.isEmpty { return }
        do {
            for row in try await reader.read(report.unversioned, isFresh: true, for: caller) {
                report.rows[row.knownObjectID] = row
                guard let (id, sent) = report.untold[row.knownObjectID] else { continue }
                let names = reader.untaken(row, of: sent)
                if !names.isEmpty { report.noteUntaken(id, RemoteStoreError.isUntaken(names, sent)) }
            }
        } catch {
            // The save succeeded. The next save of these objects will meet a conflict and read them.
            RequestRunner.log.warning("The versions of \(report.unversioned.count) saved objects could not be read: \(error)")
        }
    }
}

extension ResourceID {
    /// Creates an identifier from the value of an attribute; nil for a type that cannot be an identifier.
    init?(_ value: PropertyValue) {
        switch value {
        case .int64(let number): self = .integer(number)
        case .string(let text): self = .string(text)
        case .uuid(let uuid): self = .uuid(uuid)
        default: return nil
        }
    }
}

extension RemoteReader {
    /// Returns the properties of an update that still have their previous values in a row of the version that the update is based on. The backend has not saved
    /// them, even if it reported success.
    func untaken(_ row: Row, of change: BackendChange) -> [String] {
        change.version == nil ? [] : unchanged(row, by: change)
    }

    /// Returns the same for an update at a backend that may have no versions, judging by the values alone.
    func unchanged(_ row: Row, by change: BackendChange) -> [String] {
        guard change.kind == .update else { return [] }
        // A row's number is its version, even if the save did not report one.
        if let version = change.version, version != .number(row.version), version != versions.version(row.knownObjectID, row.version) {
            return []
        }
        return change.changedProperties.filter { name in
            guard let sent = change.values[name], let base = change.base[name] else { return false }
            return !contains(row, [name: sent]) && contains(row, [name: base])
        }.sorted()
    }

    /// Returns whether all objects have identifiers.
    func decodesAll(_ ids: [NSManagedObjectID]) -> Bool { ids.allSatisfy { decoding.resourceID($0.current) != nil } }
}
