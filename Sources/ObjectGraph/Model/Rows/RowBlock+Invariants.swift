internal import Foundation
internal import Predicates
public import Synchronization

extension RowBlock {
    /// The violated invariants of the block; empty if there are none. Called by the thread that fills the block, or by its last owner.
    ///
    /// The rows take no more than the available space, and lie one behind the other without a gap. Each row knows its distance from the block and is
    /// at least as long as its slots; a row that holds references has marked the block accordingly. A cache holds no negative number of rows.
    @usableFromInline var invariantViolations: [String] {
        var violations: [String] = []
        let length = Int(used.pointee.load(ordering: .relaxed))
        let capacity = withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) }
        if length > capacity { return ["the rows of a block take \(length) of \(capacity) bytes"] }
        let cached = cachedRows.pointee.load(ordering: .sequentiallyConsistent)
        if cached < 0 { violations.append("a cache has \(cached) rows of a block") }
        let slotsSize = layout.wordCount * 8
        var place = 0
        while place < length {
            let slots = SlotPointer(rows + place + RowPrefix.size)
            let prefix = slots.prefix.pointee
            let size = Int(prefix.size & RowPrefix.sizeMask)
            if slots.block.toOpaque() != Unmanaged.passUnretained(self).toOpaque() {
                violations.append("a row at \(place) gives \(prefix.offset) as its distance from the block")
            }
            if size < slotsSize { violations.append("a row at \(place) has \(size) bytes for slots of \(slotsSize)") }
            if place + RowPrefix.size + size > length { violations.append("a row at \(place) has \(size) bytes of \(length)") }
            if prefix.size & RowPrefix.referenceBit != 0, !holdsReferences {
                violations.append("a row at \(place) holds references, which its block does not know")
            }
            if !violations.isEmpty { return violations }
            place += RowPrefix.size + size
        }
        return violations
    }

    /// The additional invariants that are violated when the last reference to the block is released.
    var violationsAtEnd: [String] {
        var violations = invariantViolations
        let cached = cachedRows.pointee.load(ordering: .sequentiallyConsistent)
        if cached != 0 { violations.append("a block goes while a cache has \(cached) of its rows") }
        if violations.isEmpty, !holdsIDs {
            var place = 0
            while place < Int(used.pointee.load(ordering: .relaxed)) {
                let prefix = SlotPointer(rows + place + RowPrefix.size).prefix.pointee
                if prefix.id != 0 { violations.append("a row at \(place) keeps an ID, which its block does not know") }
                place += RowPrefix.size + Int(prefix.size & RowPrefix.sizeMask)
            }
        }
        return violations
    }

    /// Stops the program if the block violates its invariants, and if the checks are on. Called by the thread that fills the block.
    @inlinable @inline(__always) func checkInvariants() {
        InternalChecks.enforce(InternalChecks.isDue(Int(used.pointee.load(ordering: .relaxed)) / RowPrefix.size) ? invariantViolations : [])
    }

    /// Does the same as ``checkInvariants()``, when the last reference is released.
    @inline(__always) func checkInvariantsAtEnd() { InternalChecks.enforce(violationsAtEnd) }
}

extension SlotPointer {
    /// Stops the program if a value does not lie within the slots of the row's layout, and if the checks are on. The row's block is held.
    @usableFromInline func checkPlace(_ offset: Int, _ size: Int, _ alignment: Int) {
        InternalChecks.enforce(
            block._withUnsafeGuaranteedRef { block in
                let end = block.layout.wordCount * 8
                if offset < 0 || offset + size > end { return ["a value of \(size) bytes at \(offset) lies outside of slots of \(end)"] }
                return UInt(bitPattern: address + offset) % UInt(alignment) == 0 ? [] : ["a value at \(offset) is not aligned"]
            })
    }
}

