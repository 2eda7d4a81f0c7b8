internal import Foundation
internal import Synchronization

extension NSManagedObjectContext {
    /// Saves like ``save()`` and suspends until the save is done. Not in Apple's API.
    ///
    /// The context runs other blocks meanwhile, and no thread of the task pool waits for stores that load asynchronously. The save writes the changes
    /// that are pending when it begins; from then on they count as saved, and later changes stay pending on top of them. If the save fails, its
    /// changes become pending again, together with those made since. See the article *Contexts and threads*. A second save waits for the first. A
    /// subclass's override of ``save()`` is not called. Stores that subclass Apple's interface receive the context's objects and save on its queue.
    ///
    /// - Throws: The errors of ``save()``; `CancellationError` if the task is cancelled before the save begins. A save that has begun is not
    ///   cancelled.
    public func saveAsynchronously(isolation: isolated (any Actor)? = #isolation) async throws {
        try await afterEarlierSaves { try await self.saveNow() }
    }

    /// Runs `body` after the saves before it; saves after it wait for it.
    func afterEarlierSaves(_ body: () async throws -> Void) async throws {
        try Task.checkCancellation()
        await withCheckedContinuation { continuation in queue.inPlace { self.ongoingWork.beginSave(continuation) } }
        let result: Result<Void, any Error>
        do {
            try Task.checkCancellation()
            try await body()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        queue.inPlace { self.ongoingWork.endSave() }
        try result.get()
    }

    private func saveNow() async throws {
        // Outside the caller's task, which may be cancelled, and off the shared threads, because a block may have to wait for it.
        try await Task(executorPreference: BlockingCall.executor) { try await self.saveOnWaitingThreads() }.value
    }

    private func saveOnWaitingThreads() async throws {
        var (attempt, most) = (0, 1)
        while attempt < most {
            let isRepeated = attempt > 0
            let begun = try await performInPlace { () -> (save: SaveInFlight, most: Int)? in
                // Before the changes are taken.
                let most = self.mostSaveAttempts
                return try self.sendable(isRepeated: isRepeated).map { ($0, most) }
            }
            guard let begun else { return }
            let save = begun.save
            if !isRepeated { most = begun.most }
            attempt += 1
            await save.send()
            let (isToBeRepeated, error) = try await performInPlace {
                self.applyAnswer(to: save)
                return (save.isToBeRepeated, save.error)
            }
            if !isToBeRepeated {
                if let error { throw error }
                return
            }
        }
        throw tooManyConflicts
    }

    // MARK: Before

    /// Whether a store receives the context's own objects in a save; their state must be preserved for it.
    private var handsObjectsOver: Bool {
        parent == nil
            && (persistentStoreCoordinator?.persistentStores ?? []).contains { $0.interface is any ContextReceivingStore }
    }

    /// Collects the pending changes; returns nil if there are none, or if everything is already saved. Call it on the context's queue.
    private func sendable(isRepeated: Bool) throws -> SaveInFlight? {
        waitForSaveInFlight()
        if handsObjectsOver {
            try performSave()
            return nil
        }
        guard try beginSave(isRepeated: isRepeated) else { return nil }
        isSaving = true
        defer { isSaving = false }
        if !isRepeated || !eventObjects.isEmpty { try prepareSave() }
        let hadChanges = hasChanges
        let changes = try changesToSave()
        guard !changes.isEmpty else {
            try saveNewMetadata()
            if hadChanges { generation.advance() }
            finishSave(changes, isWhole: true)
            return nil
        }
        let save = try take(changes)
        ongoingWork.save = save
        return save
    }

    private func take(_ changes: ChangeSet) throws -> SaveInFlight {
        // A refresh may have dropped values that an undo needs, and no store can return them after the save.
        changes.deleted.forEachUncounted { if $0.extras?.undoState != nil { $0.loadEverything() } }
        let new = changes.inserted.keeping { !$0.hasPermanentID }
        let ids = try source.permanentIDs(for: new, in: self)
        let temporary = registry.exchangeIDs(of: new, for: ids)
        var changes = changes
        changes.prepareInsertedIDs(ids)
        let work: any SaveWork
        do {
            work = try saveWork(changes)
        } catch {
            _ = registry.exchangeIDs(of: new, for: temporary)
            changes.keepRows()
            throw error
        }
        // Permanently: relationships may refer to the IDs before the save is done.
        promoteTemporaryIDs(temporary, to: consume ids)
        // Children look up the IDs whether the save succeeds or not.
        if !new.isEmpty { saveCount.add(1, ordering: .releasing) }
        let sets = ObjectChanges(inserted: insertedList.set, updated: updatedList.set(of: changes.updated), deleted: deletedList.set)
        let assigned = assignedStores
        let unchanged = updatedList.count == changes.updated.count ? [] : updatedList.elements
        takeEverything(changes)
        let objects =
            changes.inserted.map { SavedObjectState($0, .inserted) } + changes.updated.map { SavedObjectState($0, .updated) }
            + changes.locked.map { SavedObjectState($0, .locked) }
        for object in unchanged where object.flags.contains(.updated) { object.didBecomeSaved() }
        for object in changes.deleted { object.flags.subtract([.inEvent, .insertedInEvent]) }
        return SaveInFlight(changes, objects: objects, sets, assigned, work)
    }

    private func saveWork(_ changes: ChangeSet) throws -> any SaveWork {
        if let parent { return ParentSave(try ParentSource.ChildSave(changes), into: parent, from: registry) }
        guard let persistentStoreCoordinator else { throw NoSource.shared.error }
        return StoreSave(try persistentStoreCoordinator.storeParts(of: changes, in: self), for: caller)
    }

    // MARK: After

    /// Returns whether stores are currently saving the object.
    func isBeingSaved(_ object: NSManagedObject) -> Bool { asynchronousWork?.save?.concerns(object) ?? false }

    /// Waits for the running save, because the next operation depends on its outcome. Call it on the context's queue.
    func waitForSaveInFlight() {
        while let save = asynchronousWork?.save {
            _ = save.wait()
            applyAnswer(to: save)
        }
    }

    /// Applies the stores' answer, once. Call it on the context's queue.
    private func applyAnswer(to save: SaveInFlight) {
        if save.isAnswerApplied { return }
        save.isAnswerApplied = true
        ongoingWork.save = nil
        let answer = save.received
        do {
            if let error = answer.error { throw error }
            finish(save, try values(of: answer, save))
        } catch let partial as PartialSave {
            finish(save, partial)
            do {
                try resolveRest(of: partial)
                save.isToBeRepeated = true
            } catch {
                save.error = error as NSError
            }
        } catch {
            restoreChanges(of: save) { _ in true }
            do {
                try resolveConflicts(conflictError(error))
                save.isToBeRepeated = true
            } catch {
                save.error = error as NSError
            }
        }
        let merges = ongoingWork.merges
        ongoingWork.merges = []
        for (saved, isRemote) in merges { merge(saved, isRemote: isRemote) }
    }

    /// - Throws: The error of a store if nothing was saved; ``PartialSave``.
    private func values(of answer: SaveAnswer, _ save: SaveInFlight) throws -> SavedValues {
        var report = SaveReport(changeCount: save.changes.count, storeCount: answer.storeCount)
        for (reference, part, result) in answer.outcomes {
            if case .failure(let error) = result, error is StoreConflicts, answer.outcomes.count == 1 { throw error }
            try report.note(result, of: part, in: reference.store, self)
        }
        return report.values
    }

    /// Returns the conflicts for the merge policy, created once the objects have their changes back.
    private func conflictError(_ error: any Error) -> NSError {
        guard let conflicts = error as? StoreConflicts else { return error as NSError }
        return self.error(of: conflicts)
    }

    /// Finishes a save that wrote everything.
    private func finish(_ save: SaveInFlight, _ values: SavedValues) {
        generation.advance()
        adopt(values.assignedIDs, save.changes)
        for state in save.objects where isRegistered(state.object) { state.completeSave() }
        postSave(save.changes, save.sets, isWhole: true)
        adopt(values.rows)
    }

    /// Finishes a partial save: the rest becomes pending again.
    private func finish(_ save: SaveInFlight, _ partial: PartialSave) {
        generation.advance()
        adopt(partial.values.assignedIDs, save.changes)
        let accepted = save.changes.filter { partial.accepted.contains($0.objectID) }
        for state in save.objects where partial.accepted.contains(state.object.objectID) && isRegistered(state.object) {
            state.completeSave()
        }
        restoreChanges(of: save) { !partial.accepted.contains($0.objectID) }
        postSave(
            accepted,
            ObjectChanges(inserted: accepted.inserted.objectSet, updated: accepted.updated.objectSet, deleted: accepted.deleted.objectSet),
            isWhole: false)
        adopt(partial.values.rows)
    }

    private func postSave(_ changes: ChangeSet, _ sets: ObjectChanges, isWhole: Bool) {
        let here = changes.filter(isRegistered)
        completeSave(changes, saved: here.inserted + here.updated + here.locked, deleted: here.deleted, sets, isWhole: isWhole)
    }

    /// Returns whether the object is still registered with this context.
    private func isRegistered(_ object: NSManagedObject) -> Bool { object.registry === registry }

    /// Restores the changes of a failed save to its objects, under those made since.
    private func restoreChanges(of save: SaveInFlight, _ isIncluded: (NSManagedObject) -> Bool) {
        for state in save.objects where isRegistered(state.object) && isIncluded(state.object) {
            let object = state.object
            state.restoreChanges()
            switch state.kind {
            case .inserted:
                object.flags.insert(.inserted)
                // An object deleted meanwhile was never saved: no delete rule denies that, and it is removed at the end of the event.
                if object.flags.contains(.deleted) { repeatDeletion(of: object) } else { putBackIntoLists(object, isNew: true) }
                assignedStores[ObjectIdentifier(object)] = save.assignedStores[ObjectIdentifier(object)]
            case .updated: if !object.flags.contains(.deleted) { putBackIntoLists(object, isNew: false) }
            case .locked: if !lockedObjects.contains(where: { $0 === object }) { lockedObjects.append(object) }
            }
        }
        for object in save.changes.deleted where isRegistered(object) && isIncluded(object) && object.flags.contains(.deleted) {
            deletedList.append(object)
        }
    }

    private func putBackIntoLists(_ object: NSManagedObject, isNew: Bool) {
        if isNew {
            if object.flags.contains(.updated) { updatedList.remove(object) }
            object.flags.remove(.updated)
            insertedList.append(object)
        } else if !object.flags.contains(.updated) {
            object.flags.insert(.updated)
            updatedList.append(object)
        }
    }
}

extension NSManagedObjectContext {
    /// Loads everything that is read when a child's changes are applied, if stores load asynchronously, so the parent's queue does not wait for it.
    func load(for childSave: ParentSource.ChildSave) async throws {
        let coordinator = persistentStoreCoordinator
        guard coordinator?.persistentStores.contains(where: { $0.interface is any AsynchronousStore }) ?? false else { return }
        let new = Set(childSave.written.filter { $0.changed == nil }.map(\.id))
        var byName: [String: [NSManagedObjectID]] = [:]
        var ids = childSave.deleted.filter { !$0.isTemporaryID }
        for change in childSave.written where change.changed != nil && !change.id.isTemporaryID {
            ids.append(change.id)
            for case let relationship as NSRelationshipDescription in change.changed ?? [] {
                byName[relationship.name, default: []].append(change.id)
            }
        }
        for change in childSave.written {
            for property in change.changed ?? change.entity.frozen!.properties {
                guard let relationship = property as? NSRelationshipDescription else { continue }
                let slot = change.entity.frozen!.layout.slots[property.slotIndex]
                ids += change.row.relatedIDs(relationship, at: slot).filter { !$0.isTemporaryID && !new.contains($0) }
            }
        }
        for id in childSave.deleted where !id.isTemporaryID {
            for relationship in id.owningEntity.frozen!.relationships { byName[relationship.name, default: []].append(id) }
        }
        let all = Array(Set(ids))
        try await loadRows(of: all)
        for (name, ids) in byName {
            let objects = await perform { QueueBound(self.objects(with: ids), on: self) }
            try await load(objects, [[name]])
        }
    }
}
