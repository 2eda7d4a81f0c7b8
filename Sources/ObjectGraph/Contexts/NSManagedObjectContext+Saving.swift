internal import Foundation
internal import Synchronization

extension NSManagedObjectContext {
    /// Saves the pending changes; implements the public ``save()``.
    func performSave(attempt: Int = 0) throws {
        waitForSaveInFlight()
        guard try beginSave(isRepeated: attempt > 0) else { return }
        isSaving = true
        defer { isSaving = false }
        try prepareSave()
        let hadChanges = hasChanges
        var written = try writeResolvingConflicts()
        if hadChanges { generation.advance() }
        finishSave(written.changes, isWhole: written.partial == nil)
        adopt(written.rows)
        guard let partial = written.partial else { return written.changes.releaseInsertedIDs() }
        if attempt == 10 { throw tooManyConflicts }
        try resolveRest(of: partial)
        isSaving = false
        try performSave(attempt: attempt + 1)
    }

    /// Lets the merge policy resolve the conflicts of a partial save.
    ///
    /// - Throws: The error of the save, if it does not consist of conflicts alone or the policy leaves them unresolved.
    func resolveRest(of partial: PartialSave) throws {
        if partial.conflicts.isEmpty { throw partial.error }
        do { try resolveConflicts(error(of: StoreConflicts(partial.conflicts))) } catch { throw partial.error }
    }

    /// Processes pending changes, and returns whether the save may continue: no other save is running.
    ///
    /// A save without changes continues, too: metadata may have been set, and it posts notifications like any other save, as on Apple's platforms.
    ///
    /// - Parameter isRepeated: Whether this is the rest of a save, which is over if no changes are left.
    func beginSave(isRepeated: Bool = false) throws -> Bool {
        try throwPendingFaultError()
        // A save requests the values that it needs again.
        if hasChanges { forgetAllFaultErrors() }
        _ = processEvent(isSaving: true)
        return !isSaving && (hasChanges || !isRepeated)
    }

    /// Posts the will-save notification, calls `willSave()` and validates the objects.
    func prepareSave() throws {
        post(Self.willSaveObjectsNotification)
        try callWillSave()
        if validatesWhenSaving { try validate() }
    }

    /// Lets stores write metadata that were set since their last save, if the context has nothing to save.
    func saveNewMetadata() throws {
        guard parent == nil, let persistentStoreCoordinator, !persistentStoreCoordinator.storesWithNewMetadata.isEmpty else { return }
        try persistentStoreCoordinator.saveWhole(ChangeSet(inserted: [], updated: [], deleted: []), in: self)
    }

    /// Applies values that stores changed during a save.
    func adopt(_ rows: [Row]) {
        for row in rows {
            guard let object = row.objectID.flatMap(registry.object(with:)), !object.isFault else { continue }
            if object.hasChanges { object.rebase(onto: row) } else { object.adopt(row) }
        }
    }

    // MARK: Before

    /// Calls `willSave` for all objects of the save, then for the objects changed or inserted by these calls, until there are no more.
    private func callWillSave() throws {
        var objects = insertedList.elements.appending(contentsOf: updatedList.elements).appending(contentsOf: deletedList.elements)
        for _ in 0..<1000 {
            objects.forEachUncounted { $0.willSave() }
            objects = processEvent()
            if objects.isEmpty { return }
            objects.removeAll { $0.registry !== registry }
            if objects.isEmpty { return }
        }
        throw CoreDataError.make(
            NSCoreDataError, "The save was abandoned.",
            reason: "willSave() of \(objects[0].objectID) has changed objects a thousand times over.",
            next: "Set a value in willSave() only where it differs from what is there.")
    }

