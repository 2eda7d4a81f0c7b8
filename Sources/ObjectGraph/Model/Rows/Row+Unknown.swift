internal import Foundation
internal import Predicates

// A property of a row is unknown if the store has not returned its value: it is neither nil nor a default. Reading it queries the store.
//
// An unknown attribute has both bits set, nil and packed, and a slot of zeros: code that checks one bit only sees nil, or a packed value
// without bytes. An unknown to-one relationship holds `NSManagedObjectID.unresolved`, an unknown to-many relationship has no list.

extension Row {
    /// Whether attributes may be unknown. Few stores create such rows: the block has one bit for all of them.
    var mayHaveUnknown: Bool { SlotPointer(slots).prefix.pointee.size & RowPrefix.unknownBit != 0 }

    /// Returns whether the value at `slot` is unknown.
    func isUnknown(at slot: RowLayout.Slot) -> Bool {
        switch slot.kind {
        case .objectID: return !slot.location.isPacked(slots) && objectID(at: slot) === NSManagedObjectID.unresolved
        case .objectIDs: return objectIDs(at: slot) == nil
        default: return mayHaveUnknown && isNil(at: slot) && slot.location.isPacked(slots)
        }
    }

    /// Makes the value at `slot` unknown. Call it before the row is shared.
    func setUnknown(at slot: RowLayout.Slot) {
        switch slot.kind {
        case .objectID: setObjectID(.unresolved, at: slot)
        case .objectIDs: setObjectIDs(nil, at: slot)
        default:
            store(.null, in: slot)
            let place = slots + slot.location.offset
            // The slot holds an empty string or data, which has no storage to release.
            place.initializeMemory(as: UInt8.self, repeating: 0, count: slot.kind.size)
            slot.location.markPacked(slots)
            SlotPointer(slots).prefix.pointee.size |= RowPrefix.unknownBit
        }
        checkInvariants()
    }

    /// Marks the value at `slot` as known before it is set. Call it before the row is shared.
    func setKnown(at slot: RowLayout.Slot) {
        // Strings, data and references are handled where they are stored.
        switch slot.kind {
        case .integer, .boolean, .double, .date, .uuid: slot.location.clearPacked(slots)
        case .string, .data, .box, .objectID, .objectIDs: break
        }
    }

    /// The slots of attributes with unknown values.
    var unknownSlots: [Int] {
        guard mayHaveUnknown else { return [] }
        return layout.slots.indices.filter { index in
            let slot = layout.slots[index]
            return slot.kind != .objectID && slot.kind != .objectIDs && isUnknown(at: slot)
        }
    }

    /// Returns a row whose unknown values are taken from another row of the object and of the same version.
    func completed(from other: Row) -> Row { other.version == version ? filled(from: other) : self }

    /// Returns a row whose unknown values are taken from another row of the object.
    package func filled(from other: Row) -> Row {
        guard other.layout === layout else { return self }
        var completed: Row?
        func take(_ slot: RowLayout.Slot) {
            if other.isUnknown(at: slot) { return }
            let row = completed ?? copy()
            completed = row
            row.copyValue(from: other, at: slot)
        }
        for index in unknownSlots { take(layout.slots[index]) }
        for slot in layout.managed where slot.kind == .objectID || slot.kind == .objectIDs {
            if isUnknown(at: slot) { take(slot) }
        }
        guard let completed else { return self }
        completed.clearUnknownMarkIfComplete()
        return completed
    }

    /// Clears the unknown mark if no value is unknown any more.
    func clearUnknownMarkIfComplete() {
        if unknownSlots.isEmpty { SlotPointer(slots).prefix.pointee.size &= ~RowPrefix.unknownBit }
        checkInvariants()
    }
}
