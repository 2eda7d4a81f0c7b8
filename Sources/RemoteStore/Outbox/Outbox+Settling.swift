internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Applies the backend's answer about a sent change to the file.
extension Outbox {
    /// The next step for a change that was answered.
    enum Next: Equatable {
        /// Nothing, or the change waits in the queue.
        case nothing
        /// The object must be read, because the new version is unknown or an earlier attempt may have been saved.
        case read
        /// The object must be read, because only that shows whether the change was made.
        case look
        /// The object must be read, because a conflict was reported without values.
        case compare
        /// The change must be sent alone, because a change of an atomic call was refused.
        case alone
        /// The object with the identifier of a new object must be read: it is unclear which of the two has the identifier now.
        case twin(ResourceID)
    }

    /// Notes the outcome of a change.
    ///
    /// - Parameters:
    ///   - isAmongOthers: Whether it was sent by a call that succeeds or fails as a whole.
    ///   - isTwinRead: Whether the other object with the same identifier was read since.
    ///   - delay: A closure that returns the time to wait before another attempt, given the number of attempts and the backend's requested delay.
    func note(
        _ outcome: BackendOutcome, of key: LocalKey, _ change: BackendChange, isAmongOthers: Bool, isTwinRead: Bool = false,
        delay: (Int, Duration?) -> Duration, in transaction: CacheTransaction
    ) throws -> Next {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard var record = try pending.record(key), record.sent?.change.idempotencyKey == change.idempotencyKey,
            let subject = try pending.subject(pending.place(record))
        else { return .nothing }
        var next = Next.nothing
        switch outcome {
        case .saved(_, nil, _) where change.kind == .update && change.version != nil:
            // Without a new version, nothing shows that the change was made.
            record.noteUnseen(Self.failure(RemoteStoreError.isUnseen(change)), until: file.clock.now)
            next = .look
        case .saved(let id, let version, let values):
            next = try noteSaved(&record, id, version, values, isTwinRead: isTwinRead, subject, pending)
        case .conflict(let values?, let version)
        where !values.isEmpty && record.isTold(by: values, subject.shown, besides: subject.saving.uploads):
            next = try noteConflict(&record, values, version, subject, pending)
        case .conflict where change.kind == .insert:
            // The conflict does not tell whether the existing object was created by an earlier attempt of the change.
            next = noteRefusal(
                of: &record, change, Self.failure(RemoteStoreError.isThere(change)), settlesEarlierAttempts: change.id != nil)
        case .conflict:
            // The object must be read to see what others have changed, or whether they have deleted it. A conflict without values does not even say that a
            // value is nil, and values of other properties say nothing about the contested ones.
            record.remake(until: record.attempts > 2 ? file.clock.now + delay(record.attempts, nil).inSeconds : nil)
            next = .compare
        case .refused(let error) where UnseenChange.isOne(error) && change.kind != .insert:
            // The object was read a moment ago.
            record.noteUnseen(Self.failure(error), until: time(after: error, delay(record.attempts, nil)))
        case .refused(let error):
            let (prospect, failure) = (Prospect(error), Self.failure(error))
            if let part = error as? PartRefusal, !part.saved.isEmpty, change.kind == .delete {
                // The rest of the object has no values of the deleted part, which does not mean that others have changed them.
                let names = part.saved.intersection(subject.shown.names)
                // Bounded: the names are a set.
                try pending.write(Dictionary(uniqueKeysWithValues: names.map { ($0, subject.shown.value($0).empty) }), subject.row)
            } else if let part = error as? PartRefusal, !part.saved.isEmpty {
                if change.kind == .insert, record.resource == nil {
                    // A part of the object is saved under an unknown identifier. The rest cannot follow, and as a change of its own it would create a second
                    // object.
                    record.leaveToApplication(failure)
                    break
                }
                // The rest follows, or is set aside.
                record.keepSent(only: part.saved)
                next = try noteSaved(&record, nil, nil, [:], subject, pending)
                if record.isDone || record.sent != nil { break }
            }
            if error is ForgottenUpload {
                for name in record.uploads.keys { record.uploads[name]?.forget() }
                record.remake(failure, until: time(after: error, delay(record.attempts, nil)), keepsDoubt: true)
            } else if prospect.mayPass == true {
                record.noteUnsaved(failure, until: time(after: error, delay(record.attempts, prospect.retryAfter)))
            } else if isAmongOthers {
                record.noteUnsaved()
                next = .alone
            } else {
                next = noteRefusal(of: &record, change, failure, settlesEarlierAttempts: prospect.settlesEarlierAttempts)
            }
        case .unknown(let error as UnreadAnswer):
            RequestRunner.log.error("\(error.localizedDescription)")
            if change.kind == .insert, change.id == nil {
                record.noteAccepted(Self.failure(error), isLater: error.isLater)
            } else if change.kind == .insert {
                // The object is saved, with the values that a read returns.
                next = try noteSaved(&record, nil, nil, [:], subject, pending)
                if next == .nothing { next = .read }
            } else {
                record.noteUnseen(Self.failure(error), until: file.clock.now)
                next = .look
            }
        case .unknown(let error): noteUnknown(&record, error, delay(record.attempts, Prospect(error).retryAfter), subject)
        }
        // The change may be sent again until the other object was read.
        if case .twin = next { record.noteUnclear() }
        try settle(&record, subject, pending)
        if record.isDone, !record.isShown { noteGone(record.resource, subject.row, in: transaction) }
        try pending.finish(record, subject.row)
        return next
    }