    private func validate() throws {
        var errors: [NSError] = []
        func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
            objects.forEachUncounted { object in CoreDataError.collect(&errors) { try validate(object) } }
        }
        check(insertedList.elements) { try $0.validateForInsert() }
        check(updatedList.elements) { try $0.validateForUpdate() }
        check(deletedList.elements) { if !$0.flags.contains(.inserted) { try $0.validateForDelete() } }
        try throwPendingFaultError()
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }

    /// Validates deny rules again: resolving a conflict may have added objects that deny a deletion.
    private func validateDenyRules() throws {
        var errors: [NSError] = []
        for object in deletedList.elements where !object.flags.contains(.inserted) {
            CoreDataError.collect(&errors) { try object.validateDenyRules() }
        }
        try throwPendingFaultError()
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }

    // MARK: The save itself

    /// - Returns: The saved changes, the rows that stores changed, and the remainder of a partial save.
    private func writeResolvingConflicts() throws -> (changes: ChangeSet, rows: [Row], partial: PartialSave?) {
        for _ in 0..<mostSaveAttempts {
            do {
                return try write()
            } catch let error as NSError {
                try resolveConflicts(error)
            }
        }
        throw tooManyConflicts
    }

    /// Lets the merge policy resolve the conflicts of a failed save.
    ///
    /// - Throws: The error itself, if it is not a conflict or the policy leaves conflicts unresolved.
    func resolveConflicts(_ error: NSError) throws {
        guard error.domain == NSCocoaErrorDomain,
            [NSManagedObjectMergeError, NSManagedObjectConstraintMergeError].contains(error.code)
        else { throw error }
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] ?? []
        guard !conflicts.isEmpty, let policy = mergePolicy as? NSMergePolicy else { throw error }
        try policy.resolve(mergeConflicts: conflicts)
        postUnregistered(ObjectChanges())
        try validateDenyRules()
    }

    /// The maximum number of attempts of a save whose conflicts are resolved: resolving one constraint may reveal the next, for each object with
    /// others' values.
    var mostSaveAttempts: Int { 10 + min(insertedList.count + updatedList.count, 1000) }

    var tooManyConflicts: NSError {
        CoreDataError.make(
            NSPersistentStoreSaveConflictsError, "The save was abandoned after many attempts.",
            reason: "Others kept changing the same objects.", next: "Save again, or resolve the conflicts in a merge policy of your own.")
    }

    /// Returns the updated objects with values to write.
    private func changedObjects() -> [NSManagedObject] {
        let pending = updatedList.elements
        let isChild = parent != nil
        func isChanged(_ object: NSManagedObject) -> Bool { object.hasChangesToSave || (isChild && object.hasTransientChanges) }
        // Usually all objects have changed; no new array is created then.
        var areAllChanged = true
        pending.forEachWithRow { if areAllChanged, !isChanged($0) { areAllChanged = false } }
        return areAllChanged ? pending : pending.keeping(isChanged)
    }

    /// Returns the pending changes that differ from the stored values.
    ///
    /// - Throws: Code 1550 for references to objects that the save does not have.
    func changesToSave() throws -> ChangeSet {
        processPendingChanges()
        let changes = ChangeSet(
            inserted: insertedList.elements,
            // A parent context receives transient values too.
            updated: changedObjects(),
            deleted: deletedList.elements, locked: lockedObjects.isEmpty ? [] : objectsToLock)
        // Here, and not with the rest of the validation, because resolving a conflict may delete objects.
        try checkReferences(changes)
        return changes
    }

    private func write() throws -> (changes: ChangeSet, rows: [Row], partial: PartialSave?) {
        var changes = try changesToSave()
        guard !changes.isEmpty else {
            try saveNewMetadata()
            return (changes, [], nil)
        }
        // A refresh may have dropped values that an undo needs, and no store can return them after the save.
        changes.deleted.forEachUncounted { if $0.extras?.undoState != nil { $0.loadEverything() } }
        let new = changes.inserted.keeping { !$0.hasPermanentID }
        let ids = try source.permanentIDs(for: new, in: self)
        // An optional reference has the layout of the reference: the array needs no conversion.
        let temporary = registry.exchangeIDs(of: new, for: uncheckedArray(ids, of: NSManagedObjectID?.self))
        changes.prepareInsertedIDs(ids)
        do {
            let values = try source.save(changes, in: self)
            promoteTemporaryIDs(temporary, to: consume ids, areRegistered: values.areInsertedRegistered)
            adopt(values.assignedIDs, changes)
            return (changes, values.rows, nil)
        } catch let partial as PartialSave {
            // New objects that were not saved keep their IDs too: saved objects may refer to them.
            promoteTemporaryIDs(temporary, to: consume ids)
            changes.keepRows()
            adopt(partial.values.assignedIDs, changes)
            return (changes.filter { partial.accepted.contains($0.objectID) }, partial.values.rows, partial)
        } catch {
            _ = registry.exchangeIDs(of: new, for: temporary)
            changes.keepRows()
            throw error
        }
    }

    /// Makes the permanent IDs of new objects final. Many temporary IDs are released on another thread, if the caller has given them up.
    ///
    /// - Parameter areRegistered: Whether the source knows that the context has the objects.
    func promoteTemporaryIDs(_ temporary: [NSManagedObjectID?], to ids: consuming [NSManagedObjectID], areRegistered: Bool = false) {
        for index in temporary.indices {
            guard let old = temporary[index], !ids[index].isTemporary else { continue }
            old.promote(to: ids[index])
        }
        if areRegistered { registry.startCollectingReleases() } else { notifySourceOfRegistration(ids) }
        if ids.count >= SideThreads.minimumCount { SideThreads.shared.release(consume ids) }
    }

    // MARK: After

    /// Finishes a save: marks the saved objects as unchanged.
    ///
    /// - Parameter isWhole: Whether nothing remains to be saved.
    func finishSave(_ changes: ChangeSet, isWhole: Bool) {
        let sets =
            isWhole
            ? ObjectChanges(inserted: insertedList.set, updated: updatedList.set(of: changes.updated), deleted: deletedList.set)
            : ObjectChanges(inserted: changes.inserted.objectSet, updated: changes.updated.objectSet, deleted: changes.deleted.objectSet)
        let (saved, deleted) = isWhole ? takeEverything(changes) : takePart(changes)
        saved.forEachWithRow { $0.didBecomeSaved() }
        completeSave(changes, saved: saved, deleted: deleted, sets, isWhole: isWhole)
    }

    /// Calls `didSave()`, posts the did-save notifications, notifies other contexts and removes deleted objects from the context.
    ///
    /// - Parameter isWhole: Whether nothing remains to be saved. A part in which nothing was saved posts no notification.
    func completeSave(_ changes: ChangeSet, saved: [NSManagedObject], deleted: [NSManagedObject], _ sets: ObjectChanges, isWhole: Bool) {
        asynchronousWork?.noteSave(changes)
        saveCount.add(1, ordering: .releasing)
        if parent != nil {
            awaitingPermanentIDs += changes.inserted.map { AwaitingPermanentID(object: $0) }
            // The parent may have saved the objects already.
            ancestorSavesSeen = -1
        }
        deleted.forEachUncounted { $0.flags.subtract([.inEvent, .insertedInEvent]) }
        if retainsRegisteredObjects {
            retain(changes.inserted)
            release(deleted)
        }
        saved.forEachUncounted { $0.didSave() }
        deleted.forEachUncounted { $0.didSave() }
        if isWhole || !sets.isEmpty {
            post(Self.didSaveObjectsNotification, sets)
            postSavedIDs(changes)
            if !sets.isEmpty { notifyMergingContexts(of: changes) }
        }
        registry.unregister(deleted)
        deleted.forEachUncounted { object in
            object.saveUndoState()
            object.flags.remove(.deleted)
            if !object.relationships.isEmpty { object.relationships = [] }
        }
        RegistrationLocks.leave(deleted)
        notifySourceOfRelease()
    }
}

