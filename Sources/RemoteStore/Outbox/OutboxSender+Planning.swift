internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Decides what to send next.
extension OutboxSender {
    /// The work that can be done now.
    struct Plan {
        var calls: [SenderState.Call] = []
        /// The changes whose conflicts the application's function resolves.
        var conflicts: [LocalKey] = []
        /// The changes that wait for another one that is set aside.
        var held: [LocalKey: LocalKey] = [:]
    }

    /// Returns the work that can be done now. Changes that were in flight when a process ended become changes with an unknown outcome.
    ///
    /// - Parameter principal: The current user. Changes of other users wait for them, and block the changes that depend on them.
    func makePlan(for principal: String?) throws -> Plan {
        let (inFlight, alone, wasRead) = state.withLock { ($0.inFlight, $0.alone, $0.wasRead) }
        return try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            var plan = Plan()
            var items: [SendingOrder.Item] = []
            var records: [(record: PendingRecord, saving: Resource.Saving)] = []
            for var record in try pending.all() {
                guard let row = try transaction.row(pending.place(record)) else {
                    try pending.put(nil, record.key)
                    continue
                }
                let entity = pending.file.entity(inner: row.knownObjectID.owningEntity)
                let saving = pending.saving(of: entity)
                if record.state == .sending, !inFlight.contains(record.key), let subject = try pending.subject(pending.place(record)) {
                    outbox.noteUnknown(&record, Self.endedEarly, .zero, subject)
                    try pending.finish(record, subject.row)
                }
                if outbox.needsDecision(record, saving), let subject = try pending.subject(pending.place(record)) {
                    record.leaveToApplication(Outbox.failure(Self.forgottenKey))
                    try pending.finish(record, subject.row)
                }
                let isOwn = record.belongs(to: principal)
                if case .waiting(_, _, _?) = record.stage, isOwn, !inFlight.contains(record.key) {
                    plan.conflicts.append(record.key)
                }
                guard let kind = record.kind ?? record.sent?.change.kind else { continue }
                var item = SendingOrder.Item(key: record.key, kind: kind, canGo: false)
                item.isSetAside = record.isSetAside || !isOwn
                // A change that may have arrived is retried before a conflict is resolved: its outcome tells what others have changed.
                item.canGo =
                    !item.isSetAside && record.state != .sending && !inFlight.contains(record.key)
                    && (record.theirs == nil || record.sent != nil) && isDue(record)
                if let resource = record.resource { item.resource = .init(root: record.key.root, id: resource) }
                if let sent = record.sent, sent.change.kind == .insert || sent.change.kind == .update {
                    // The change is sent again unchanged, and everything that it refers to exists.
                    item = SendingOrder.Item(
                        key: item.key, kind: sent.change.kind, canGo: item.canGo, isSetAside: item.isSetAside,
                        resource: record.isShown ? nil : item.resource, isLeaving: !record.isShown)
                } else {
                    Self.addReferences(record, row, entity, kind, &item)
                }
                items.append(item)
                records.append((record, saving))
            }
            plan.held = SendingOrder.held(items)
            var open: [String: Int] = [:]
            for ready in SendingOrder.next(items) {
                let (record, saving) = records[ready.index]
                let key = record.key
                if !saving.uploads.isEmpty, let name = try outbox.nextUpload(of: record, pending) {
                    plan.calls.append(.init(keys: [key], upload: name, attempts: record.attempts))
                    continue
                }
                if record.sent?.isAccepted == true {
                    plan.calls.append(.init(keys: [key], isSought: true, attempts: record.attempts))
                    continue
                }
                let isRead = wasRead[key] != record.sequence && isReadBefore(record, saving)
                let kind = record.sent?.change.kind ?? items[ready.index].kind
                let name = "\(kind) \(record.entity) \(isRead)"
                if let call = open[name], plan.calls[call].keys.count < saving.maximumChanges, !alone.contains(key) {
                    plan.calls[call].keys.append(key)
                    plan.calls[call].postponed[key] = ready.postponed
                    plan.calls[call].attempts = max(plan.calls[call].attempts, record.attempts)
                } else {
                    if !alone.contains(key) { open[name] = plan.calls.count }
                    plan.calls.append(
                        .init(keys: [key], postponed: [key: ready.postponed], isRead: isRead, attempts: record.attempts))
                }
            }
            return plan
        }
    }

    private static var endedEarly: NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The outcome of a change is not known.", reason: "The program has ended before the answer came.",
            next: "See whether the backend has it, and retry or drop the change.")
    }

    private static var forgottenKey: NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The outcome of a change is not known.",
            reason: "The answer was lost, and the backend does not know its key any more: sent again, it would be saved twice.",
            next: "See whether the backend has it, and retry or drop the change.")
    }

    /// Whether the object is read before its change is sent.
    private func isReadBefore(_ record: PendingRecord, _ saving: Resource.Saving) -> Bool {
        let insertsReplace = saving.insertsReplace && record.resource != nil
        if let sent = record.sent {
            if insertsReplace, sent.change.kind == .insert { return true }
            // A change is only sent again if a second attempt does no harm.
            return record.stage.doubt == .open && !sent.canRepeatKey(saving, at: clock.now) && sent.change.kind != .delete
                && sent.change.id != nil
        }
        return record.isConfirmed ? saving.conflicts == .byReading : insertsReplace
    }

    /// Notes the objects that a change refers to, and those that it no longer refers to.
    private static func addReferences(
        _ record: PendingRecord, _ row: Row, _ entity: CacheEntity, _ kind: Resource.Saving.Kind, _ item: inout SendingOrder.Item
    ) {
        for case let relationship as NSRelationshipDescription in entity.outer?.frozenParts.properties ?? [] {
            guard let root = relationship.destinationEntity?.top.name else { continue }
            let name = relationship.name
            if relationship.isToMany {
                for reference in record.lists[name]?.added ?? [] {
                    if let key = reference.localKey { item.needs.append((name, LocalKey(root: root, key: key))) }
                }
                for reference in record.lists[name]?.removed ?? [] {
                    if let key = reference.localKey { item.left.append(LocalKey(root: root, key: key)) }
                }
                continue
            }
            if let key = record.confirmed[name]?.localKey { item.left.append(LocalKey(root: root, key: key)) }
            guard kind != .update || record.confirmed[name] != nil,
                let key = OutboxTransaction.value(row, entity.inner.frozenParts.byName[name]).localKey
            else { continue }
            if kind == .delete {
                item.left.append(LocalKey(root: root, key: key))
            } else {
                item.needs.append((name, LocalKey(root: root, key: key)))
            }
        }
    }

    // MARK: Sent changes

    /// Creates the changes of a call, and marks them as in flight.
    ///
    /// - Returns: The changes with their objects. Changes that no longer need to be sent are omitted.
    func mark(_ call: SenderState.Call) throws -> [(key: LocalKey, change: BackendChange, isAtomic: Bool)] {
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        // Another user may have signed in since the plan was made.
        let principal = outbox.principal()
        let (marked, changed) = try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            var marked: [(key: LocalKey, change: BackendChange, isAtomic: Bool)] = []
            for key in call.keys {
                guard var record = try pending.record(key), !record.isSetAside, record.state != .sending,
                    record.theirs == nil || record.sent != nil, record.sent?.isAccepted != true, record.belongs(to: principal),
                    let subject = try pending.subject(pending.place(record))
                else { continue }
                var change: BackendChange
                // If another user sent it again, it would be that user's change, and a different one.
                record.principal = record.principal ?? principal
                if let sent = record.sent {
                    change = sent.change
                    change.key = BackendChange.Key(number: marked.count)
                    record.beginAgain(as: change.key)
                } else {
                    // Another value was set meanwhile, which is uploaded first.
                    if !subject.saving.uploads.isEmpty, try outbox.nextUpload(of: record, pending) != nil { continue }
                    let sent = try self.sent(of: &record, subject, call.postponed[key] ?? [], marked.count, pending)
                    guard let sent, !sent.change.isEmptyUpdate else {
                        // No difference is left, or no part can be sent yet: the next attempt follows after a growing delay.
                        record.prune(subject.shown)
                        if !record.isDone, !record.isSetAside {
                            let wait = delay(record.attempts + 1, nil)
                            record.postpone(until: clock.now + wait.inSeconds)
                            let due = clock.uptime + wait
                            transaction.whenCommitted { [state] in state.withLock { $0.due[key] = due } }
                        }
                        try pending.finish(record, subject.row)
                        continue
                    }
                    change = sent.change
                    record.begin(sending: sent)
                }
                change.base = try base(of: change, record, subject, pending)
                change.principal = record.principal
                marked.append((key, change, subject.saving.isAtomic))
                try pending.finish(record, subject.row)
            }
            return (marked, transaction.changedKeys)
        }
        try merge(changed, queryTime)
        return marked
    }

    private static func isGone(_ relationship: NSRelationshipDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change of “\(relationship.entity?.name ?? "?")” cannot be sent.",
            reason: "Others have deleted the object that its “\(relationship.name)” refers to.",
            next: "Let it refer to another object or to none, or drop the change.")
    }

    /// Returns the change to send now; nil if there is nothing to send.
    private func sent(
        of record: inout PendingRecord, _ subject: OutboxTransaction.Subject, _ postponed: Set<String>, _ number: Int,
        _ pending: OutboxTransaction
    ) throws -> PendingRecord.Sent? {
        let saving = subject.saving
        var omitted = postponed
        let parts = subject.row.entity.inner.frozenParts
        // References to objects without an identifier follow later.
        for case let relationship as NSRelationshipDescription in parts.properties where !relationship.isToMany {
            guard let number = subject.shown.value(relationship.name).localKey, let place = try pending.place(number, relationship),
                let row = try pending.transaction.row(place)
            else { continue }
            let entity = pending.file.entity(inner: row.knownObjectID.owningEntity)
            if entity.resource(of: row) == nil, entity.state(of: row) == .stub,
                !record.isConfirmed || record.confirmed[relationship.name] != nil
            {
                record.refuse(Outbox.failure(Self.isGone(relationship)))
                return nil
            }
            if entity.resource(of: row) == nil || entity.state(of: row) == .pendingInsert && place != subject.row.key {
                omitted.insert(relationship.name)
            }
        }
        guard var draft = record.draft(subject.shown, isWhole: saving.sendsWholeObjects, omitted: omitted) else { return nil }
        let unknown = subject.row.knowledge.unknown
        // If objects are sent whole, values that were never read are omitted.
        draft.values = draft.values.filter { name, _ in
            draft.changed.contains(name) || !unknown.contains(name) && !saving.uploads.contains(name)
        }
        var change = BackendChange(
            key: BackendChange.Key(number: number), kind: draft.kind, entity: subject.row.entity.name, idempotencyKey: UUID())
        change.id = record.resource
        change.version = saving.conflicts == .backend && record.isConfirmed ? record.version : nil
        change.changedProperties = draft.changed
        func reference(_ local: ResourceReference, _ relationship: NSRelationshipDescription) throws -> ResourceReference? {
            try Self.reference(local, relationship, pending)
        }
        for (name, value) in draft.values {
            guard case .one(let local?) = value, let relationship = parts.byName[name] as? NSRelationshipDescription else {
                change.values[name] = saving.uploads.contains(name) && !value.isNull ? record.uploads[name]?.reference : value
                continue
            }
            change.values[name] = .one(try reference(local, relationship))
        }
        for (name, list) in draft.lists {
            guard let relationship = parts.byName[name] as? NSRelationshipDescription else { continue }
            change.lists[name] = .init(
                added: try list.added.compactMap { try reference($0, relationship) },
                removed: try list.removed.compactMap { try reference($0, relationship) },
                members: try list.members?.compactMap { try reference($0, relationship) })
        }
        return .init(
            change: change, values: draft.values, lists: draft.lists, nextKey: try pending.file.nextKey(subject.row.entity),
            firstSent: saving.keyLifetime.map { _ in clock.now })
    }

    /// Returns the values on which a change is based: the confirmed ones. They are not stored with the sent change.
    func base(
        of change: BackendChange, _ record: PendingRecord, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction
    ) throws -> [String: ResourceValue] {
        if change.kind == .insert { return [:] }
        // A deletion needs no base if it has a version, or if the store itself detects conflicts.
        if change.kind == .delete, change.version != nil || subject.saving.conflicts != .backend { return [:] }
        var values = record.confirmed
        if change.kind == .delete {
            let unknown = subject.row.knowledge.unknown
            for name in OutboxTransaction.names(subject.row.entity) where values[name] == nil && !unknown.contains(name) {
                values[name] = subject.shown.value(name)
            }
        }
        let parts = subject.row.entity.inner.frozenParts
        var base: [String: ResourceValue] = [:]
        for (name, value) in values where !subject.saving.uploads.contains(name) {
            switch (parts.byName[name], value) {
            case (is NSAttributeDescription, .value): base[name] = value
            case (let relationship as NSRelationshipDescription, .one(let local)) where !relationship.isToMany:
                // A reference that the backend does not know cannot be compared.
                guard let local else {
                    base[name] = .one(nil)
                    continue
                }
                if let reference = try Self.reference(local, relationship, pending) { base[name] = .one(reference) }
            default: continue
            }
        }
        return base
    }

    /// Returns the backend's reference for a local one; nil if the backend does not have the object.
    private static func reference(
        _ local: ResourceReference, _ relationship: NSRelationshipDescription, _ pending: OutboxTransaction
    ) throws -> ResourceReference? {
        guard let number = local.localKey, let place = try pending.place(number, relationship),
            let row = try pending.transaction.row(place), let id = place.entity.resource(of: row)
        else { return nil }
        return ResourceReference(id, entity: place.entity.name == relationship.destinationEntity?.name ? nil : place.entity.name)
    }
}
