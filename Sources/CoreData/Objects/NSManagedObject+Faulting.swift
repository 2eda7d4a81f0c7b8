internal import Foundation

extension NSManagedObject {
    /// Takes the object's values from the store if they are not here.
    ///
    /// Reading a property does this by itself; call it where a failing store is to be noticed at once.
    ///
    /// - Throws: the store's error, or code 133000 when the store has no row for the object and the context's
    ///   ``NSManagedObjectContext/shouldDeleteInaccessibleFaults`` is false. Call it on the context's queue.
    public func fulfillFault() throws {
        if slots != nil { return }
        checkQueue("fulfillFault()")
        if flags.contains(.inserted) { return takeDefaults() }
        guard let context = registry?.context else {
            throw CoreDataError.make(
                NSCoreDataError, "The values of \(objectID) cannot be read.", reason: "Its context no longer exists.",
                next: "Keep the context for as long as its objects are used.")
        }
        // What is read of a former state does not lie with the rows of the present one.
        if let origin, !context.requestingContext.generation.isPinned,
            let row = origin.store.rowAtHand(number, of: origin, notOlderThan: context.stalenessInterval)
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

    /// No store has values of a new object that was made a fault: they are the defaults.
    private func takeDefaults() {
        row = owningEntity.frozen!.layout.defaultRow!.copy()
        flags.insert(.ownsRow)
    }

    /// Takes the object's values from `row` if they are not here, and calls `awakeFromFetch`.
    final func fulfillFault(with row: Row) {
        guard isFault else { return }
        adopt(row)
        flags.insert(.awaking)
        awakeFromFetch()
        flags.remove(.awaking)
        // The event has changed relationships of the fault; what it changes from here on starts from these values.
        if flags.contains(.noted) { keepRowOfEvent() }
    }

    static func missingRow(_ id: NSManagedObjectID) -> NSError {
        CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "The values of \(id) cannot be read.",
            reason: "The store has no row for it: it was deleted, or never saved.",
            next: "Refresh the object that refers to it, or fetch again.", info: [NSAffectedObjectsErrorKey: [id]])
    }

    /// Makes `row` the object's values, as the store has them.
    final func adopt(_ row: Row) {
        self.row = row
        snapshot = row
        flags.remove(.ownsRow)
    }

    /// The slots to read a property from, see ``slotsAfterFault()``: its value is there, whatever else of the row is unknown.
    @usableFromInline @inline(never) final func slotsAfterFault(reading index: Int) -> UnsafeMutableRawPointer {
        _ = slotsAfterFault()
        if flags.contains(.partial) { completeUnknown(at: index) }
        return slots ?? owningEntity.frozen!.layout.nilRow.slots
    }

    /// The slots to read from: the object's own, or those of a row of nils when the store failed. The error is kept by the context.
    @usableFromInline @inline(never) final func slotsAfterFault() -> UnsafeMutableRawPointer {
        if slots == nil {
            do {
                try fulfillFault()
            } catch {
                registry?.context?.noteFaultError(error, of: self)
            }
        }
        return slots ?? owningEntity.frozen!.layout.nilRow.slots
    }

    /// The row to read from, as ``slotsAfterFault()``.
    final var readableRow: Row {
        if slots == nil { _ = slotsAfterFault() }
        return row ?? owningEntity.frozen!.layout.nilRow
    }

    /// Prepares the property at `index` for a new value and answers the slots to write it to.
    @usableFromInline @inline(never) final func slotsForWriting(_ index: Int) -> UnsafeMutableRawPointer {
        guard prepareRowForChange(at: index) else { return registry?.context?.discardedSlots(of: owningEntity) ?? slotsOfOwnBlankRow() }
        if refusedValues != nil { forgetRefusal(of: owningEntity.frozen!.properties[index]) }
        return slots.known("a row for writing has just been prepared")
    }

    /// Marks the property at `index` as changed and makes the row the object's own, in this order: the event keeps the row that was. False
    /// when the values cannot be had.
    final func prepareRowForChange(at index: Int) -> Bool {
        if slots == nil { _ = slotsAfterFault() }
        guard slots != nil else { return false }
        noteChange(at: index)
        guard prepareRowForWriting() else { return false }
        if flags.contains(.partial), let row { row.setKnown(at: row.layout.slots[index]) }
        return true
    }

    /// Makes the row the object's own. False when its values cannot be had.
    final func prepareRowForWriting() -> Bool {
        if flags.contains(.ownsRow) { return true }
        if slots == nil { _ = slotsAfterFault() }
        guard let shared = row else { return false }
        if eventRow == nil, flags.contains(.noted), flags.contains(.deleted), !flags.contains(.insertedInEvent) { eventRow = shared }
        let own = shared.copy()
        row = own
        // See `refuse`: while a value is refused, every write takes the long way.
        if refusedValues == nil { flags.insert(.ownsRow) }
        return true
    }

    private func slotsOfOwnBlankRow() -> UnsafeMutableRawPointer {
        let blank = Row.blank(owningEntity.frozen!.layout)
        row = blank
        flags.insert(.ownsRow)
        return blank.slots
    }

    /// Marks the property at `index` as changed and tells the context.
    final func noteChange(at index: Int) {
        if flags.contains(.awaking) { return }
        if AccessHooks.isActive { noteWrite(at: index) }
        changed.insert(index)
        // One that an undo has brought back stands in the event, and in no list yet.
        if !flags.contains(.noted) || flags.isDisjoint(with: [.inserted, .updated, .deleted]) {
            registry?.context?.noteChange(of: self)
            flags.insert(.noted)
        }
    }

    /// A property that the model does not have was changed: the context is told, if the class wants it to be.
    final func noteUnmodeledChange() {
        if flags.contains(.awaking) || Swift.type(of: self).contextShouldIgnoreUnmodeledPropertyChanges { return }
        checkQueue("willChangeValue(forKey:)")
        guard !flags.contains(.noted) else { return }
        registry?.context?.noteChange(of: self)
        flags.insert(.noted)
    }

    /// Drops the values, so that the next read takes them from the store again. Changes are lost.
    final func turnIntoFault() {
        willTurnIntoFault()
        row = nil
        snapshot = nil
        eventRow = nil
        relationships = []
        rarities = nil
        changed.removeAll()
        flags.subtract([.ownsRow, .noted])
        didTurnIntoFault()
    }
}