extension NSManagedObjectContext {
    /// Empties the lists of pending objects.
    @discardableResult func takeEverything(_ changes: ChangeSet) -> (saved: [NSManagedObject], deleted: [NSManagedObject]) {
        if updatedList.count != changes.updated.count {
            for object in updatedList.elements where !object.hasChangesToSave { object.forgetRowForSaving() }
        }
        lockedObjects = []
        eventObjects = []
        eventLog = EventLog()
        assignedStores = [:]
        let saved = insertedList.removeAll().appending(contentsOf: updatedList.removeAll()).appending(contentsOf: changes.locked)
        return (saved, deletedList.removeAll())
    }

    /// Removes the saved objects from the lists of pending objects.
    private func takePart(_ changes: ChangeSet) -> (saved: [NSManagedObject], deleted: [NSManagedObject]) {
        for object in changes.inserted {
            insertedList.remove(object)
            assignedStores[ObjectIdentifier(object)] = nil
        }
        for object in changes.updated { updatedList.remove(object) }
        for object in changes.deleted { deletedList.remove(object) }
        lockedObjects.removeAll { object in changes.locked.contains { $0 === object } }
        return (changes.inserted + changes.updated + changes.locked, changes.deleted)
    }
}

extension ChangeSet {
    /// Records the IDs that the save has assigned, and builds their set in parallel, if there are many.
    ///
    /// - Parameter ids: The IDs of the objects that had temporary ones.
    mutating func prepareInsertedIDs(_ ids: [NSManagedObjectID]) {
        areInsertedNew = ids.count == inserted.count
        guard areInsertedNew, ids.count >= SideThreads.minimumCount, ids.allSatisfyUncounted({ !$0.isTemporary }) else { return }
        insertedIDs = SideWork { ids.idSet }
    }

