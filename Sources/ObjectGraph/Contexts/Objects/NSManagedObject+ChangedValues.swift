internal import Foundation
internal import Predicates

extension NSManagedObject {
    /// Returns the old values of the persistent properties that the current event has changed, by name; nil as `NSNull`.
    ///
    /// An event ends with the notification of its changes; observers of ``NSManagedObjectContext/didChangeObjectsNotification`` read the
    /// values of the event that it reports. For a new object the old values are the defaults. Call it on the context's queue.
    ///
    /// Source: [changedValuesForCurrentEvent()](https://developer.apple.com/documentation/coredata/nsmanagedobject/1506472-changedvaluesforcurrentevent).
    public func changedValuesForCurrentEvent() -> [String: Any] {
        checkQueue("changedValuesForCurrentEvent()")
        guard let context = registry?.context else { return [:] }
        // An observer's changes belong to the next event already. An object without changes in an event keeps the row of its last one.
        let isCurrent = flags.contains(.inEvent)
        let isNew = isCurrent ? flags.contains(.insertedInEvent) : context.postedEvent?.changes.inserted.contains(self) ?? false
        guard isCurrent || isNew || context.postedEvent?.changes.updated.contains(self) ?? false else { return [:] }
        let before = isNew ? owningEntity.frozen!.layout.defaultRow : eventRow
        var values: [String: Any] = [:]
        if let before, let row {
            for property in persistentChanges where property is NSAttributeDescription {
                let slot = slot(of: property)
                guard !row.hasEqualValue(as: before, at: slot) else { continue }
                values[property.name] = before.any(at: slot, of: property as? NSAttributeDescription) ?? NSNull()
            }
        }
        let steps = (isCurrent ? context.eventLog.relationshipSteps(of: self) : context.postedEvent?.log.relationshipSteps(of: self)) ?? []
        for case let relationship as NSRelationshipDescription in persistentChanges {
            guard let old = relatedBefore(steps, relationship, isNew: isNew) else { continue }
            if relationship.isToMany {
                values[relationship.name] = relationship.isOrdered ? NSOrderedSet(array: old) : Set(old)
            } else {
                values[relationship.name] = old.first ?? NSNull()
            }
        }
        return values
    }

    /// Returns the objects of a relationship before the steps; nil if the steps did not change it.
    private func relatedBefore(
        _ steps: [EventStep], _ relationship: NSRelationshipDescription, isNew: Bool
    ) -> [NSManagedObject]? {
        var isTouched = isNew
        for step in steps where step.relationship?.1 === relationship { isTouched = true }
        guard isTouched else { return nil }
        let now = related(relationship)
        let own = isNew ? [] : steps.filter { $0.relationship?.1 === relationship }
        let isOrdered = relationship.isToMany && relationship.isOrdered
        let old = isNew ? [] : isOrdered ? Self.orderBefore(own, now) : Self.membersBefore(own, now)
        let isSame = isOrdered ? old.elementsEqual(now, by: ===) : Set(old) == Set(now)
        return isSame ? nil : old
    }

    private static func membersBefore(_ steps: [EventStep], _ now: [NSManagedObject]) -> [NSManagedObject] {
        var members = Set(now)
        for step in steps.reversed() {
            switch step {
            case .toOne(_, _, let before): members = before.map { [$0] } ?? []
            case .added(_, _, let object): members.remove(object)
            case .removed(_, _, let object, _): members.insert(object)
            case .replaced(_, _, let before, _): members = Set(before)
            default: break
            }
        }
        return Array(members)
    }

    /// Returns the objects of an ordered relationship before the steps.
    static func orderBefore(_ steps: [EventStep], _ now: [NSManagedObject]) -> [NSManagedObject] {
        var objects = now
        for step in steps.reversed() {
            switch step {
            case .added(_, _, let object):
                // Objects are mostly added at the end.
                if let index = objects.lastIndex(where: { $0 === object }) { objects.remove(at: index) }
            case .removed(_, _, let object, let index): objects.insert(object, at: min(index ?? objects.count, objects.count))
            case .replaced(_, _, let before, _): objects = before
            default: break
            }
        }
        return objects
    }

