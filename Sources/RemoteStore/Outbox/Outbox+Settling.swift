internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Does to the file what the backend says of a change that was sent.
extension Outbox {
    /// What is left to do for a change that was answered.
    enum Next: Equatable {
        /// Nothing, or it waits in the queue.
        case nothing
        /// The object is to be read: the new version was not told, or it is to be seen whether an earlier attempt was saved.
        case read
        /// The object is to be read: whether the change was made, nothing but that tells.
        case look
        /// The object is to be read, as a conflict came without values.
        case compare
        /// The change is to be sent without others: one of a call that succeeds as a whole was refused.
        case alone
        /// The object is to be read that has the identifier of a new one: which of the two has it now is not clear.
        case twin(ResourceID)
    }

    /// Notes the outcome of a change.
    ///
    /// - Parameters:
    ///   - isAmongOthers: Whether it was sent by a call that succeeds or fails as a whole.
    ///   - isTwinRead: Whether the object was read since that has the identifier of a new one.
    ///   - delay: Returns the time to wait before another attempt, by their number and what the backend asks for.
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
            // Without the new version nothing says that it was made.
            record.noteUnseen(Self.failure(RemoteStoreError.isUnseen(change)), until: file.clock.now)
            next = .look
        case .saved(let id, let version, let values):
            next = try noteSaved(&record, id, version, values, isTwinRead: isTwinRead, subject, pending)
        case .conflict(let values?, let version)
        where !values.isEmpty && record.isTold(by: values, subject.shown, besides: subject.saving.uploads):
            next = try noteConflict(&record, values, version, subject, pending)
        case .conflict where change.kind == .insert:
            // Whether what is there is its own, made by an earlier attempt, the conflict does not say.
            next = noteRefusal(
                of: &record, change, Self.failure(RemoteStoreError.isThere(change)), settlesEarlierAttempts: change.id != nil)
        case .conflict:
            // What others have made of it, or whether they have deleted it, is to be seen: no values say nothing, also not that a value is nil, and those
            // of other properties say nothing of the contested ones.
            record.remake(until: record.attempts > 2 ? file.clock.now + delay(record.attempts, nil).inSeconds : nil)
            next = .compare
        case .refused(let error) where UnseenChange.isOne(error) && change.kind != .insert:
            // It was read just now.
            record.noteUnseen(Self.failure(error), until: time(after: error, delay(record.attempts, nil)))
        case .refused(let error):
            let (prospect, failure) = (Prospect(error), Self.failure(error))
            if let part = error as? PartRefusal, !part.saved.isEmpty, change.kind == .delete {
                // What is left has no values of what is gone: those are not what others have changed.
                let names = part.saved.intersection(subject.shown.names)
                // Bounded: the names are a set.
                try pending.write(Dictionary(uniqueKeysWithValues: names.map { ($0, subject.shown.value($0).empty) }), subject.row)
            } else if let part = error as? PartRefusal, !part.saved.isEmpty {
                if change.kind == .insert, record.resource == nil {
                    // A part of it is there, and nobody knows where: the rest cannot follow, and as a change of its own it would be a second object.
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
                // It is saved, and as what is read.
                next = try noteSaved(&record, nil, nil, [:], subject, pending)
                if next == .nothing { next = .read }
            } else {
                record.noteUnseen(Self.failure(error), until: file.clock.now)
                next = .look
            }
        case .unknown(let error): noteUnknown(&record, error, delay(record.attempts, Prospect(error).retryAfter), subject)
        }
        // Until that is read it may be sent again.
        if case .twin = next { record.noteUnclear() }
        try settle(&record, subject, pending)
        if record.isDone, !record.isShown { noteGone(record.resource, subject.row, in: transaction) }
        try pending.finish(record, subject.row)
        return next
    }

    /// Notes that an attempt was refused for good.
    ///
    /// - Parameter settlesEarlierAttempts: Whether the refusal says that those have not saved it either, as far as a look for it does not tell.
    private func noteRefusal(
        of record: inout PendingRecord, _ change: BackendChange, _ failure: PendingRecord.Failure, settlesEarlierAttempts: Bool
    ) -> Next {
        if record.mayHaveArrived, !settlesEarlierAttempts {
            // The application repeats it as it was, or gives it up.
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

    /// Notes that nothing of a change was saved, because a call has failed.
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
            // Nobody has said that the earlier attempt was refused, too.
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

    /// The time before which a change is not sent again after an error: whether the backend can be reached, and who is signed in, is not up to the change.
    func time(after error: any Error, _ delay: Duration) -> Double {
        let prospect = Prospect(error)
        return prospect.isOffline || prospect.needsCredentials ? 0 : file.clock.now + delay.inSeconds
    }

    /// Notes that the fate of a change is not known.
    func noteUnknown(_ record: inout PendingRecord, _ error: any Error, _ delay: Duration, _ subject: OutboxTransaction.Subject) {
        guard let sent = record.sent else { return }
        record.noteLost(Self.failure(error), until: canSendAgain(sent, subject.saving) ? time(after: error, delay) : nil)
    }

    /// Whether what may have arrived can be sent again, or looked for. Of a new object without an identifier it would make a second one.
    private func canSendAgain(_ sent: PendingRecord.Sent, _ saving: Resource.Saving) -> Bool {
        sent.canRepeatKey(saving, at: file.clock.now) || sent.change.kind != .insert || sent.change.id != nil
    }

    /// Whether only the application can decide about a change that waits to be sent again, since the backend has forgotten its key meanwhile.
    func needsDecision(_ record: PendingRecord, _ saving: Resource.Saving) -> Bool {
        // What was accepted is sought.
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
                // It is saved, and nobody knows where.
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

    /// Notes that the lists of an object that was just made are known: nobody else has known it.
    private func noteLists(of row: CacheRow, in transaction: CacheTransaction) {
        var knowledge = row.knowledge
        for relationship in row.entity.outer?.frozenParts.relationships ?? [] where relationship.isToMany && !relationship.isTransient {
            if knowledge.lists[relationship.name] == nil { knowledge.lists[relationship.name] = transaction.now }
        }
        row.setKnowledge(knowledge)
    }

    /// Lets an object that was brought back while its deletion was under way be sent as a new one.
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

    /// Lets a new object take the place of a row that was read before the answer to it has come: they are one.
    ///
    /// The row is newer than the answer, which is of the moment at which the object was made. What was edited of either is edited.
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
        // It was edited as the read has brought it.
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

    /// Returns what a backend has told of values, with local references.
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

    /// Sets the version of a row; a copy of the backend that lags may still answer with the one that it had.
    ///
    /// Where the new version was not told, the next read says what the object has, also with the version of before: the backend may have left it as it was.
    func setVersion(_ version: ResourceVersion?, of row: CacheRow, in transaction: CacheTransaction) {
        noteReplaced(row.version, by: version, of: row, in: transaction)
        row.setVersion(version)
    }

    private func noteReplaced(_ old: ResourceVersion?, by new: ResourceVersion?, of row: CacheRow, in transaction: CacheTransaction) {
        guard let old, let new, old != new else { return }
        let (order, key, uptime) = (file.order, row.key, file.clock.uptime)
        transaction.whenCommitted { order.noteReplaced(old.encoded, of: key, uptime: uptime) }
    }

    /// Notes that the backend does not have an object any more, though a copy of it that lags may.
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
            // Its identifier was given to another object.
            noteGone(record.resource, subject.row, in: pending.transaction)
            record.remake()
            try end(&record, subject, pending)
            return .nothing
        }
        let isOwn =
            sent.change.lists.isEmpty && Self.contains(current, sent.values.filter { !subject.saving.uploads.contains($0.key) })
            && sent.change.kind != .delete
        if isOwn, sent.change.kind == .update || record.mayHaveArrived {
            // It was saved by an attempt whose answer was lost, or others have made the same of it; the rest is what others have made of it.
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

    /// Whether values are those of another object, by what tells objects with one identifier apart.
    func isOther(_ values: [String: ResourceValue], _ subject: OutboxTransaction.Subject) -> Bool {
        guard let entity = subject.row.entity.outer, let name = catalog.incarnation(of: entity), let new = values[name] else {
            return false
        }
        let own = subject.shown.value(name)
        return !new.isNull && !own.isNull && !new.isSame(as: own)
    }

    /// Whether values of a backend contain what was sent. One that is missing does not count, unless nil was sent: many services leave that out.
    static func contains(_ values: [String: ResourceValue], _ sent: [String: ResourceValue]) -> Bool {
        sent.allSatisfy { name, value in values[name]?.isAlike(value) ?? value.isNull }
    }
}
