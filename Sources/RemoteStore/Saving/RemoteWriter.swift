internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Saves changes to a backend: in the order of their dependencies, those that are independent side by side.
// What changes is in a `LockedBox`.
final class RemoteWriter: Sendable {
    /// A change that was sent: sent again, it has the same key.
    private struct Sent: Hashable {
        let id: NSManagedObjectID
        let kind: Resource.Saving.Kind
        let version: Int64?
        let values: [String: ResourceValue]
        let lists: [String: BackendChange.ListChange]
    }

    let reader: RemoteReader
    /// The idempotency keys of changes whose outcome is not settled.
    private let keys = LockedBox<[Sent: UUID]>([:])

    init(_ reader: RemoteReader) { self.reader = reader }

    // MARK: Identifiers

    /// Returns the IDs of new objects, nil for those that the backend assigns.
    ///
    /// - Throws: Code 134030 for an entity that cannot be saved, or an object whose identifier is not set.
    func knownIDs(for new: NewObjects) throws -> [NSManagedObjectID?] {
        try new.map { object in
            let name = object.entity.name ?? "?"
            guard let saving = reader.catalog.saving(of: object.entity), saving.kinds.contains(.insert) else {
                throw RemoteStoreError.readOnly(name, at: reader.location)
            }
            switch saving.identity {
            case .assignedByBackend: return nil
            case .newUUID: return reader.decoding.id(.uuid(UUID()), of: object.entity)
            case .attribute(let key):
                guard let attribute = object.entity.frozenParts.byName[key] as? NSAttributeDescription,
                    let id = ResourceID(object.row?.value(of: attribute) ?? .null)
                else {
                    throw CoreDataError.make(
                        NSPersistentStoreSaveError, "A new “\(name)” cannot be saved.",
                        reason: "“\(key)”, which is its identifier, is not set.", next: "Set it before the save.")
                }
                return reader.decoding.id(id, of: object.entity)
            case .made(let make):
                var values: [String: ResourceValue] = [:]
                for case let attribute as NSAttributeDescription in object.entity.frozenParts.properties where !attribute.isTransient {
                    if let row = object.row { values[attribute.name] = .value(row.value(of: attribute)) }
                }
                return reader.decoding.id(make(values), of: object.entity)
            }
        }
    }

    // MARK: Saving

