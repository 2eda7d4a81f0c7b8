internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Saves changes to a backend in the order of their dependencies; independent changes are saved concurrently.
// The mutable state is in a `LockedBox`.
final class RemoteWriter: Sendable {
    let reader: RemoteReader
    /// The changes that were sent and are not settled.
    let unsettled = UnsettledChanges()
    /// The calls that execute batch requests.
    let bulk: BulkCalls

    init(_ reader: RemoteReader, _ bulk: BulkCalls) {
        self.reader = reader
        self.bulk = bulk
    }

    // MARK: Identifiers

    /// Returns the IDs of new objects, nil for those that the backend assigns.
    ///
    /// - Throws: Code 134030 for an entity that cannot be saved, or an object whose identifier is not set.
    func knownIDs(for new: NewObjects) throws -> [NSManagedObjectID?] { try new.map { try knownID(of: $0.entity, $0.row) } }

    /// Returns the ID of a new object; nil if the backend assigns it.
    ///
    /// - Throws: Code 134030 for an entity that cannot be saved, or an object whose identifier is not set.
    func knownID(of entity: NSEntityDescription, _ row: Row?) throws -> NSManagedObjectID? {
        let name = entity.name ?? "?"
        guard let saving = reader.catalog.saving(of: entity), saving.kinds.contains(.insert) else {
            throw RemoteStoreError.readOnly(name, at: reader.location)
        }
        switch saving.identity {
        case .assignedByBackend: return nil
        case .newUUID: return reader.decoding.id(.uuid(UUID()), of: entity)
        case .attribute(let key):
            guard let attribute = entity.frozenParts.byName[key] as? NSAttributeDescription,
                let id = ResourceID(row?.value(of: attribute) ?? .null)
            else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "A new “\(name)” cannot be saved.",
                    reason: "“\(key)”, which is its identifier, is not set.", next: "Set it before the save.")
            }
            return reader.decoding.id(id, of: entity)
        case .made(let make):
            var values: [String: ResourceValue] = [:]
            for case let attribute as NSAttributeDescription in entity.frozenParts.properties where !attribute.isTransient {
                if let row { values[attribute.name] = .value(row.value(of: attribute)) }
            }
            return reader.decoding.id(make(values), of: entity)
        }
    }

    // MARK: Saving

    /// Saves changes.
    ///
    /// - Throws: `StoreConflicts` if others have changed the objects and nothing was saved; `IncompleteSave` if a part was saved, or if that is not known; the
    ///   backend's error if nothing was saved.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        try UnsentEdits(reader.catalog, reader.decoding.resourceID).check(changes)
        var pending = try pending(changes)
        var report = SaveProgress(began: reader.options.now())
        for change in changes.locked { report.outcomes[change.objectID] = .accepted }
        reader.runner.beginEpoch()
        // Answers from before the save may be stale.
        defer { reader.forgetEarlierAnswers() }
        await repeatUnsettled(&pending, &report, for: caller)
        try await complete(&pending, for: caller)
        try await compareWithReading(&pending, &report, for: caller)
        while true {
            let ready = nextChanges(&pending, &report)
            if ready.isEmpty { break }
            await send(ready, &pending, &report, for: caller)
        }
        await learnVersions(&report, for: caller)
        return try report.result()
    }

    private func pending(_ changes: StoreChangeSet) throws -> [PendingChange] {
        var pending: [PendingChange] = []
        let new = Set(changes.inserted.map(\.objectID))
        for (kind, part) in [(Resource.Saving.Kind.insert, changes.inserted), (.update, changes.updated), (.delete, changes.deleted)] {
            for change in part {
                let saving = reader.catalog.saving(of: change.entity)
                var one = PendingChange(pending.count, kind, change, saving ?? Resource.Saving([]))
                if one.isEmpty, unsettled[one.id] == nil {
                    // Only the other end of a relationship is sent.
                    one.state = .done(.accepted)
                } else if saving?.kinds.contains(kind) != true {
                    throw RemoteStoreError.readOnly(change.entity.name ?? "?", at: reader.location)
                }
                one.dependencies = Set(one.references.map(\.id).filter { new.contains($0) && $0 != one.id })
                pending.append(one)
            }
        }
        return pending
    }

    /// Loads unknown values of objects that are sent whole.
    private func complete(_ pending: inout [PendingChange], for caller: StoreCaller) async throws {
        for index in pending.indices where pending[index].kind == .update && pending[index].saving.sendsWholeObjects {
            guard let row = pending[index].row else { continue }
            let unknown = pending[index].sentProperties.filter { row.isUnknown($0) && !($0 is NSRelationshipDescription) }
            if unknown.isEmpty { continue }
            if let full = try await reader.values(of: unknown, for: [pending[index].id], for: caller).first {
                pending[index].row = row.filled(from: full)
            }
        }
    }

    // MARK: Order

    /// Returns the changes that can be sent now: those that do not refer to an unsaved object. Deletions come last, and an object is deleted before the objects
    /// that it refers to.
    private func nextChanges(_ pending: inout [PendingChange], _ report: inout SaveProgress) -> [Int] {
        // A change that refers to an object that could not be saved cannot be saved either.
        var waiting = pending.indices.filter { if case .waiting = pending[$0].state { true } else { false } }
        for index in waiting {
            guard let failed = pending[index].dependencies.first(where: report.hasFailed) else { continue }
            let error = CoreDataError.make(
                NSPersistentStoreSaveError, "It refers to \(failed).", reason: "That object could not be saved.",
                next: "See its error, and save again.")
            pending[index].state = .done(.refused(error))
            report.outcomes[pending[index].id] = .refused(error)
        }
        waiting = pending.indices.filter { if case .waiting = pending[$0].state { true } else { false } }
        let changed = waiting.filter { pending[$0].kind != .delete }
        let ready = changed.filter { pending[$0].dependencies.allSatisfy { report.isSaved($0) } }
        if !ready.isEmpty { return ready }
        if let first = changed.first(where: { pending[$0].kind == .insert }) ?? changed.first {
            // The objects refer to each other: the first one is saved without its references, and an update adds them later.
            let back = pending[first].references.filter { !report.isSaved($0.id) && pending[first].dependencies.contains($0.id) }
            let unnamed = Set(waiting.filter { pending[$0].awaitsIdentifier }.map { pending[$0].id })
            if reader.decodesAll(back.map(\.id)), !back.contains(where: { unnamed.contains($0.id) }) {
                pending[first].dependencies = []
            } else {
                pending[first].postponed = Set(back.map(\.name))
                pending[first].awaited = Set(back.map(\.id))
                pending[first].dependencies = []
            }
            return [first]
        }
        // Deletions begin with the objects that no other one refers to.
        let targets = Set(waiting.flatMap { index in pending[index].change.base?.toOneIDs ?? [] })
        let free = waiting.filter { !targets.contains(pending[$0].id) }
        return free.isEmpty ? waiting : free
    }

    // MARK: Sending

    private func send(
        _ ready: [Int], _ pending: inout [PendingChange], _ report: inout SaveProgress, for caller: StoreCaller
    ) async {
        var calls: [[Int]] = []
        var open: [String: Int] = [:]
        for index in ready {
            let key = "\(pending[index].repeated?.kind ?? pending[index].kind) \(pending[index].entity.name ?? "?")"
            if let call = open[key], calls[call].count < pending[index].saving.maximumChanges {
                calls[call].append(index)
            } else {
                open[key] = calls.count
                calls.append([index])
            }
        }
        let assigned = report.assigned
        var prepared: [(indices: [Int], changes: [BackendChange])] = []
        for call in calls {
            var (indices, changes): ([Int], [BackendChange]) = ([], [])
            for index in call {
                let change = sent(pending[index], assigned)
                if change.isEmptyUpdate {
                    // The change that it follows already contained everything.
                    noteSaved(change, nil, pending[index].followedVersion, [:], index, &pending, &report)
                    continue
                }
                indices.append(index)
                changes.append(change)
            }
            if !indices.isEmpty { prepared.append((indices, changes)) }
        }
        let answers = await withTaskGroup(of: (Int, Result<[BackendChange.Key: BackendOutcome], any Error>).self) { group in
            for (number, (_, changes)) in prepared.enumerated() {
                let uploads = pending[prepared[number].indices[0]].saving.uploads
                group.addTask { [reader] in
                    // The result has a statement of its own: optimized code of Swift 6.3 loses the number of a tuple that is built around an `await`.
                    let answer: Result<[BackendChange.Key: BackendOutcome], any Error>
                    do { answer = .success(try await reader.runner.save(changes, uploading: uploads)) } catch { answer = .failure(error) }
                    return (number, answer)
                }
            }
            var answers: [Int: Result<[BackendChange.Key: BackendOutcome], any Error>] = [:]
            for await (number, answer) in group { answers[number] = answer }
            return answers
        }
        for (number, (indices, changes)) in prepared.enumerated() {
            for (index, change) in zip(indices, changes) {
                let outcome: BackendOutcome
                switch answers[number] {
                case .success(let outcomes)?: outcome = outcomes[change.key] ?? .unknown(Self.missingOutcome)
                case .failure(let lost as UnknownOutcome)?: outcome = .unknown(lost.cause)
                case .failure(let error)?:
                    outcome = .refused(error)
                    report.thrown.append(error)
                case nil: outcome = .unknown(Self.missingOutcome)
                }
                await note(outcome, of: change, index, &pending, &report, for: caller)
            }
        }
    }

    static var missingOutcome: NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The outcome of a change is not known.", reason: "The backend's answer does not contain it.",
            next: "Read the object again.")
    }

    private func sent(_ pending: PendingChange, _ assigned: [NSManagedObjectID: NSManagedObjectID]) -> BackendChange {
        if var repeated = pending.repeated {
            repeated.key = BackendChange.Key(number: pending.number)
            return repeated
        }
        var draft = draft(of: pending, assigned)
        draft.idempotencyKey = unsettled.key(of: draft, assigned[pending.id] ?? pending.id, baseVersion: pending.change.baseVersion)
        return draft
    }

    /// Returns a change as it would be sent now, with a new key.
    func draft(of pending: PendingChange, _ assigned: [NSManagedObjectID: NSManagedObjectID] = [:]) -> BackendChange {
        let version =
            pending.isFollowing
            ? pending.followedVersion : pending.change.baseVersion.flatMap { reader.versions.version(pending.id, $0) }
        return pending.sent(
            reader.decoding, version: pending.saving.conflicts == .backend ? version : nil, idempotencyKey: UUID(),
            current: { assigned[$0] ?? $0.current })
    }

    // MARK: Outcomes

    private func note(
        _ outcome: BackendOutcome, of sent: BackendChange, _ index: Int, _ pending: inout [PendingChange], _ report: inout SaveProgress,
        for caller: StoreCaller
    ) async {
        let one = pending[index]
        switch outcome {
        case .saved(let id, let version, let values):
            noteSaved(sent, id, version, values, index, &pending, &report)
        case .conflict(nil, _) where one.kind == .delete && isRepeatedDeletion(one):
            // The call whose answer was lost has removed it.
            noteSaved(sent, nil, nil, [:], index, &pending, &report)
        case .conflict(let values, let version):
            let found: IncompleteSave.Outcome
            do {
                let row = try await current(one, report.currentID(one), values, version, for: caller)
                found = .conflicting(row)
                let id = report.currentID(one)
                if let row {
                    unsettled.settle(id, meeting: reader.versions.version(id, row.version))
                } else {
                    unsettled.settle(id)
                }
            } catch { found = .refused(error as NSError) }
            report.outcomes[one.id] = found
            pending[index].state = .done(found)
        case .refused(let error):
            if let part = error as? PartRefusal, !part.saved.isEmpty {
                noteSaved(sent.only(part.saved), of: one, report)
            } else if report.thrown.isEmpty, !isUnknown(one) || Prospect(error).settlesEarlierAttempts {
                // A call that failed may be repeated. A change that was refused is settled, unless an earlier attempt may have arrived and the refusal says
                // nothing about that attempt.
                unsettled.settleRefusal(report.currentID(one))
            }
            let told = RemoteStoreError.told(error) as NSError
            report.outcomes[one.id] = .refused(told)
            pending[index].state = .done(.refused(told))
        case .unknown(let error):
            switch error {
            case let error as UnreadAnswer where error.isLater && sent.kind == .update:
                // The next save checks whether the change was made by then.
                unsettled.noteAttempt(
                    sent, of: report.currentID(one), baseVersion: one.change.baseVersion, sentAfter: report.began)
            case is UnreadAnswer: noteAccepted(sent, one, report)
            default: noteUnknown(sent, one, report)
            }
            report.outcomes[one.id] = .unknown(error as NSError)
            pending[index].state = .done(.unknown(error as NSError))
        }
    }

    /// Notes the saved part of a change whose rest was refused. The rest follows with the next save.
    private func noteSaved(_ part: BackendChange, of one: PendingChange, _ report: SaveProgress) {
        // A deletion is sent again unchanged, for the remaining parts of the object.
        if part.kind == .delete {
            return unsettled.note(part, of: one.id, baseVersion: one.change.baseVersion, .unknown, sentAfter: report.began)
        }
        let before = one.settled ?? one.followed
        unsettled.note(
            before?.followed(by: part) ?? part, of: report.currentID(one), baseVersion: one.change.baseVersion, .saved(nil),
            sentAfter: report.began)
    }

    /// Notes a change that was accepted, although its answer cannot be used.
    private func noteAccepted(_ sent: BackendChange, _ one: PendingChange, _ report: SaveProgress) {
        guard sent.kind == .insert, sent.id == nil, report.assigned[one.id] == nil else { return noteSaved(sent, of: one, report) }
        unsettled.note(sent, of: one.id, baseVersion: one.change.baseVersion, .accepted, sentAfter: report.began)
    }

    /// Notes a change whose outcome is not known.
    private func noteUnknown(_ sent: BackendChange, _ one: PendingChange, _ report: SaveProgress) {
        let id = report.currentID(one)
        if !one.saving.isIdempotent, sent.kind == .update {
            unsettled.noteAttempt(sent, of: id, baseVersion: one.change.baseVersion, sentAfter: report.began)
        } else if !one.isFollowing {
            unsettled.note(
                sent, following: one.followed, of: one.id, baseVersion: one.change.baseVersion, .unknown, sentAfter: report.began)
        } else if let known = unsettled[id] {
            unsettled.note(
                sent, following: known.change, of: id, baseVersion: one.change.baseVersion, .unknown, sentAfter: report.began)
        }
    }

    /// Whether an earlier attempt of a change may have arrived.
    private func isUnknown(_ one: PendingChange) -> Bool {
        switch unsettled[one.id]?.state {
        case .unknown?, .accepted?: true
        case .saved?, nil: false
        }
    }

    private func isRepeatedDeletion(_ one: PendingChange) -> Bool { isUnknown(one) && unsettled[one.id]?.change.kind == .delete }

    private func noteSaved(
        _ sent: BackendChange, _ id: ResourceID?, _ version: ResourceVersion?, _ values: [String: ResourceValue], _ index: Int,
        _ pending: inout [PendingChange], _ report: inout SaveProgress
    ) {
        let one = pending[index]
        var current = report.currentID(one)
        if sent.kind == .insert, sent.id == nil, report.assigned[one.id] == nil {
            guard let id else {
                // The object is saved, but its identifier is unknown.
                report.outcomes[one.id] = .unknown(Self.missingOutcome)
                pending[index].state = .done(.unknown(Self.missingOutcome))
                noteAccepted(sent, one, report)
                return
            }
            current = reader.decoding.id(id, of: one.entity)
            report.assigned[one.id] = current
        }
        unsettled.settle(one.id)
        unsettled.settle(current)
        var following: PendingChange?
        if one.repeated != nil {
            let rest = PendingChange(pending.count, of: one, following: one.followed?.followed(by: sent) ?? sent, version)
            if one.kind == .delete || !draft(of: rest, report.assigned).isEmptyUpdate { following = rest }
        } else if !one.postponed.isEmpty {
            // The references follow, now that the objects have identifiers.
            following = PendingChange(pending.count, following: one, version)
        }
        // The backend's values are not needed for an object that changes again.
        if one.kind == .delete, following != nil {
            report.savedCount += 1
        } else {
            do { try report.noteSaved(one, sent, current, version, following == nil ? values : [:], reader) } catch {
                // The change is saved even if the rest of the answer cannot be used: the values are read.
                RequestRunner.log.error("The answer to a save cannot be read: \(error)")
                report.unversioned.append(current)
            }
        }
        pending[index].state = .done(.accepted)
        report.outcomes[one.id] = .accepted
        guard var following else { return }
        if following.dependencies.isEmpty { following.dependencies = newReferences(of: following, report) }
        if !values.isEmpty { report.unversioned.append(current) }
        unsettled.note(
            following.settled ?? sent, of: current, baseVersion: one.change.baseVersion, .saved(version), sentAfter: report.began)
        pending.append(following)
    }

    /// Returns the objects without identifiers that a change refers to.
    func newReferences(of one: PendingChange, _ report: SaveProgress) -> Set<NSManagedObjectID> {
        Set(
            one.references.map(\.id).filter { id in
                id != one.id && report.assigned[id] == nil && reader.decoding.resourceID(id.current) == nil
            })
    }

    /// Returns the current row of an object that others have changed; nil if it was deleted.
    private func current(
        _ one: PendingChange, _ objectID: NSManagedObjectID, _ values: [String: ResourceValue]?, _ version: ResourceVersion?,
        for caller: StoreCaller
    ) async throws -> Row? {
        // A conflict without values carries no information about the object.
        guard let values, !values.isEmpty else {
            return try await reader.read([objectID], isFresh: true, for: caller).first
        }
        guard let id = reader.decoding.resourceID(objectID) else { return nil }
        var answer = BackendAnswer(entity: one.entity.name ?? "?", decoding: reader.decoding)
        try answer.add(id, version: version, values.filter { !(one.entity.frozenParts.byName[$0.key]?.isToManyRelationship ?? false) })
        reader.versions.number(answer)
        return one.change.base.map { answer.rows[0].filled(from: $0) } ?? answer.rows[0]
    }
}