    /// Returns whether a property differs from its stored value; always true for a new object.
    func differsFromSnapshot(_ property: NSPropertyDescription) -> Bool {
        guard let snapshot else {
            // A fault may have relationships that were changed through their inverses.
            guard slots == nil, let relationship = property as? NSRelationshipDescription,
                case .toMany(let storage) = state(of: relationship)
            else { return true }
            return storage.isChanged(from: nil)
        }
        let slot = slot(of: property)
        guard let relationship = property as? NSRelationshipDescription else {
            return row.map { !$0.hasEqualValue(as: snapshot, at: slot) } ?? false
        }
        switch state(of: relationship) {
        case .fault: return false
        case .toMany(let storage): return storage.isChanged(from: storage.isLoaded ? nil : snapshot.objectIDs(at: slot)?.ids)
        case .toOne(let target):
            let stored = snapshot.objectID(at: slot)
            if stored === NSManagedObjectID.unresolved { return true }
            guard let target, let stored else { return (target == nil) != (stored == nil) }
            return !target.objectID.namesSameObject(as: stored)
        }
    }

    /// Whether a transient property has changed.
    final var hasTransientChanges: Bool {
        owningEntity.frozen!.hasTransients && changes.contains { $0.isTransient && differsFromSnapshot($0) }
    }

    /// Whether the object has changes to write: the value of the public ``hasPersistentChangedValues``.
    final var hasChangesToSave: Bool {
        let frozen = owningEntity.frozen!
        // Attributes first: they are compared in the rows, without the model.
        var attributes = changed.low & frozen.storedAttributes
        if attributes != 0 {
            // Both rows stay alive during the comparison: references are not counted.
            guard let snapshotSlots else { return true }
            if let slots {
                while attributes != 0 {
                    let slot = frozen.layout.slots[attributes.trailingZeroBitCount]
                    let isEqual = Row.with(slots) { row in
                        Row.with(snapshotSlots) { row.hasEqualValue(as: $0, at: slot) }
                    }
                    if !isEqual { return true }
                    attributes &= attributes - 1
                }
            }
        }
        if changed.low & ~frozen.storedAttributes == 0, changed.high.isEmpty { return false }
        let properties = frozen.properties
        func isToBeSaved(_ index: Int) -> Bool { !properties[index].isTransient && differsFromSnapshot(properties[index]) }
        var bits = changed.low & ~frozen.storedAttributes
        while bits != 0 {
            if isToBeSaved(bits.trailingZeroBitCount) { return true }
            bits &= bits - 1
        }
        return !changed.high.isEmpty && (64..<max(64, properties.count)).contains { changed.contains($0) && isToBeSaved($0) }
    }
}

extension Row {
    /// Returns whether two rows have equal values at `slot`. Both rows have one layout, or the layout of one extends that of the other.
    func hasEqualValue(as other: Row, at slot: RowLayout.Slot) -> Bool {
        if self === other { return true }
        let isNil = isNil(at: slot)
        if isNil || other.isNil(at: slot) {
            guard isNil == other.isNil(at: slot) else { return false }
            return !mayHaveUnknown && !other.mayHaveUnknown || isUnknown(at: slot) == other.isUnknown(at: slot)
        }
        let place = slots + slot.location.offset
        let otherPlace = other.slots + slot.location.offset
        switch slot.kind {
        case .integer, .boolean: return place.load(as: Int64.self) == otherPlace.load(as: Int64.self)
        case .double, .date: return place.load(as: Double.self) == otherPlace.load(as: Double.self)
        case .uuid: return place.load(as: UUID.self) == otherPlace.load(as: UUID.self)
        case .string:
            // Compared byte by byte, like `NSString`: “é” as one scalar differs from “é” as two.
            let (text, otherText) = (text(at: slot).utf8, other.text(at: slot).utf8)
            return text.count == otherText.count && text.elementsEqual(otherText)
        case .data: return data(at: slot) == other.data(at: slot)
        case .objectID: return objectID(at: slot) == other.objectID(at: slot)
        case .objectIDs: return objectIDs(at: slot)?.ids == other.objectIDs(at: slot)?.ids
        case .box:
            guard let value = box(at: slot), let otherValue = other.box(at: slot), value !== otherValue else { return true }
            guard let value = value.value as? AnyHashable, let otherValue = otherValue.value as? AnyHashable else { return false }
            return value == otherValue
        }
    }
}
