internal import Foundation

// An object whose store has not said all of its values: the rest is asked for when one of them is read, for all objects that came together.

extension NSManagedObject {
    /// Some value of the row may be unknown, or was: from now on accesses by typed properties look, or need not look any more.
    @inline(never) final func noticeUnknown() {
        let isPartial = !(row?.unknownSlots.isEmpty ?? true)
        if isPartial == flags.contains(.partial) { return }
        let layout = owningEntity.frozenParts.layout
        if isPartial {
            flags.insert(.partial)
            (places, placeMask) = (layout.watchedPlaces.entries, layout.watchedPlaces.mask)
        } else {
            flags.remove(.partial)
            if !AccessHooks.isActive { (places, placeMask) = (layout.places.entries, layout.places.mask) }
        }
    }

    /// Whether the store has not said the value of a property.
    final func isUnknown(at index: Int) -> Bool {
        guard flags.contains(.partial), let row else { return false }
        return row.isUnknown(at: row.layout.slots[index])
    }

    /// A property is about to be read: where its value is unknown, the store is asked. The error of a failing store is kept by the context.
    @inline(never) final func completeUnknown(at index: Int) {
        guard isUnknown(at: index), let context = registry?.context else { return }
        do { try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self) } catch {
            context.noteFaultError(error, of: self)
        }
    }

    /// What the store has of a property is about to be read, whatever is set here.
    final func completeUnknownSnapshot(at index: Int) {
        guard let snapshot, snapshot.mayHaveUnknown, snapshot.isUnknown(at: snapshot.layout.slots[index]), let context = registry?.context
        else { return }
        do { try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self) } catch {
            context.noteFaultError(error, of: self)
        }
    }

    /// A property is about to be written without a look at what is there: it is the object's own from here on.
    @inline(never) final func prepareUnknownForWriting(at index: Int) {
        _ = prepareRowForChange(at: index)
    }

    /// Everything is about to be looked at.
    ///
    /// - Throws: the store's error.
    @inline(never) final func completeAllUnknown() throws {
        guard let context = registry?.context else { return }
        for index in row?.unknownSlots ?? [] where isUnknown(at: index) {
            try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self)
        }
    }

    /// Takes what is unknown here from a row that has come.
    final func complete(from loaded: Row) {
        guard let row else { return }
        if let snapshot, snapshot.mayHaveUnknown {
            let completed = snapshot.filled(from: loaded)
            self.snapshot = completed
            if row.slots == snapshot.slots {
                self.row = completed
                return
            }
        }
        if !row.mayHaveUnknown { return }
        self.row = row.filled(from: loaded)
        // It is a copy of this object's own, where anything was unknown.
        if self.row.map({ $0.slots != row.slots }) ?? false { flags.insert(.ownsRow) }
    }
}

extension NSManagedObjectContext {
    /// Asks the store for an unknown value of an object, and of all that came with it and lack it too.
    ///
    /// - Throws: the store's error; it is asked again the next time.
    func loadUnknown(_ property: NSPropertyDescription, of object: NSManagedObject) throws {
        var lacking = [object]
        if let batch = faultBatches[object.batchNumber], let part = batch.part(of: object) {
            lacking += batch.objects(ofPart: part, in: registry).filter { other in
                other !== object && other.owningEntity.frozen?.byName[property.name] === property && other.isUnknown(at: property.slotIndex)
            }
        }
        let rows = try source.values(of: [property], for: lacking.map(\.objectID), in: self)
        for row in rows { if let id = row.objectID { registeredObject(for: id)?.complete(from: row) } }
        if object.isUnknown(at: property.slotIndex) {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "“\(property)” of \(object.objectID) cannot be read.",
                reason: "The store was asked for the value and did not give it.",
                next: "Make the store answer for every property that it has left unknown.", info: [NSAffectedObjectsErrorKey: [object]])
        }
    }
}
