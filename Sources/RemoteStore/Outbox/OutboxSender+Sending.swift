internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Sends changes, and notes their outcomes.
extension OutboxSender {
    /// Reads the objects of a call first if that is needed; otherwise sends the changes, and notes their outcomes.
    ///
    /// - Throws: The errors of the file.
    func perform(_ call: SenderState.Call) async throws {
        if let name = call.upload { return try await upload(name, of: call.keys[0]) }
        if call.isSought { return try await seek(call.keys) }
        if call.isRead {
            if let setAside = try await read(call.keys, compares: true) {
                var numbers: [LocalKey: Int64] = [:]
                for key in call.keys where !setAside.contains(key) { numbers[key] = try outbox.record(key)?.sequence }
                state.withLock { state in
                    // If the application lets a change that is set aside be sent later, the object is read once more.
                    state.wasRead.merge(numbers) { $1 }
                    // The attempt is still to come, even if nothing else is due.
                    state.attempted.subtract(call.keys)
                }
            }
            return
        }
        state.withLock { state in for key in call.keys { state.wasRead[key] = nil } }
        let marked = try mark(call)
        if marked.isEmpty { return }
        let roots = Set(marked.filter { $0.change.kind == .insert && $0.change.id == nil }.map(\.key.root))
        state.withLock { state in for root in roots { state.inserting[root, default: 0] += 1 } }
        defer { endInserting(roots) }
        reader.runner.beginEpoch()
        let result: Result<[BackendChange.Key: BackendOutcome], any Error>
        do { result = .success(try await reader.runner.save(marked.map(\.change))) } catch { result = .failure(error) }
        // Answers from before the save may be stale.
        reader.forgetEarlierAnswers()
        reader.runner.noteNews()
        // The outcome is noted even if the store was closed meanwhile.
        try await note(result, marked)
    }