    /// Saves changes.
    ///
    /// - Throws: `StoreConflicts` where others have changed the objects and nothing was saved; `IncompleteSave` where a part was saved, or
    ///   where that is not known; the backend's error where nothing was saved.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        var pending = try pending(changes)
        var report = SaveProgress()
        for change in changes.locked { report.outcomes[change.objectID] = .accepted }
        reader.runner.beginEpoch()
        defer {
            // What was read before may be older than what was saved.
            reader.runner.beginEpoch()
            reader.parked.forgetAll()
        }
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
                if one.isEmpty {
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

    /// Returns the changes that can be sent now: those that refer to nothing that is still to be saved. Deletions come last, and before
    /// those of objects that they refer to.
    private func nextChanges(_ pending: inout [PendingChange], _ report: inout SaveProgress) -> [Int] {
        // What refers to an object that could not be saved cannot be saved either.
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
            // Objects that refer to each other: the first is saved without, and gets its references by an update.
            let back = pending[first].references.filter { !report.isSaved($0.id) && pending[first].dependencies.contains($0.id) }
            if reader.decodesAll(back.map(\.id)) {
                pending[first].dependencies = []
            } else {
                pending[first].postponed = Set(back.map(\.name))
                pending[first].awaited = Set(back.map(\.id))
                pending[first].dependencies = []
            }
            return [first]
        }
        // Deletions: first those that no other one refers to.
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
            let key = "\(pending[index].kind) \(pending[index].entity.name ?? "?")"
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
            prepared.append((call, call.map { sent(pending[$0], assigned) }))
        }
        let answers = await withTaskGroup(of: (Int, Result<[BackendChange.Key: BackendOutcome], any Error>).self) { group in
            for (number, (_, changes)) in prepared.enumerated() {
                group.addTask { [reader] in
                    do { return (number, .success(try await reader.runner.save(changes))) } catch { return (number, .failure(error)) }
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

    private static var missingOutcome: NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The outcome of a change is not known.", reason: "The backend's answer does not contain it.",
            next: "Read the object again.")
    }

    private func sent(_ pending: PendingChange, _ assigned: [NSManagedObjectID: NSManagedObjectID]) -> BackendChange {
        let version = pending.followedVersion ?? pending.change.baseVersion.flatMap { reader.versions.version(pending.id, $0) }
        func make(_ key: UUID) -> BackendChange {
            pending.sent(
                reader.decoding, version: pending.saving.conflicts == .backend ? version : nil, idempotencyKey: key,
                current: { assigned[$0] ?? $0.current })
        }
        let draft = make(UUID())
        let identity = Sent(
            id: pending.id, kind: pending.kind, version: pending.change.baseVersion, values: draft.values, lists: draft.lists)
        let key = keys.withLock { keys -> UUID in
            if let known = keys[identity] { return known }
            keys[identity] = draft.idempotencyKey
            return draft.idempotencyKey
        }
        return key == draft.idempotencyKey ? draft : make(key)
    }

    // MARK: Outcomes

    private func note(
        _ outcome: BackendOutcome, of sent: BackendChange, _ index: Int, _ pending: inout [PendingChange], _ report: inout SaveProgress,
        for caller: StoreCaller
    ) async {
        let one = pending[index]
        var isSettled = true
        switch outcome {
        case .saved(let id, let version, let values):
            var current = report.assigned[one.id] ?? one.id
            if one.kind == .insert, one.id.isTemporaryID {
                guard let id else {
                    // It is saved, and nobody knows where.
                    report.outcomes[one.id] = .unknown(Self.missingOutcome)
                    pending[index].state = .done(.unknown(Self.missingOutcome))
                    return
                }
                current = reader.decoding.id(id, of: one.entity)
                report.assigned[one.id] = current
            }
            if !one.postponed.isEmpty {
                // The references follow, now that the objects have identifiers.
                pending.append(PendingChange(pending.count, following: one, version))
            }
            do { try report.noteSaved(one, current, version, values, reader) } catch {
                // It is saved, whatever the answer says besides: the values are read.
                RequestRunner.log.error("The answer to a save cannot be read: \(error)")
                report.unversioned.append(current)
            }
            pending[index].state = .done(.accepted)
            report.outcomes[one.id] = .accepted
        case .conflict(let values, let version):
            let found: IncompleteSave.Outcome
            do { found = .conflicting(try await current(one, values, version, for: caller)) } catch { found = .refused(error as NSError) }
            report.outcomes[one.id] = found
            pending[index].state = .done(found)
        case .refused(let error):
            // A call that failed may be repeated; a change that was refused is settled.
            isSettled = report.thrown.isEmpty
            report.outcomes[one.id] = .refused(error as NSError)
            pending[index].state = .done(.refused(error as NSError))
        case .unknown(let error):
            isSettled = false
            report.outcomes[one.id] = .unknown(error as NSError)
            pending[index].state = .done(.unknown(error as NSError))
        }
        if isSettled { keys.withLock { $0 = $0.filter { $0.value != sent.idempotencyKey } } }
    }

    /// Returns the current row of an object that others have changed; nil where it was deleted.
    private func current(
        _ one: PendingChange, _ values: [String: ResourceValue]?, _ version: ResourceVersion?, for caller: StoreCaller
    ) async throws -> Row? {
        guard let values else {
            return try await reader.read([one.id], isFresh: true, for: caller).first
        }
        guard let id = reader.decoding.resourceID(one.id) else { return nil }
        var answer = BackendAnswer(entity: one.entity.name ?? "?", decoding: reader.decoding)
        try answer.add(id, version: version, values.filter { !(one.entity.frozenParts.byName[$0.key]?.isToManyRelationship ?? false) })
        reader.versions.number(answer)
        return one.change.base.map { answer.rows[0].filled(from: $0) } ?? answer.rows[0]
    }

    // MARK: Reading around a save

    /// Compares objects with their current values where nobody else notices changes of others.
    private func compareWithReading(
        _ pending: inout [PendingChange], _ report: inout SaveProgress, for caller: StoreCaller
    ) async throws {
        let compared = pending.indices.filter { index in
            guard case .waiting = pending[index].state, pending[index].kind != .insert, pending[index].change.base != nil else {
                return false
            }
            return pending[index].saving.conflicts == .byReading || isOutdated(pending[index])
        }
        if compared.isEmpty { return }
        let rows = try await reader.read(compared.map { pending[$0].id }, isFresh: true, for: caller)
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        for index in compared {
            guard let base = pending[index].change.base else { continue }
            let current = byID[pending[index].id]
            if let current, !isOutdated(pending[index]), current.hasEqualKnownValues(as: base) { continue }
            let stored = current?.filled(from: base)
            pending[index].state = .done(.conflicting(stored))
            report.outcomes[pending[index].id] = .conflicting(stored)
        }
    }

    /// Whether this program has read or saved a later version of the object, so that the backend need not be asked for a conflict.
    private func isOutdated(_ change: PendingChange) -> Bool {
        change.saving.conflicts == .backend
            && change.change.baseVersion.map { reader.versions.isOutdated(change.id, $0) } ?? false
    }

    /// Reads the versions that a backend has not told.
    private func learnVersions(_ report: inout SaveProgress, for caller: StoreCaller) async {
        if report.unversioned.isEmpty { return }
        do {
            for row in try await reader.read(report.unversioned, isFresh: true, for: caller) { report.rows[row.knownObjectID] = row }
        } catch {
            // The save succeeded. The next one of these objects meets a conflict, and reads them.
            RequestRunner.log.warning("The versions of \(report.unversioned.count) saved objects could not be read: \(error)")
        }
    }
}

extension ResourceID {
    /// Creates an identifier from the value of an attribute; nil for a type that identifies nothing.
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
    /// Returns whether all objects have identifiers.
    func decodesAll(_ ids: [NSManagedObjectID]) -> Bool { ids.allSatisfy { decoding.resourceID($0.current) != nil } }
}