    /// Notes that an attempt was refused permanently.
    ///
    /// - Parameter settlesEarlierAttempts: Whether the refusal implies that earlier attempts did not save the change either. A read may still show otherwise.
    private func noteRefusal(
        of record: inout PendingRecord, _ change: BackendChange, _ failure: PendingRecord.Failure, settlesEarlierAttempts: Bool
    ) -> Next {
        if record.mayHaveArrived, !settlesEarlierAttempts {
            // The application retries the change unchanged, or drops it.
            record.leaveToApplication(failure)
        } else if change.kind == .insert, change.id != nil, record.attempts > 1 {
            // An earlier attempt may have been saved.
            record.seek(after: failure)
            return .read
        } else {
            record.refuse(failure)
        }
        return .nothing
    }

    /// Notes that no part of a change was saved, because a call has failed.
    func noteFailure(
        _ error: any Error, of key: LocalKey, _ change: BackendChange, maximumAttempts: Int, delay: (Int, Duration?) -> Duration,
        in transaction: CacheTransaction
    ) throws {
        let pending = try OutboxTransaction.of(transaction, catalog)
        guard var record = try pending.record(key), record.sent?.change.idempotencyKey == change.idempotencyKey,
            let subject = try pending.subject(pending.place(record))
        else { return }
        let prospect = Prospect(error)
        if error is ForgottenUpload { for name in record.uploads.keys { record.uploads[name]?.forget() } }
        if prospect.mayPass ?? (record.attempts < maximumAttempts) {
            record.noteUnsaved(Self.failure(error), until: time(after: error, delay(record.attempts, prospect.retryAfter)))
        } else if record.mayHaveArrived {
            // It is unknown whether the earlier attempt was refused, too.
            record.leaveToApplication(Self.failure(error))
        } else {
            record.refuse(Self.failure(error))
        }
        try settle(&record, subject, pending)
        try pending.finish(record, subject.row)
    }

    static func failure(_ error: any Error) -> PendingRecord.Failure {
        let known = RemoteStoreError.told((error as? UnknownOutcome)?.cause ?? error) as NSError
        return .init(domain: known.domain, code: known.code, message: known.localizedDescription)
    }

    /// The time before which a change is not retried after an error. It is 0 if the backend cannot be reached or needs other credentials, as this is not the
    /// fault of the change.
    func time(after error: any Error, _ delay: Duration) -> Double {
        let prospect = Prospect(error)
        return prospect.isOffline || prospect.needsCredentials ? 0 : file.clock.now + delay.inSeconds
    }

    /// Notes that the outcome of a change is unknown.
    func noteUnknown(_ record: inout PendingRecord, _ error: any Error, _ delay: Duration, _ subject: OutboxTransaction.Subject) {
        guard let sent = record.sent else { return }
        record.noteLost(Self.failure(error), until: canSendAgain(sent, subject.saving) ? time(after: error, delay) : nil)
    }