    /// Releases the set of the new objects' IDs, of which there are many, on another thread.
    mutating func releaseInsertedIDs() {
        if let ids = insertedIDs.take() { SideThreads.shared.release(consume ids) }
    }

    /// Marks rows as shared: a store that failed may have retained them, so later changes copy them first.
    func keepRows() {
        for objects in [inserted, updated, locked] { objects.forEachUncounted { $0.flags.remove(.hasExclusiveRow) } }
    }
}

extension NSManagedObject {
    /// Prepares the object's row for a store: with relationships as IDs, the object's ID, and the version of the save.
    ///
    /// - Parameters:
    ///   - keepsLists: Whether the row contains the IDs of to-many relationships.
    ///   - keepsTransients: Whether it contains transient values.
    /// - Throws: The error of a failing fault.
    func rowForSaving(keepsLists: Bool, keepsTransients: Bool = false) throws -> Row {
        if slots == nil { try loadRow() }
        if !flags.contains(.hasExclusiveRow) { _ = makeRowExclusive() }
        let row = self.row.known("a row for writing has just been prepared")
        row.version = (SlotPointer(snapshotSlots)?.prefix.pointee.version ?? 0) &+ 1
        // A row with a row number creates its ID on demand.
        if origin == nil || row.block.origin !== origin, identifier == nil || row.objectID !== identifier { row.objectID = objectID }
        let frozen = owningEntity.frozen!
        if frozen.isPlain { return row }
        for relationship in frozen.relationships {
            let slot = slot(of: relationship)
            if relationship.isToMany {
                guard keepsLists else {
                    // A resolved conflict may have left a list that is not the store's any more.
                    if changed.contains(relationship.slotIndex), !row.isNil(at: slot) { row.store(.null, in: slot) }
                    continue
                }
                if changed.contains(relationship.slotIndex) || snapshot == nil || row.isNil(at: slot) {
                    let ids = toMany(relationship).objects.map(\.objectID)
                    row.setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot)
                }
            } else if case .toOne(let target) = state(of: relationship) {
                row.setObjectID(target?.objectID, at: slot)
            }
        }
        try registry?.context?.throwPendingFaultError()
        return frozen.hasTransients && !keepsTransients ? withoutTransients(row) : row
    }

    /// Returns a row without transient values, which never leave the context.
    func withoutTransients(_ row: Row) -> Row {
        let stored = row.copy()
        for property in owningEntity.frozen!.properties where property.isTransient {
            let slot = slot(of: property)
            switch property {
            case let relationship as NSRelationshipDescription where !relationship.isToMany: stored.setObjectID(nil, at: slot)
            case is NSRelationshipDescription: if stored.objectIDs(at: slot) != nil { stored.setObjectIDs(.empty, at: slot) }
            default: stored.store(.null, in: slot)
            }
        }
        return stored
    }

    /// Restores the original row of an object that has nothing to save after a conflict was resolved.
    fileprivate func forgetRowForSaving() {
        guard let snapshot, row !== snapshot, makeRowExclusive(), let row else { return }
        row.version = snapshot.version
        for relationship in owningEntity.frozen!.relationships {
            let slot = slot(of: relationship)
            if relationship.isToMany {
                row.setObjectIDs(snapshot.objectIDs(at: slot), at: slot)
            } else {
                row.setObjectID(snapshot.objectID(at: slot), at: slot)
            }
        }
    }

    /// Makes the saved values the base for further changes.
    func didBecomeSaved() {
        if eventRow != nil { eventRow = nil }
        flags.subtract([.inserted, .updated, .inEvent, .insertedInEvent, .hasExclusiveRow])
        changed.removeAll()
        if extras != nil { rejectedValues = nil }
        takeRowAsSnapshot()
        if relationships.isEmpty { return }
        for (index, state) in relationships.enumerated() {
            // Objects added before the list was loaded are part of the store's list from now on.
            guard case .toMany(let storage) = state else { continue }
            if storage.isLoaded { storage.didSave() } else { relationships[index] = .fault }
        }
    }
}
