internal import Foundation

extension NSManagedObject {
    /// Fires the fault: loads the object's values from the store if it is a fault.
    ///
    /// Reading a property does this automatically; call it to handle a store's error at once. Call it on the context's queue.
    ///
    /// - Throws: The store's error, also that of an earlier read, see ``faultError``, or code 133000 if the store has no row for the object and the
    ///   context's ``NSManagedObjectContext/shouldDeleteInaccessibleFaults`` is false. If only some values could not be read, it throws their error;
    ///   the other values are loaded.
    public func fulfillFault() throws {
        try loadRow()
        try checkUnreadValues()
    }

    /// Fires the fault, as ``fulfillFault()`` does, even if some values could not be read.
    final func loadRow() throws {
        if slots != nil { return }
        checkQueue("fulfillFault()")
        if flags.contains(.inserted) { return takeDefaults() }
        guard let context = registry?.context else {
            throw CoreDataError.make(
                NSCoreDataError, "The values of \(objectID) cannot be read.", reason: "Its context no longer exists.",
                next: "Keep the context for as long as its objects are used.")
        }
        // Rows of a past state are not among those of the current state.
        if let origin, !context.requestingContext.generation.isPinned,
            let row = origin.store.cachedRow(number, of: origin, maximumAge: context.stalenessInterval)
        {
            return fulfillFault(with: row)
        }
        if batchNumber != 0 { try context.prepareRow(of: self) }
        if let row = try context.source.row(for: objectID, in: context) {
            fulfillFault(with: row)
        } else if context.shouldHandleInaccessibleFault(self, for: objectID, triggeredByProperty: nil) {
            context.treatAsDeleted(self)
        } else {
            throw Self.missingRow(objectID)
        }
    }

    /// Gives a new object that became a fault its default values, because no store has any.
    private func takeDefaults() {
        row = owningEntity.frozen!.layout.defaultRow!.copy()
        flags.insert(.hasExclusiveRow)
    }

    /// Takes the values of a fault from `row` and calls `awakeFromFetch`.
    final func fulfillFault(with row: Row) {
        guard isFault else { return }
        SlotPointer(row.slots).block.retain(times: 2)
        fulfillFault(counted: row.slots)
    }

    /// Takes the fault's values from a row and calls `awakeFromFetch`.
    ///
    /// - Parameter slots: The slots of the row, whose block has been retained twice for the object.
    @inline(__always) final func fulfillFault(counted slots: UnsafeMutableRawPointer) {
        adopt(counted: slots)
        if owningEntity.frozenParts.hasTransientDefaults { takeTransientDefaults() }
        flags.insert(.awaking)
        awakeFromFetch()
        flags.remove(.awaking)
        // The event has changed relationships of the fault; its further changes start from these values.
        if flags.contains(.inEvent) { snapshotForEvent() }
    }

    /// Sets the default values of transient attributes, which no store has, in a copy of the stored row.
    private func takeTransientDefaults() {
        guard let stored = row else { return }
        let frozen = owningEntity.frozen!
        let values = stored.copy()
        for slot in frozen.transientDefaults where values.isNil(at: slot) {
            values.copyValue(from: frozen.layout.usedDefaultRow, at: slot)
        }
        adopt(values)
    }

