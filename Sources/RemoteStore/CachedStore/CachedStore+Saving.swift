internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Saves into the file, with the pending changes, which are sent afterwards.
extension CachedStore {
    /// The part that merges pending changes with confirmed values.
    var folding: (any PendingFolding)? { outbox }

    func prepareOutbox() throws {
        let outbox = Outbox(
            file, reader.catalog, at: backend.location, cacheOptions.conflicts, random: cacheOptions.random
        ) { [backend] in backend?.principal }
        self.outbox = outbox
        try outbox.adapt()
        let place = url.flatMap { $0.path == "/dev/null" || !$0.isFileURL ? nil : $0 }
        sender = OutboxSender(
            outbox, reader, lease: SenderLease(for: place), outerToken: token, isAutomatic: cacheOptions.sendsAutomatically
        ) { [weak self] rows, askedAt in
            try self?.take(rows, askedAt: askedAt)
        } takeWithin: { [weak self] rows, askedAt, transaction in
            try self?.importer.take(rows, askedAt: askedAt, in: transaction)
        } merge: { [weak self] changed, queryTime in
            try self?.merge(changed, queryTime: queryTime)
        } didChange: { [weak self] in
            self?.outboxDidChange()
        } report: { [weak self] error in
            self?.cacheOptions.didFail?(error)
        }
        // A user who has signed in again for reads has also done so for changes.
        reader.runner.credentialsReturned.withLock { $0 = { [weak sender] in sender?.credentialsDidChange() } }
    }

    /// Begins to send the changes that an earlier run has left.
    func beginSending() { sender.wake() }

    /// Stops sending, and closes the file as soon as nothing is in flight.
    func closeFile() {
        guard let sender, let file else {
            self.file?.close()
            return
        }
        sender.close { file.close() }
    }

    /// Saves changes into the file: when this method returns, they are on disk. They are sent afterwards.
    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome { try save(now: changes) }

    func save(now changes: StoreChangeSet) throws -> SaveOutcome {
        try UnsentEdits(reader.catalog) { _ in nil }.check(changes)
        let saved = try file.write { transaction in
            let saved = try outbox.enqueue(changes, token, in: transaction)
            // Results of later reads are merged with them.
            let order = file.order
            let keys = saved.keys
            transaction.whenCommitted { order.note(keys, at: order.now) }
            return saved
        }
        var outcome = SaveOutcome()
        let given = Dictionary(saved.versions.map { ($0.key, $0.version) }, uniquingKeysWith: { _, last in last })
        // The context adopts the new versions of the rows.
        for row in try file.rows(saved.versions.map(\.key)) {
            let key = file.key(of: row)
            if key.entity.shownVersion(of: row) != given[key] { outcome.rows.append(file.outer(row, token)) }
        }
        sender.state.withLock { state in
            // Reported outcomes of earlier changes of the objects are obsolete.
            if state.dropped.isEmpty, state.merged.isEmpty { return }
            for key in saved.keys {
                let local = LocalKey(root: key.entity.inner.top.name ?? "?", key: key.number)
                state.dropped.remove(local)
                state.merged.remove(local)
            }
        }
        outboxDidChange()
        sender.wake()
        return outcome
    }

    /// Returns the IDs of new objects: the keys of their rows. If others refer to an object's identifier, it already has a row.
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        let objects = Array(new)
        return try file.write { transaction in
            return try objects.map { object in
                let entity = file.entity(object.entity)
                if outbox.catalog.hasKnownIdentifiers(object.entity), let resource = try? outbox.identifier(of: object.entity, object.row),
                    let known = try transaction.key(of: resource, in: entity), let row = try transaction.row(known),
                    known.entity === entity, known.entity.state(of: row) == .stub
                {
                    return entity.outerID(known.number, token)
                }
                return entity.outerID(try file.newKey(entity, expecting: objects.count), token)
            }
        }
    }

    /// Waits while new objects are being sent whose identifiers the backend assigns, if rows may belong to them: otherwise they would be displayed twice until
    /// the backend has reported their identifiers.
    func waitForIdentifiers(of rows: [Row]) async throws {
        while true {
            let roots = sender.state.withLock { Set($0.inserting.filter { $1 > 0 }.keys) }
            if roots.isEmpty { return }
            let own = rows.filter { roots.contains($0.knownObjectID.owningEntity.top.name ?? "?") }
            var isNew = false
            for (entity, rows) in Dictionary(grouping: own, by: { ObjectIdentifier($0.knownObjectID.owningEntity) }) where !isNew {
                guard let first = rows.first, ObjectIdentifier(first.knownObjectID.owningEntity) == entity else { continue }
                let resources = rows.compactMap { reader.decoding.resourceID($0.knownObjectID) }
                isNew = try file.keys(of: resources, in: file.entity(first.knownObjectID.owningEntity)).count < Set(resources).count
            }
            if !isNew { return }
            try Task.checkCancellation()
            await sender.waitForInserts()
        }
    }
}
