internal import Foundation

// Objects whose store has not returned all values: reading a missing value loads it for all objects of the batch.

extension NSManagedObject {
    /// Records whether values of the row may be unknown, and makes typed accessors check for them or stop checking.
    @inline(never) final func updateUnknownFlag() {
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

    /// Returns whether the value of a property is unknown.
    final func isUnknown(at index: Int) -> Bool {
        guard flags.contains(.partial), let row else { return false }
        return row.isUnknown(at: row.layout.slots[index])
    }

    /// Loads the value of a property that is about to be read, if it is unknown. The context keeps a store's error.
    @inline(never) final func completeUnknown(at index: Int) {
        guard isUnknown(at: index), let context = registry?.context else { return }
        do { try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self) } catch {
            context.noteFaultError(error, of: self)
        }
    }

    /// Loads the stored value of a property if it is unknown, regardless of local changes.
    final func completeUnknownSnapshot(at index: Int) {
        guard let snapshot, snapshot.mayHaveUnknown, snapshot.isUnknown(at: snapshot.layout.slots[index]), let context = registry?.context
        else { return }
        do { try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self) } catch {
            context.noteFaultError(error, of: self)
        }
    }

    /// Marks a property as known that is about to be overwritten.
    @inline(never) final func prepareUnknownForWriting(at index: Int) {
        _ = prepareRowForChange(at: index)
    }

    /// Loads all unknown values.
    ///
    /// - Throws: The store's error.
    @inline(never) final func completeAllUnknown() throws {
        guard let context = registry?.context else { return }
        for index in row?.unknownSlots ?? [] where isUnknown(at: index) {
            try context.loadUnknown(owningEntity.frozenParts.properties[index], of: self)
        }
    }

    /// Takes unknown values from a loaded row.
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
        // A completed row is a copy that belongs to this object only.
        if self.row.map({ $0.slots != row.slots }) ?? false { flags.insert(.hasExclusiveRow) }
    }
}

extension NSManagedObjectContext {
    /// Returns whether a property is unknown to an object or, if the object is a fault, in the row that it is about to get.
    private func lacks(_ object: NSManagedObject, _ property: NSPropertyDescription) -> Bool {
        guard object.isFault else { return object.isUnknown(at: property.slotIndex) }
        return object.objectID.persistentStore?.knownRow(of: object.objectID, in: self)?.isUnknown(property) ?? false
    }

    /// Loads an unknown value of an object and of all objects of its batch that lack it.
    ///
    /// - Throws: The store's error, after which the value is not requested again, see ``NSManagedObject/faultError``.
    func loadUnknown(_ property: NSPropertyDescription, of object: NSManagedObject) throws {
        if let error = faultErrors.error(of: object.objectID, property.name) { throw error }
        var lacking = [object]
        if let batch = faultBatches[object.batchNumber], let part = batch.part(of: object) {
            lacking += batch.objects(ofPart: part, in: registry).filter { other in
                other !== object && other.owningEntity.frozen?.byName[property.name] === property && lacks(other, property)
            }
        }
        do {
            let rows = try source.values(of: [property], for: lacking.map(\.objectID), in: self)
            for row in rows { if let id = row.objectID { registeredObject(for: id)?.complete(from: row) } }
        } catch {
            faultErrors.note(object.unreadFailures()[property.name] ?? .init(error), of: object.objectID, property.name)
            throw error
        }
        if object.isUnknown(at: property.slotIndex) {
            throw faultErrors.error(of: object.objectID, property.name)
                ?? CoreDataError.make(
                    NSPersistentStoreOperationError, "“\(property)” of \(object.objectID) cannot be read.",
                    reason: "The store was asked for the value and did not give it.",
                    next: "Make the store answer for every property that it has left unknown.", info: [NSAffectedObjectsErrorKey: [object]])
        }
    }
}