    /// Whether a change that may have arrived can be sent again, or looked for. For a new object without an identifier, that would create a duplicate.
    private func canSendAgain(_ sent: PendingRecord.Sent, _ saving: Resource.Saving) -> Bool {
        sent.canRepeatKey(saving, at: file.clock.now) || sent.change.kind != .insert || sent.change.id != nil
    }

    /// Whether only the application can decide about a change that waits for a retry, because the backend has forgotten its key meanwhile.
    func needsDecision(_ record: PendingRecord, _ saving: Resource.Saving) -> Bool {
        // An accepted change is looked for instead.
        guard case .lost(let sent, .open, _, _) = record.stage, !sent.isAccepted else { return false }
        return !canSendAgain(sent, saving)
    }

    // MARK: Saved

    func noteSaved(
        _ record: inout PendingRecord, _ id: ResourceID?, _ version: ResourceVersion?, _ told: [String: ResourceValue],
        isTwinRead: Bool = false, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction
    ) throws -> Next {
        guard let sent = record.sent?.change else { return .nothing }
        let row = subject.row
        let (transaction, order) = (pending.transaction, file.order)
        if sent.kind == .insert {
            guard let assigned = id ?? record.resource else {
                // The object is saved, but its identifier is unknown.
                record.noteAccepted(Self.failure(UnreadAnswer(RemoteStoreError.hasNoIdentifier(sent))))
                return .nothing
            }
            var isSucceeded = false
            if let other = try transaction.key(of: assigned, in: row.entity), other != row.key {
                switch try place(of: other, version, record, isReadSince: isTwinRead, subject, pending) {
                case .unclear: return .twin(assigned)
                case .same: return try adopt(other, assigned, version, &record, told, subject, pending)
                case .earlier: try endEarlier(other, pending)
                case .successor: isSucceeded = true
                case .later:
                    _ = record.acknowledge(id: assigned, version: version, try local(told, row, pending), subject.shown)
                    try end(&record, subject, pending)
                    record.endIfSettled()
                    return .nothing
                }
            }
            if !isSucceeded { try transaction.setResource(assigned, of: row) }
            if record.attempts <= 1 { noteLists(of: row, in: transaction) }
            let (key, uptime) = (row.key, file.clock.uptime)
            transaction.whenCommitted { order.noteMade(key, uptime: uptime) }
        }
        let isOld = record.isOld(version)
        let written = record.acknowledge(id: id, version: version, try local(told, row, pending), subject.shown)
        try pending.write(written, row)
        if sent.kind == .delete, record.isShown { try renew(&record, subject, pending) }
        if sent.kind != .delete {
            if isOld {
                noteReplaced(version, by: row.version, of: row, in: transaction)
            } else {
                setVersion(version, of: row, in: transaction)
            }
            row.setFetchedAt(transaction.now)
        }
        let key = row.key
        transaction.whenCommitted { order.note([key], at: order.now) }
        return version == nil && sent.kind != .delete && sent.version != nil ? .read : .nothing
    }

    /// Notes that the lists of a newly created object are known, because nobody else can have changed them.
    private func noteLists(of row: CacheRow, in transaction: CacheTransaction) {
        var knowledge = row.knowledge
        for relationship in row.entity.outer?.frozenParts.relationships ?? [] where relationship.isToMany && !relationship.isTransient {
            if knowledge.lists[relationship.name] == nil { knowledge.lists[relationship.name] = transaction.now }
        }
        row.setKnowledge(knowledge)
    }

    /// Turns an object that was restored while its deletion was in flight into a new one.
    private func renew(_ record: inout PendingRecord, _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction) throws {
        let row = subject.row
        for case let relationship as NSRelationshipDescription in row.entity.outer?.frozenParts.properties ?? []
        where relationship.isToMany && !relationship.isTransient && subject.saving.sends(relationship) {
            let members = subject.shown.members(relationship.name)
            if !members.isEmpty { record.lists[relationship.name] = .init(added: members, members: relationship.isOrdered ? [] : nil) }
        }
        guard case .assignedByBackend = subject.saving.identity, let old = record.resource else { return }
        record.resource = nil
        try pending.transaction.setResource(nil, of: row)
        let (order, key, version, uptime) = (file.order, row.key, row.version, file.clock.uptime)
        pending.transaction.whenCommitted { order.noteGone(old, key, version, at: order.now, uptime: uptime) }
    }

