internal import Foundation

extension NSManagedObjectContext {
    /// Brings an object up to date with its store as the synchronous `refresh(_:mergeChanges:)`, and suspends until the store has answered.
    ///
    /// With merging, unsaved changes stay, those that are made meanwhile too. An object that is being saved is refreshed when that is done.
    ///
    /// - Throws: the store's error, and the object is as it was; `CancellationError` when the task is cancelled.
    public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool, isolation: isolated (any Actor)? = #isolation) async throws {
        try await refresh(Handover([object], on: self), mergeChanges: flag)
    }

    /// Refreshes every object of the context as the synchronous `refreshAllObjects()`, keeping unsaved changes: stores are asked for all of those at
    /// once. Objects without changes become faults.
    ///
    /// - Throws: the store's error, and the objects are as they were; `CancellationError` when the task is cancelled.
    public func refreshAllObjects(isolation: isolated (any Actor)? = #isolation) async throws {
        try await inTurn {
            let changed = await self.perform {
                self.processPendingChanges()
                return Handover(self.registry.all.filter { $0.hasChanges && !$0.isInserted }, on: self)
            }
            try await self.prepareRefresh(changed)
            await self.perform { self.performRefreshAllObjects(isFresh: Set(changed.value.map(ObjectIdentifier.init))) }
        }
    }

    private func refresh(_ objects: Handover<[NSManagedObject]>, mergeChanges flag: Bool) async throws {
        try await inTurn {
            let wanted = await self.perform {
                Handover(objects.value.filter { flag && !$0.isInserted && $0.registry === self.registry }, on: self)
            }
            try await self.prepareRefresh(wanted)
            await self.perform {
                for object in objects.value { self.performRefresh(object, mergeChanges: flag, isFresh: flag) }
            }
        }
    }

    /// Asks for the rows of objects anew.
    private func prepareRefresh(_ objects: Handover<[NSManagedObject]>) async throws {
        let ids = await perform { objects.value.map(\.objectID) }
        if ids.isEmpty { return }
        if let parent {
            // The parent shows what it has; only what it has not read is asked for.
            return try await parent.loadRows(of: ids)
        }
        let questions = try await perform {
            for id in ids { self.source.forgetRow(of: id) }
            return try StoreQuestions(of: self)
        }
        let rows = try await questions.rows(for: ids)
        // What is gone is found so without another question.
        await perform { withExtendedLifetime((questions, rows)) {} }
    }

    /// Sees to it that the rows of objects are at hand.
    func loadRows(of ids: [NSManagedObjectID]) async throws {
        let faults = await perform { Handover(self.objects(with: ids).filter { $0.isFault && !$0.isInserted }, on: self) }
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
        let (questions, wanted) = try await perform { (try StoreQuestions(of: self), faults.value.map(\.objectID)) }
        let rows = try await questions.rows(for: wanted)
        try await perform { try self.fulfill(faults.value, from: rows) }
    }
}
