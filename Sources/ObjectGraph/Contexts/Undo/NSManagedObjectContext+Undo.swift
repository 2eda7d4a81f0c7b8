internal import Foundation

/// Connects a context with its undo manager.
///
/// Each event records an ``EventLog``. The actions that revert the log are registered as one undo action; performing it is an event of
/// its own, whose log is registered in turn, so a redo is the undo of an undo.
extension NSManagedObjectContext {
    /// Processes pending changes and undoes the last group; implements the public ``undo()``.
    func performUndo() {
        checkQueue("undo() is called")
        guard let undoer else { return }
        // An object whose deletion is being saved can only be restored as a new object, once the save is done.
        if asynchronousWork?.save?.changes.deleted.isEmpty == false { waitForSaveInFlight() }
        processPendingChanges()
        if undoer.canUndo { undoer.undo() }
    }

    /// Processes pending changes and redoes the last undone group; implements the public ``redo()``.
    func performRedo() {
        checkQueue("redo() is called")
        guard let undoer else { return }
        // An object whose deletion is being saved can only be restored as a new object, once the save is done.
        if asynchronousWork?.save?.changes.deleted.isEmpty == false { waitForSaveInFlight() }
        processPendingChanges()
        if undoer.canRedo { undoer.redo() }
    }

    func useUndoManager(_ manager: UndoManager?) {
        guard manager !== undoer else { return }
        // Changes made so far are not registered with the new manager.
        _ = processEvent()
        undoer?.forgetClient(ObjectIdentifier(self))
        undoer = manager
        // The registry knows whether the context still exists.
        manager?.addClient(ObjectIdentifier(self)) { [unowned registry] in registry.context?.processPendingChanges() }
    }

    /// Registers the undo action of a finished event.
    func registerUndo(of log: EventLog) {
        guard let undoer, undoer.isUndoRegistrationEnabled, !log.steps.isEmpty else { return }
        var steps = log.steps.compactMap(undoable)
        steps += log.steps.flatMap(\.ordersOfDeleted) + log.orders
        guard !steps.isEmpty else { return }
        undoer.register(for: ObjectIdentifier(self)) { [registry] in registry.context?.revert(steps) }
        // Outside `perform`, the event ends when the queue runs its scheduled end.
        if !isInEvent { scheduleEvent() }
    }

    /// Returns the step in the form that is kept; nil if there is nothing to revert.
    private func undoable(_ step: EventStep) -> EventStep? {
        switch step {
        case .attributes(let object):
            guard let before = object.eventRow, let row = object.row else { return nil }
            var slots = PropertySet()
            for property in object.changes where property is NSAttributeDescription {
                if !row.hasEqualValue(as: before, at: object.slot(of: property)) { slots.insert(property.slotIndex) }
            }
            return slots.isEmpty ? nil : .values(object, before, slots)
        case .deleted(let undoState):
            // No store can return the values after the next save.
            if undoState.object.flags.contains(.deleted) { undoState.object.loadEverything() }
            return step
        default: return step
        }
    }

    // MARK: Reverting

    private func revert(_ steps: [EventStep]) {
        processPendingChanges()
        var back: [NSManagedObject] = []
        // Objects are restored before relationships refer to them.
        var renewed: [(object: NSManagedObject, former: NSManagedObjectID?)] = []
        for case .deleted(let undoState) in steps {
            let object = undoState.object
            let former = object.registry == nil && object.wasKnownByID ? object.identifier : nil
            guard restore(undoState) else { continue }
            back.append(object)
            if let former { renewed.append((object, former)) }
        }
        let isBack = Set(back.map(ObjectIdentifier.init))
        var links = steps.flatMap(\.changedLinks)
        for index in links.indices where isBack.contains(ObjectIdentifier(links[index].other)) { links[index].fillsOtherEnd = true }
        let orders = steps.compactMap { OrderRestoration($0, in: registry) }
        var updated: [NSManagedObject] = []
        var gone: [NSManagedObject] = []
        for step in steps.reversed() {
            switch step {
            case .values(let object, let row, let slots):
                guard object.registry === registry else { continue }
                object.restore(slots, from: row)
                updated.append(object)
            case .inserted(let undoState):
                let object = undoState.object
                guard object.registry === registry, !object.flags.contains(.deleted) else { continue }
                noteInEvent(object)
                markDeleted(object)
                // Its delete rules apply to links that were added since.
                eventDeletions.append(object)
                gone.append(object)
            default:
                guard let object = step.relationship?.object else { continue }
                object.revert(step, in: registry)
                updated.append(object)
            }
        }
        for object in back where object.registry === registry { links += object.linksAfterReturn(among: isBack) }
        reconcile(links)
        renewReferences(to: renewed)
        for order in orders { order.restore() }
        for object in gone { object.awake(fromSnapshotEvents: .undoInsertion) }
        for object in back where object.registry === registry { object.awake(fromSnapshotEvents: .undoDeletion) }
        var seen = Set((gone + back).map(ObjectIdentifier.init))
        for object in updated where seen.insert(ObjectIdentifier(object)).inserted { object.awake(fromSnapshotEvents: .undoUpdate) }
        processPendingChanges()
    }