extension SlotPointer {
    /// Stops the program if packed bytes do not lie within their row, and if the checks are on. The row's block is held.
    @inlinable @inline(__always) func checkPacked(_ word: UInt64) {
        InternalChecks.require(
            Int(word & 0xFFFF_FFFF) + Int(word >> 32) <= Int(prefix.pointee.size & RowPrefix.sizeMask),
            "packed bytes lie outside of their row")
    }

    /// Stops the program if the row violates its invariants, and if the checks are on. Called by its owner.
    @inline(__always) package func checkRow() { InternalChecks.enforce(Row.with(address) { $0.invariantViolations }) }
}

extension Row {
    /// The violated invariants of the row; empty if there are none. Called by its owner, or for a row that is not changed any more.
    ///
    /// The row lies in its block. Packed texts and bytes lie behind the slots, within the row; packed references are of an entity that the origin
    /// knows. A slot that is not packed holds a value of its kind. It holds nothing that must be released unless the row is marked as holding
    /// references. Only a row that is marked so has unknown values.
    package var invariantViolations: [String] {
        var violations: [String] = []
        let (start, length) = (block.rows, Int(block.used.pointee.load(ordering: .relaxed)))
        if slots < start + RowPrefix.size || slots + size > start + length { return ["the slots of a row lie outside of its block"] }
        if SlotPointer(slots).block.toOpaque() != Unmanaged.passUnretained(block).toOpaque() {
            return ["a row gives another block as its own"]
        }
        for (index, slot) in layout.slots.enumerated() {
            violations += self.violations(at: slot).map { "the value \(index) (\(slot.kind)): \($0)" }
        }
        return violations
    }

    private func violations(at slot: RowLayout.Slot) -> [String] {
        let location = slot.location
        let word = slots.load(fromByteOffset: location.offset, as: UInt64.self)
        guard location.isPacked(slots) else { return unpackedViolations(at: slot, word) }
        let isUnknown = mayHaveUnknown && isNil(at: slot)
        switch slot.kind {
        case .string, .data:
            let (place, count) = (Int(word & 0xFFFF_FFFF), Int(word >> 32))
            if isUnknown { return word == 0 ? [] : ["it is unknown and has bytes"] }
            if isNil(at: slot) { return ["it is nil and packed"] }
            return place < layout.wordCount * 8 || place + count > size ? ["its \(count) bytes at \(place) lie outside of the row"] : []
        case .objectID:
            guard let origin = block.origin else { return ["a packed reference has no origin"] }
            return origin.store.knows(packed: word) ? [] : ["a packed reference names no entity"]
        default: return isUnknown ? [] : ["it is packed, which it cannot be"]
        }
    }

    private func unpackedViolations(at slot: RowLayout.Slot, _ word: UInt64) -> [String] {
        let offset = slot.location.offset
        switch slot.kind {
        case .string:
            let count = SlotPointer(slots).place(offset, of: String.self).pointee.utf8.count
            return holdsReferences || count < 16 ? [] : ["a long text in a row without references"]
        case .data:
            let count = SlotPointer(slots).place(offset, of: Data.self).pointee.count
            return holdsReferences || count < 16 ? [] : ["long bytes in a row without references"]
        case .box, .objectID, .objectIDs:
            guard let object = SlotPointer(slots).place(offset, of: AnyObject?.self).pointee else { return [] }
            if !holdsReferences { return ["a reference in a row without references"] }
            let isRight =
                switch slot.kind {
                case .box: object is Box
                case .objectID: object is NSManagedObjectID
                default: object is ObjectIDList
                }
            return isRight ? [] : ["it is a \(type(of: object))"]
        case .boolean: return word > 1 ? ["it is \(word)"] : []
        case .integer, .double, .date, .uuid: return []
        }
    }

    /// Stops the program if the row violates its invariants, and if the checks are on. Called by its owner.
    @inline(__always) func checkInvariants() { InternalChecks.enforce(InternalChecks.isTurn(among: 4) ? invariantViolations : []) }
}