    /// Merges a new object with a row that was read before the answer to its insert arrived: both are the same object.
    ///
    /// The row is newer than the answer, which describes the object at its creation. Edits of either are kept.
    private func adopt(
        _ other: CacheKey, _ assigned: ResourceID, _ version: ResourceVersion?, _ record: inout PendingRecord,
        _ told: [String: ResourceValue], _ subject: OutboxTransaction.Subject, _ pending: OutboxTransaction
    ) throws -> Next {
        let row = subject.row
        guard let twin = try pending.transaction.edit(other) else { return .nothing }
        let known = try pending.record(pending.local(other))
        let (shown, unknown, readVersion) = (pending.shown(twin), twin.knowledge.unknown, twin.version)
        let isRead = twin.state != .stub
        var read: [String: ResourceValue] = [:]
        let large = subject.saving.uploads
        for name in OutboxTransaction.names(twin.entity) where isRead && !unknown.contains(name) && !large.contains(name) {
            let value = known?.confirmed[name] ?? shown.value(name)
            if value != .many([]) { read[name] = value }
        }
        if let known { try pending.put(nil, known.key) }
        try pending.detach(twin, row.key)
        try pending.transaction.delete(other)
        let next = try noteSaved(&record, assigned, version, told, subject, pending)
        if isRead {
            try pending.write(record.receive(read, version: readVersion ?? version, subject.shown, uncompared: large), row)
            if let readVersion { setVersion(readVersion, of: row, in: pending.transaction) }
        }
        guard let known else { return next }
        // The edits are based on the values that the read returned.
        for (name, base) in known.confirmed {
            if large.contains(name), let property = twin.entity.inner.frozenParts.byName[name] {
                try row.set(OutboxTransaction.value(twin.row, property).value, name)
                (record.uploads[name], record.confirmed[name]) = (known.uploads[name], base)
                continue
            }
            if record.confirmed[name] == nil || subject.shown.value(name).isSame(as: record.confirmed[name] ?? base) {
                try pending.write([name: shown.value(name)], row)
            }
            record.confirmed[name] = base
        }
        if let theirs = record.theirs, let values = theirs.values {
            let contested = values.filter { name, _ in known.confirmed[name] == nil || large.contains(name) }
            if contested.isEmpty {
                record.version = theirs.version
                record.forgetTheirs()
            } else {
                record.note(.init(values: contested, version: theirs.version))
            }
        }
        for (name, list) in known.lists { record.lists[name] = record.lists[name]?.followed(by: list) ?? list }
        if !known.isShown { record.delete() }
        record.prune(subject.shown)
        return next
    }

    /// Returns the values that a backend has reported, with local references.
    func local(_ values: [String: ResourceValue], _ row: CacheRow, _ pending: OutboxTransaction) throws -> [String: ResourceValue] {
        var local: [String: ResourceValue] = [:]
        let uploads = pending.saving(of: row.entity).uploads
        for (name, value) in values where !uploads.contains(name) {
            switch (row.entity.inner.frozenParts.byName[name], value) {
            case (is NSAttributeDescription, .value): local[name] = value
            case (let relationship as NSRelationshipDescription, .one(let reference)) where !relationship.isToMany:
                guard let reference else {
                    local[name] = .one(nil)
                    continue
                }
                let entity = (reference.entity ?? relationship.destinationEntity?.name).flatMap { file.entity(named: $0) }
                guard let entity else { continue }
                local[name] = .one(.local(try pending.transaction.keyOrStub(of: reference.id, in: entity).number))
            default: continue
            }
        }
        return local
    }

    // MARK: Versions