    static func missingRow(_ id: NSManagedObjectID) -> NSError {
        CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "The values of \(id) cannot be read.",
            reason: "The store has no row for it: it was deleted, or never saved.",
            next: "Refresh the object that refers to it, or fetch again.", info: [NSAffectedObjectsErrorKey: [id]])
    }

    /// Makes `row` the object's stored values.
    final func adopt(_ row: Row) {
        SlotPointer(row.slots).block.retain(times: 2)
        adopt(counted: row.slots)
    }

    /// Makes a row the object's values, as the store has them. Its block has been retained twice for that.
    @inline(__always) private func adopt(counted slots: UnsafeMutableRawPointer) {
        let (oldSlots, oldSnapshot) = (self.slots, snapshotSlots)
        (self.slots, snapshotSlots) = (slots, slots)
        flags.remove(.hasExclusiveRow)
        SlotPointer(oldSlots)?.block.release()
        SlotPointer(oldSnapshot)?.block.release()
        if flags.contains(.partial) || Row.with(slots, \.mayHaveUnknown) { updateUnknownFlag() }
    }

    /// Returns the slots to read a property from, see ``loadedSlots()``; its value is known, even if others in the row are not.
    @usableFromInline @inline(never) final func loadedSlots(reading index: Int) -> UnsafeMutableRawPointer {
        _ = loadedSlots()
        if flags.contains(.partial) { completeUnknown(at: index) }
        return slots ?? owningEntity.frozen!.layout.nilRow.slots
    }

    /// Returns the slots to read from: the object's own, or those of a row of nils after a store's error, which the context keeps.
    @usableFromInline @inline(never) final func loadedSlots() -> UnsafeMutableRawPointer {
        if slots == nil {
            do {
                try loadRow()
            } catch {
                registry?.context?.noteFaultError(error, of: self)
            }
        }
        return slots ?? owningEntity.frozen!.layout.nilRow.slots
    }

    /// The row to read from, like ``loadedSlots()``.
    final var readableRow: Row {
        if slots == nil { _ = loadedSlots() }
        return row ?? owningEntity.frozen!.layout.nilRow
    }

    /// Prepares the property at `index` for a new value and returns the slots to write to.
    @usableFromInline @inline(never) final func writableSlotsSlowly(_ index: Int) -> UnsafeMutableRawPointer {
        guard prepareRowForChange(at: index) else { return registry?.context?.discardedSlots(of: owningEntity) ?? slotsOfOwnBlankRow() }
        if rejectedValues != nil { forgetRefusal(of: owningEntity.frozen!.properties[index]) }
        return slots.unchecked("a row for writing has just been prepared")
    }

    /// Marks the property at `index` as changed and then makes the row exclusive to the object, so that the event keeps the previous row.
    /// Returns false when the values cannot be loaded.
    final func prepareRowForChange(at index: Int) -> Bool {
        if slots == nil { _ = loadedSlots() }
        guard slots != nil else { return false }
        noteChange(at: index)
        guard makeRowExclusive() else { return false }
        if flags.contains(.partial), let row {
            row.setKnown(at: row.layout.slots[index])
            registry?.context?.faultErrors.forget(objectID, owningEntity.frozenParts.properties[index].name)
        }
        return true
    }

    /// Makes the row exclusive to the object. Returns false when its values cannot be loaded.
    final func makeRowExclusive() -> Bool {
        if flags.contains(.hasExclusiveRow) { return true }
        if slots == nil { _ = loadedSlots() }
        guard let shared = row else { return false }
        if eventRow == nil, flags.contains(.inEvent), flags.contains(.deleted), !flags.contains(.insertedInEvent) { eventRow = shared }
        let own = shared.copy()
        row = own
        // See `reject`: while there are rejected values, every write takes the slow path.
        if rejectedValues == nil { flags.insert(.hasExclusiveRow) }
        return true
    }

    private func slotsOfOwnBlankRow() -> UnsafeMutableRawPointer {
        let blank = Row.blank(owningEntity.frozen!.layout)
        row = blank
        flags.insert(.hasExclusiveRow)
        return blank.slots
    }

    /// Marks the property at `index` as changed and notifies the context.
    final func noteChange(at index: Int) {
        if flags.contains(.awaking) { return }
        if AccessHooks.isActive { noteWrite(at: index) }
        if flags.contains(.gaveWay) { return reportLostChange(at: index) }
        changed.insert(index)
        // An object restored by an undo belongs to the event but is in no list yet.
        if !flags.contains(.inEvent) || flags.isDisjoint(with: [.inserted, .updated, .deleted]) {
            registry?.context?.noteChange(of: self)
            flags.insert(.inEvent)
        }
    }

    /// Notifies the context of a change to a property that the model does not have, if the class requests that.
    final func noteUnmodeledChange() {
        if flags.contains(.awaking) || Swift.type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
        checkQueue("willChangeValue(forKey:)")
        guard !flags.contains(.inEvent) else { return }
        registry?.context?.noteChange(of: self)
        flags.insert(.inEvent)
    }

    /// Turns the object into a fault, so that the next read loads it again. Its changes are lost.
    final func turnIntoFault() {
        willTurnIntoFault()
        row = nil
        snapshot = nil
        eventRow = nil
        relationships = []
        extras = nil
        changed.removeAll()
        flags.subtract([.hasExclusiveRow, .inEvent])
        didTurnIntoFault()
    }
}
