internal import Foundation

// A property of a row is unknown where the store has not said its value: neither nil nor a default. Reading it asks the store.
//
// An unknown attribute has both of its bits set, that of nil and that of packed values, over a slot of zeros: who does not look at the second bit
// sees nil, and a packed text or value of no bytes. A to-one relationship holds `NSManagedObjectID.unresolved`, a to-many one no list.

extension Row {
    /// Whether some attribute may be unknown. Few stores make such rows: the block says so for all of them.
    var mayHaveUnknown: Bool { SlotPointer(slots).prefix.pointee.size & RowPrefix.unknownBit != 0 }

    /// Whether the value at `slot` is unknown.
    func isUnknown(at slot: RowLayout.Slot) -> Bool {
        switch slot.kind {
        case .objectID: return !slot.location.isPacked(slots) && objectID(at: slot) === NSManagedObjectID.unresolved
        case .objectIDs: return objectIDs(at: slot) == nil
        default: return mayHaveUnknown && isNil(at: slot) && slot.location.isPacked(slots)
        }
    }

    /// Makes the value at `slot` unknown. By the row's owner, before anybody else has it.
    func setUnknown(at slot: RowLayout.Slot) {
        switch slot.kind {
        case .objectID: setObjectID(.unresolved, at: slot)
        case .objectIDs: setObjectIDs(nil, at: slot)
        default:
            store(.null, in: slot)
            let place = slots + slot.location.offset
            // What lies there is an empty text or no bytes, which hold nothing; from here on nobody releases it.
            place.initializeMemory(as: UInt8.self, repeating: 0, count: slot.kind.size)
            slot.location.markPacked(slots)
            SlotPointer(slots).prefix.pointee.size |= RowPrefix.unknownBit
        }
        checkInvariants()
    }

    /// A value is about to be set. By the row's owner.
    func setKnown(at slot: RowLayout.Slot) {
        // Texts, bytes and references are taken care of where they are stored.
        switch slot.kind {
        case .integer, .boolean, .double, .date, .uuid: slot.location.clearPacked(slots)
        case .string, .data, .box, .objectID, .objectIDs: break
        }
    }

    /// The slots of attributes whose values are unknown.
    var unknownSlots: [Int] {
        guard mayHaveUnknown else { return [] }
        return layout.slots.indices.filter { index in
            let slot = layout.slots[index]
            return slot.kind != .objectID && slot.kind != .objectIDs && isUnknown(at: slot)
        }
    }

    /// A row in which what is unknown here has the values of another row of the object, where that is of the same version.
    func completed(from other: Row) -> Row { other.version == version ? filled(from: other) : self }

    /// A row in which what is unknown here has the values of another row of the object.
    func filled(from other: Row) -> Row {
        guard other.layout === layout else { return self }
        var completed: Row?
        for index in unknownSlots {
            let slot = layout.slots[index]
            if other.isUnknown(at: slot) { continue }
            let row = completed ?? copy()
            completed = row
            row.copyValue(from: other, at: slot)
        }
        guard let completed else { return self }
        completed.settleUnknown()
        return completed
    }

    /// Notes that nothing is unknown any more, where that is so.
    func settleUnknown() {
        if unknownSlots.isEmpty { SlotPointer(slots).prefix.pointee.size &= ~RowPrefix.unknownBit }
        checkInvariants()
    }
}