    /// Sets the version of a row. A lagging replica of the backend may still answer with the previous version.
    ///
    /// If the new version is not known, the next read determines it. It may be the previous version: the backend may have left the object unchanged.
    func setVersion(_ version: ResourceVersion?, of row: CacheRow, in transaction: CacheTransaction) {
        noteReplaced(row.version, by: version, of: row, in: transaction)
        row.setVersion(version)
    }

    private func noteReplaced(_ old: ResourceVersion?, by new: ResourceVersion?, of row: CacheRow, in transaction: CacheTransaction) {
        guard let old, let new, old != new else { return }
        let (order, key, uptime) = (file.order, row.key, file.clock.uptime)
        transaction.whenCommitted { order.noteReplaced(old.encoded, of: key, uptime: uptime) }
    }

    /// Notes that the backend no longer has an object, although a lagging replica of it may.
    func noteGone(_ resource: ResourceID?, _ row: CacheRow, in transaction: CacheTransaction) {
        guard let resource else { return }
        let (order, key, version, uptime) = (file.order, row.key, row.version, file.clock.uptime)
        transaction.whenCommitted { order.noteGone(resource, key, version, at: order.now, uptime: uptime) }
    }

    // MARK: Conflicts

    private func noteConflict(
        _ record: inout PendingRecord, _ values: [String: ResourceValue], _ version: ResourceVersion?, _ subject: OutboxTransaction.Subject,
        _ pending: OutboxTransaction
    ) throws -> Next {
        guard let sent = record.sent else { return .nothing }
        let current = try local(values, subject.row, pending)
        if sent.change.kind != .insert, isOther(current, subject) {
            // The identifier was assigned to another object.
            noteGone(record.resource, subject.row, in: pending.transaction)
            record.remake()
            try end(&record, subject, pending)
            return .nothing
        }
        let isOwn =
            sent.change.lists.isEmpty && Self.contains(current, sent.values.filter { !subject.saving.uploads.contains($0.key) })
            && sent.change.kind != .delete
        if isOwn, sent.change.kind == .update || record.mayHaveArrived {
            // An attempt whose answer was lost has saved the values, or others have made the same change. The remaining values are changes of others.
            return try noteSaved(&record, sent.change.id, version, values, subject, pending)
        }
        if sent.change.kind == .insert {
            record.refuse(Self.failure(RemoteStoreError.isThere(sent.change)))
            return .nothing
        }
        record.remake()
        let before = record.version
        let written = record.receive(
            current, version: version, subject.shown, keeping: overwriting(subject), uncompared: subject.saving.uploads)
        try pending.write(written, subject.row)
        if version != nil { setVersion(version, of: subject.row, in: pending.transaction) }
        let (key, order) = (subject.row.key, file.order)
        pending.transaction.whenCommitted { order.note([key], at: order.now) }
        for (name, value) in values {
            guard case .many(let references) = value, let relationship = subject.row.entity.inner.frozenParts.byName[name],
                let destination = (relationship as? NSRelationshipDescription)?.destinationEntity?.name
            else { continue }
            let members = try references.compactMap { reference in
                try file.entity(named: reference.entity ?? destination).map {
                    try pending.transaction.keyOrStub(of: reference.id, in: $0)
                }
            }
            try receive(name, members, &record, subject, pending)
        }
        record.prune(subject.shown)
        if record.theirs == nil, before == version, version != nil, record.attempts > 3 {
            record.refuse(Self.failure(RemoteStoreError.isOfNoVersion(record.entity)))
        }
        return .nothing
    }

    /// Whether values belong to another object, judging by the attribute that distinguishes objects with the same identifier.
    func isOther(_ values: [String: ResourceValue], _ subject: OutboxTransaction.Subject) -> Bool {
        guard let entity = subject.row.entity.outer, let name = catalog.incarnation(of: entity), let new = values[name] else {
            return false
        }
        let own = subject.shown.value(name)
        return !new.isNull && !own.isNull && !new.isSame(as: own)
    }

    /// Whether values of a backend contain the sent ones. A missing value does not match, unless nil was sent: many services omit nil values.
    static func contains(_ values: [String: ResourceValue], _ sent: [String: ResourceValue]) -> Bool {
        sent.allSatisfy { name, value in values[name]?.isAlike(value) ?? value.isNull }
    }
}
