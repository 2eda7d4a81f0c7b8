internal import Foundation

extension NSManagedObjectContext {
    /// Refreshes an object like ``refresh(_:mergeChanges:)`` and suspends until the store has answered. Not in Apple's API.
    ///
    /// With merging, unsaved changes are kept, including those made meanwhile. An object that is being saved is refreshed after the save.
    ///
    /// - Throws: The store's error, with the object unchanged; `CancellationError` when the task is cancelled.
    public func refreshAsynchronously(
        _ object: NSManagedObject, mergeChanges flag: Bool, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await refresh(QueueBound([object], on: self), mergeChanges: flag)
    }

    /// Refreshes every object of the context like ``refreshAllObjects()`` and keeps unsaved changes. Not in Apple's API.
    ///
    /// Objects with changes are refreshed by one query for all of them; objects without changes become faults.
    ///
    /// - Throws: The store's error, with the objects unchanged; `CancellationError` when the task is cancelled.
    public func refreshAllObjectsAsynchronously(isolation: isolated (any Actor)? = #isolation) async throws {
        try await afterEarlierSaves {
            let changed = await self.perform {
                self.processPendingChanges()
                return QueueBound(self.registry.all.filter { $0.hasChanges && !$0.isInserted }, on: self)
            }
            try await self.prepareRefresh(changed)
            await self.perform { self.performRefreshAllObjects(isFresh: Set(changed.value.map(ObjectIdentifier.init))) }
        }
    }

    private func refresh(_ objects: QueueBound<[NSManagedObject]>, mergeChanges flag: Bool) async throws {
        try await afterEarlierSaves {
            let wanted = await self.perform {
                QueueBound(objects.value.filter { flag && !$0.isInserted && $0.registry === self.registry }, on: self)
            }
            try await self.prepareRefresh(wanted)
            await self.perform {
                for object in objects.value { self.performRefresh(object, mergeChanges: flag, isFresh: flag) }
            }
        }
    }

    /// Loads the rows of objects again from their stores.
    private func prepareRefresh(_ objects: QueueBound<[NSManagedObject]>) async throws {
        let ids = await perform { objects.value.map(\.objectID) }
        if ids.isEmpty { return }
        if let parent {
            // The parent's values are current; only rows that it has not read are loaded.
            return try await parent.loadRows(of: ids)
        }
        let queries = try await perform {
            for id in ids { self.forgetRow(of: id) }
            return try AsynchronousQueries(of: self)
        }
        let rows = try await queries.rows(for: ids)
        // The rows stay in memory up to this point, so deleted objects are detected without another query.
        await perform { withExtendedLifetime((queries, rows)) {} }
        if let failure = rows.failures.first?.value { throw failure.error }
    }

    /// Loads the rows of objects into their stores' caches.
    func loadRows(of ids: [NSManagedObjectID]) async throws {
        let faults = await perform { QueueBound(self.objects(with: ids).filter { $0.isFault && !$0.isInserted }, on: self) }
        if await perform({ faults.value.isEmpty }) { return }
        if let parent {
            let ids = await perform { faults.value.map(\.objectID) }
            try await parent.loadRows(of: ids)
            let rows = try await parent.perform {
                Transfer(try ids.map { try parent.rowForChild(of: parent.object(with: $0)) })
            }
            await perform {
                for (object, row) in zip(faults.value, rows.value) { if object.isFault, let row { object.fulfillFault(with: row) } }
            }
            return
        }
        let (queries, wanted) = try await perform { (try AsynchronousQueries(of: self), faults.value.map(\.objectID)) }
        let rows = try await queries.rows(for: wanted)
        try await perform { try self.fulfill(faults.value, from: rows) }
        if let failure = rows.failures.first?.value { throw failure.error }
    }
}