    /// Restores a deleted object: to its previous state or, once the deletion is saved, as a new object. Returns false when it is not
    /// deleted.
    private func restore(_ undoState: UndoState) -> Bool {
        let object = undoState.object
        if object.registry == nil {
            if object.wasKnownByID {
                object.becomeNew()
                // Its destinations come back, too.
                for property in object.owningEntity.frozen!.properties { object.changed.insert(property.slotIndex) }
            }
            object.setRegistry(registry)
            object.relationships = undoState.relationships
            undoState.relationships = []
            registry.register(object)
            noteInsertion(of: object)
            return true
        }
        guard object.registry === registry, object.flags.contains(.deleted) else { return false }
        deletedList.remove(object)
        object.flags.subtract([.deleted, .preparedForDeletion])
        noteInEvent(object)
        if object.flags.contains(.inserted) {
            insertedList.append(object)
        } else if !object.changed.isEmpty {
            object.flags.insert(.updated)
            updatedList.append(object)
        }
        eventLog.append(.inserted(undoState))
        return true
    }
}

extension NSManagedObject {
    /// Loads the values and all relationships from the store.
    func loadEverything() {
        if slots == nil { _ = loadedSlots() }
        for relationship in owningEntity.frozen!.relationships { _ = related(relationship) }
    }

    fileprivate func restore(_ slots: PropertySet, from before: Row) {
        for property in owningEntity.frozen!.properties where slots.contains(property.slotIndex) {
            guard prepareRowForChange(at: property.slotIndex) else { return }
            row.known("a row for writing has just been prepared").copyValue(from: before, at: slot(of: property))
        }
    }

    /// Reverts one end of a relationship. Objects that no longer exist are left out.
    fileprivate func revert(_ step: EventStep, in registry: ObjectRegistry) {
        guard self.registry === registry else { return }
        func lives(_ object: NSManagedObject) -> Bool { object.registry === registry }
        switch step {
        case .toOne(_, let relationship, let before):
            putToOne(before.flatMap { lives($0) ? $0 : nil }, relationship, was: toOne(relationship))
        case .added(_, let relationship, let object):
            let storage = toManyWithoutLoading(relationship)
            // The relationship was not read since: a refresh may have dropped the added object, and a redo must not add it then.
            if !storage.isLoaded, !storage.contains(object) { _ = toMany(relationship) }
            take(object, outOf: relationship)
        case .removed(_, let relationship, let object, let index):
            guard lives(object) else { return }
            let storage = toManyWithoutLoading(relationship)
            if !storage.isLoaded, !storage.isUncertain(object) { _ = toMany(relationship) }
            put(object, into: relationship, at: index)
        case .replaced(_, let relationship, let before, let after):
            let storage = toMany(relationship)
            if storage.objects.elementsEqual(after, by: ===) {
                return replace(by: before.filter(lives), in: storage, of: relationship)
            }
            // Unregistered changes made since are kept: others may have removed objects that the replacement kept.
            let (old, new) = (Set(before), Set(after))
            for object in after where !old.contains(object) { take(object, outOf: relationship) }
            for object in before where !new.contains(object) && lives(object) && !storage.contains(object) {
                put(object, into: relationship)
            }
        default: break
        }
    }
}
