internal import Foundation
internal import Predicates

/// Writes rows of one layout into blocks, value by value, for stores that decode answers: strings and data are packed.
///
/// A row begins with every value unknown, and each value that is set is known. Use a writer on one thread at a time.
package final class PackedRowWriter {
    /// The layout of the rows.
    private let layout: RowLayout
    private let nilRow: Row
    private let slotsSize: Int
    /// The slots of transient properties, which no store has, are never unknown.
    private let isTransient: [Bool]
    private var isKnown: [Bool]
    /// The block for the next rows, while there is space.
    private var block: RowBlock?
    private var nextBlockSize = 1024
    // The slots of the row that is being written: they lie in `block`, which holds them.
    private var slots: UnsafeMutableRawPointer?
    private var size = 0
    /// The usual space for strings of a row; a larger row is moved to another block.
    private static let usualTexts = 512

    /// Creates a writer of the rows of an entity whose model is in use.
    package init(_ entity: NSEntityDescription) {
        let frozen = entity.frozenParts
        layout = frozen.layout
        nilRow = frozen.layout.nilRow.known("a layout that is in use has one")
        slotsSize = layout.wordCount * 8
        isTransient = frozen.properties.map(\.isTransient)
        isKnown = isTransient
    }

    /// Begins a row. Call ``end(_:)`` before the next one begins.
    package func begin(version: Int64) {
        if (block?.room ?? 0) < slotsSize + RowPrefix.size + Self.usualTexts { startBlock(slotsSize + RowPrefix.size + Self.usualTexts) }
        let place = block.known("a block with room has just been started").place(size: 0, number: 0, version: version)
        place.copyMemory(from: nilRow.slots, byteCount: slotsSize)
        slots = place
        size = slotsSize
        for index in isKnown.indices { isKnown[index] = isTransient[index] }
    }

    /// Ends the row and gives it its ID, which keeps the layout alive.
    package func end(_ id: NSManagedObjectID) -> Row {
        let place = started
        let whole = (size + 7) & ~7
        SlotPointer(place).prefix.pointee.size |= UInt32(truncatingIfNeeded: whole)
        let block = block.known("a row is being written")
        block.commit(size: whole)
        slots = nil
        let row = Row(block: block, slots: place)
        row.objectID = id
        for index in isKnown.indices where !isKnown[index] {
            let slot = layout.slots[index]
            // An unknown destination is a reference, which the row must say that it holds.
            if slot.kind == .objectID { row.holdsReferences = true }
            row.setUnknown(at: slot)
        }
        SlotPointer(place).checkRow()
        return row
    }

    /// Whether the value at an index was set in the row that is being written.
    package func isKnown(_ index: Int) -> Bool { isKnown[index] }

    private var started: UnsafeMutableRawPointer { slots.known("a row has been begun") }

    // MARK: Values

    /// Sets a value to nil.
    package func setNil(_ index: Int) {
        let slot = layout.slots[index]
        if isKnown[index], !isTransient[index] { row.store(.null, in: slot) }
        note(index)
    }

    /// Sets an integer or Boolean value.
    @inline(__always) package func set(_ value: Int64, _ index: Int) { setWord(UInt64(bitPattern: value), index) }

    /// Sets a floating-point value, or a date as seconds since 2001.
    @inline(__always) package func set(_ value: Double, _ index: Int) { setWord(value.bitPattern, index) }

    private func setWord(_ word: UInt64, _ index: Int) {
        let location = layout.slots[index].location
        (started + location.offset).storeBytes(of: word, as: UInt64.self)
        SlotPointer(started).bits(location.nullOffset).pointee &= ~location.nullMask
        note(index)
    }

    /// Sets a string from its UTF-8 bytes, which are copied.
    package func set(utf8 bytes: UnsafeRawBufferPointer, _ index: Int) { pack(bytes, index) }

    /// Sets data from its bytes, which are copied.
    package func set(data bytes: UnsafeRawBufferPointer, _ index: Int) {
        if bytes.count > PackedBytes.longestData { return set(.data(Data(bytes)), index) }
        pack(bytes, index)
    }

    private func pack(_ bytes: UnsafeRawBufferPointer, _ index: Int) {
        if isKnown[index] { row.store(.null, in: layout.slots[index]) }
        if let block, size + bytes.count > block.room - RowPrefix.size - 7 { move(to: size + bytes.count) }
        let location = layout.slots[index].location
        let place = started
        if let start = bytes.baseAddress { (place + size).copyMemory(from: start, byteCount: bytes.count) }
        (place + location.offset).storeBytes(
            of: UInt64(truncatingIfNeeded: size) | UInt64(truncatingIfNeeded: bytes.count) &<< 32, as: UInt64.self)
        SlotPointer(place).bits(location.nullOffset &+ 8).pointee |= location.nullMask
        SlotPointer(place).bits(location.nullOffset).pointee &= ~location.nullMask
        size += bytes.count
        note(index)
    }

    /// Sets a value of any kind, in the form of its slot.
    package func set(_ value: StorableValue, _ index: Int) {
        noteReferences()
        row.store(value, in: layout.slots[index])
        note(index)
    }

    /// Sets the destination of a to-one relationship.
    package func set(_ id: NSManagedObjectID?, _ index: Int) {
        noteReferences()
        row.setObjectID(id, at: layout.slots[index])
        note(index)
    }

    /// Sets all destinations of a to-many relationship.
    package func set(_ ids: [NSManagedObjectID], _ index: Int) {
        noteReferences()
        row.setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: layout.slots[index])
        note(index)
    }

    private var row: Row { Row(block: block.known("a row is being written"), slots: started) }

    private func note(_ index: Int) { isKnown[index] = true }

    private func noteReferences() {
        SlotPointer(started).prefix.pointee.size |= RowPrefix.referenceBit
        block.known("a row is being written").noteReferences()
    }

    // MARK: Blocks

    /// Creates a new block with at least a number of bytes; a writer of many rows creates larger blocks.
    private func startBlock(_ least: Int) {
        let size = (max(least, nextBlockSize) + 7) & ~7
        nextBlockSize = min(RowBlock.standardSize, nextBlockSize * 2)
        block = RowBlock.make(layout, origin: nil, byteCount: size)
    }

    /// Moves the row being written to a block with more space. The old block has no part of it any more: it was not committed there.
    private func move(to newSize: Int) {
        let (old, place) = (block, started)
        let prefix = SlotPointer(place).prefix.pointee
        startBlock(newSize + RowPrefix.size + Self.usualTexts)
        let moved = block.known("it has just been started").place(size: 0, number: prefix.number, version: prefix.version)
        moved.copyMemory(from: place, byteCount: size)
        slots = moved
        if prefix.size & RowPrefix.referenceBit != 0 { noteReferences() }
        withExtendedLifetime(old) {}
    }
}