    /// Resumes the callers that wait for identifiers.
    private func endInserting(_ roots: Set<String>) {
        if roots.isEmpty { return }
        let waiters = state.withLock { state in
            for root in roots { state.inserting[root, default: 1] -= 1 }
            defer { state.insertWaiters = [] }
            return state.insertWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Suspends until a call with new objects has ended.
    func waitForInserts() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isClosed || !state.inserting.values.contains(where: { $0 > 0 }) { return true }
                state.insertWaiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// The information of an answer about the connection to the backend.
    private struct Verdict {
        /// The reason why the backend could not be reached or has deferred changes.
        var deferral: Prospect?
        /// The reason why the backend rejects the credentials.
        var credentials: (any Error)?
        /// Whether the backend has looked at a change.
        var isLookedAt = false

        init(_ result: Result<[BackendChange.Key: BackendOutcome], any Error>) {
            switch result {
            case .success(let outcomes):
                for outcome in outcomes.values {
                    switch outcome {
                    case .refused(let error): note(error, saysMore: true)
                    case .unknown(let error): note(error)
                    case .saved, .conflict: isLookedAt = true
                    }
                }
            case .failure(let error): note(error)
            }
        }

        private mutating func note(_ error: any Error, saysMore: Bool = false) {
            let prospect = Prospect(error)
            if prospect.isOffline || prospect.mayPass == true, deferral?.isOffline != true { deferral = prospect }
            if prospect.needsCredentials { credentials = error }
            if saysMore, prospect.mayPass != true { isLookedAt = true }
        }
    }

    private func note(
        _ result: Result<[BackendChange.Key: BackendOutcome], any Error>, _ marked: [(key: LocalKey, change: BackendChange, isAtomic: Bool)]
    ) async throws {
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        let verdict = Verdict(result)
        if verdict.isLookedAt, verdict.deferral?.isOffline != true { state.withLock { ($0.pauses, $0.deferred) = (0, []) } }
        let (nexts, times, changed) = try outbox.file.write { transaction in
            var nexts: [(LocalKey, Outbox.Next)] = []
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            let wereMerged = try marked.map { one in
                // A conflict that leaves nothing pending was resolved with the values of others.
                if case .success(let outcomes) = result, case .conflict? = outcomes[one.change.key] { return true }
                return try pending.record(one.key)?.isMerged ?? false
            }
            for (key, change, isAtomic) in marked {
                switch result {
                case .success(let outcomes):
                    let outcome = outcomes[change.key] ?? .unknown(RemoteWriter.missingOutcome)
                    let next = try outbox.note(
                        outcome, of: key, change, isAmongOthers: isAtomic && marked.count > 1, delay: delay, in: transaction)
                    nexts.append((key, next))
                case .failure(let lost as UnknownOutcome):
                    _ = try outbox.note(.unknown(lost), of: key, change, isAmongOthers: false, delay: delay, in: transaction)
                case .failure(let error):
                    try outbox.noteFailure(
                        error, of: key, change, maximumAttempts: Self.maximumAttempts, delay: delay, in: transaction)
                }
            }
            let times = try zip(marked, wereMerged).map { one, wasMerged in
                let record = try pending.record(one.key)
                return (next: record?.nextAttempt, isMerged: record?.isMerged ?? wasMerged)
            }
            return (nexts, times, transaction.changedKeys)
        }
        let (now, uptime) = (clock.now, clock.uptime)
        state.withLock { state in
            for (one, time) in zip(marked, times) {
                if let next = time.next, next > now {
                    state.due[one.key] = uptime + .milliseconds(Int64((next - now) * 1000))
                } else {
                    state.due[one.key] = nil
                }
                if time.next == nil {
                    state.alone.remove(one.key)
                    // The set is for callers that wait for the outcome.
                    if time.isMerged {
                        if state.merged.count > 10_000 { state.merged = [] }
                        state.merged.insert(one.key)
                    }
                }
            }
            for (key, next) in nexts where next == .alone { state.alone.insert(key) }
            for (key, next) in nexts where next != .compare { state.unexplained[key] = nil }
        }
        if let deferral = verdict.deferral, deferral.isOffline || !verdict.isLookedAt { noteDeferred(marked.map(\.key), deferral) }
        if let error = verdict.credentials {
            noteRefusedCredentials(error, of: marked[0].change.principal)
        } else if verdict.isLookedAt {
            state.withLock { $0.credentials.noteTaken() }
        }
        try merge(changed, queryTime)
        for next in [Outbox.Next.read, .compare, .look] {
            let read = nexts.filter { $0.1 == next }.map(\.0)
            if read.isEmpty || state.withLock({ $0.isClosed }) { continue }
            if next == .look {
                try await look(read)
            } else if try await self.read(read, compares: next == .compare) != nil, next == .compare {
                let changes = Dictionary(marked.map { ($0.key, $0.change) }, uniquingKeysWith: { first, _ in first })
                try noteCompared(changes.filter { read.contains($0.key) })
            }
        }
        for (one, next) in zip(marked, nexts.map(\.1)) {
            guard case .twin(let resource) = next, case .success(let outcomes) = result, let outcome = outcomes[one.change.key] else {
                continue
            }
            try await settle(outcome, of: one.key, one.change, besides: resource)
        }
    }

    /// Reads the object that has the identifier of a new one, and notes the outcome of the new one again. If it cannot be read, the change is sent again.
    private func settle(_ outcome: BackendOutcome, of key: LocalKey, _ change: BackendChange, besides resource: ResourceID) async throws {
        let file = outbox.file
        guard let entity = file.entity(named: change.entity), let outer = entity.outer else { return }
        let id = reader.decoding.id(resource, of: outer)
        let askedAt = file.order.begin()
        defer { file.order.end(askedAt) }
        let rows: [Row]
        do { rows = try await reader.read([id], isFresh: true, for: StoreCaller(stalenessInterval: 0)) } catch {
            if !state.withLock({ $0.isClosed }) { try noteUnread(error, [key]) }
            return
        }
        if state.withLock({ $0.isClosed }) { return }
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        try take(rows, askedAt)
        let changed = try file.write { transaction in
            if rows.isEmpty, let other = try transaction.key(of: resource, in: entity) {
                try outbox.endEarlier(other, OutboxTransaction.of(transaction, outbox.catalog))
            }
            _ = try outbox.note(outcome, of: key, change, isAmongOthers: false, isTwinRead: true, delay: delay, in: transaction)
            return transaction.changedKeys
        }
        try merge(changed, queryTime)
    }

    // MARK: Reading

    /// Reads objects whose change must be sent again or met a conflict, or whose new version the backend has not reported.
    ///
    /// - Parameters:
    ///   - compares: Whether to check what others have changed, before pending changes are sent.
    /// - Returns: The changes that are set aside now; nil if the objects could not be read.
    /// - Throws: The errors of the file.
    @discardableResult func read(_ keys: [LocalKey], compares: Bool) async throws -> Set<LocalKey>? {
        let file = outbox.file
        var wanted: [(key: LocalKey, place: CacheKey, id: NSManagedObjectID, sent: BackendChange?, isNew: Bool)] = []
        for key in keys {
            guard let entity = file.entity(named: key.root), let row = try file.row(CacheKey(entity: entity, number: key.key)) else {
                continue
            }
            let place = file.key(of: row)
            let record = try outbox.record(place)
            guard let resource = record?.resource ?? place.entity.resource(of: row), let outer = place.entity.outer else { continue }
            wanted.append((key, place, reader.decoding.id(resource, of: outer), record?.sent?.change, !(record?.isConfirmed ?? true)))
        }
        if wanted.isEmpty { return [] }
        let askedAt = file.order.begin()
        defer { file.order.end(askedAt) }
        let rows: [Row]
        do { rows = try await reader.read(wanted.map(\.id), isFresh: true, for: StoreCaller(stalenessInterval: 0)) } catch {
            if !state.withLock({ $0.isClosed }) { try noteUnread(error, keys) }
            return nil
        }
        if state.withLock({ $0.isClosed }) { return nil }
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        // The rows become the confirmed values before the outcome of the sent changes is noted.
        if compares { outbox.comparing.withLock { _ = $0.insert(askedAt) } }
        defer { if compares { outbox.comparing.withLock { _ = $0.remove(askedAt) } } }
        try take(rows, askedAt)
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        let (changed, setAside) = try file.write { transaction in
            var new: [Row] = []
            var setAside: Set<LocalKey> = []
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            for one in wanted {
                // A lagging replica may still have a deleted object whose identifier was assigned to the new one.
                let row = byID[one.id].flatMap { one.isNew && isGone($0, one.place, since: askedAt) ? nil : $0 }
                let found: Outbox.Found =
                    row == nil ? .missing : one.sent.map { isOwn(row, $0, one.place) } ?? false ? .own : .other
                let version = row.flatMap { reader.versions.version(one.id, $0.version) }
                try outbox.noteFound(found, version: version, of: one.key, askedAt: askedAt, in: transaction)
                if try pending.record(one.key)?.isSetAside ?? false { setAside.insert(one.key) }
                if let row, found == .own, one.sent?.kind == .insert { new.append(row) }
            }
            // The rows contain changes that others have made to a new object since it was saved. They can be merged only now that the object counts as saved.
            try takeWithin(new, askedAt, transaction)
            return (transaction.changedKeys, setAside)
        }
        try merge(changed, queryTime)
        return setAside
    }

    /// Whether a row belongs to an object that was deleted recently.
    private func isGone(_ row: Row, _ place: CacheKey, since askedAt: UInt64) -> Bool {
        let (order, id) = (outbox.file.order, row.knownObjectID)
        guard order.hasGone, let resource = reader.decoding.resourceID(id) else { return false }
        return order.isGone(
            resource, place.entity.root, reader.versions.version(id, row.version), since: askedAt, uptime: order.uptime(of: askedAt))
    }

    /// Whether an object has the sent values.
    private func isOwn(_ row: Row?, _ sent: BackendChange, _ place: CacheKey) -> Bool {
        guard let row else { return false }
        if sent.kind == .insert, let outer = place.entity.outer, let saving = outbox.catalog.saving(of: outer),
            case .newUUID = saving.identity
        {
            return true
        }
        let uploads = place.entity.outer.flatMap { outbox.catalog.saving(of: $0) }?.uploads ?? []
        return sent.lists.isEmpty && reader.contains(row, sent.values.filter { !uploads.contains($0.key) })
    }

    /// Notes that objects could not be read.
    func noteUnread(_ error: any Error, _ keys: [LocalKey]) throws {
        let prospect = Prospect(error)
        noteDeferred(keys, prospect)
        if prospect.needsCredentials { noteRefusedCredentials(error, of: outbox.principal()) }
        let uptime = clock.uptime
        try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            for key in keys {
                guard var record = try pending.record(key), let subject = try pending.subject(pending.place(record)) else { continue }
                let (attempts, failure) = (record.attempts + 1, Outbox.failure(error))
                if record.sent?.change.kind == .insert, prospect.mayPass != true, attempts >= Self.maximumAttempts {
                    // The outcome cannot be determined.
                    record.postpone(until: 0)
                    record.leaveToApplication(failure)
                } else {
                    record.postpone(failure, until: outbox.time(after: error, delay(attempts, prospect.retryAfter)))
                }
                let time = record.nextAttempt
                let now = clock.now
                if time > now {
                    let due = uptime + .milliseconds(Int64((time - now) * 1000))
                    transaction.whenCommitted { [state] in state.withLock { $0.due[key] = due } }
                }
                try pending.finish(record, subject.row)
            }
        }
    }
}
