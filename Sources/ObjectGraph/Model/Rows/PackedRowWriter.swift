internal import Foundation
internal import Predicates

/// The place of a value in the rows of an entity and its subentities, as a ``PackedRowWriter`` needs it.
@usableFromInline package struct RowPlace: Hashable, Sendable {
    /// The index of the property.
    @usableFromInline package let index: UInt32
    /// The number of the layout that has the place.
    @usableFromInline let layout: UInt32
    @usableFromInline let offset: UInt32
    @usableFromInline let nullOffset: UInt32
    @usableFromInline let nullMask: UInt64

    init(_ location: SlotLocation, index: Int, layout: RowLayout) {
        self.index = UInt32(truncatingIfNeeded: index)
        self.layout = layout.identifier
        offset = UInt32(truncatingIfNeeded: location.offset)
        nullOffset = UInt32(truncatingIfNeeded: location.nullOffset)
        nullMask = location.nullMask
    }
}

extension NSEntityDescription {
    /// The places of the values in rows of an entity whose model is in use, in the order of its properties.
    package final var rowPlaces: [RowPlace] {
        let layout = frozenParts.layout
        return layout.slots.enumerated().map { RowPlace($1.location, index: $0, layout: layout) }
    }
}

/// Writes rows of one layout into blocks, value by value, for stores that decode answers: strings and data are packed.
///
/// A row begins with every value unknown, and each value that is set is known. Use a writer on one thread at a time.
package final class PackedRowWriter {
    /// The layout of the rows.
    private let layout: RowLayout
    @usableFromInline let layoutNumber: UInt32
    /// The layouts that this one extends.
    private let inherited: [UInt32]
    /// The slots of a row in which nothing was set: values are unknown, except those of transient properties, which no store has.
    ///
    /// To-one relationships are marked like attributes, until the row ends.
    private let blank: [UInt64]
    /// The slots of a row in which every value is nil.
    private let allNil: [UInt64]
    /// Which bits in each word of nil bits are of attributes and of to-one relationships that may be unknown.
    private let words: [(offset: Int, attributes: UInt64, references: UInt64)]
    private let toOne: [RowLayout.Slot]
    private let slotsSize: Int
    private let hasAttributes: Bool
    /// The block for the next rows, while there is space.
    @exclusivity(unchecked) private var block: RowBlock?
    @exclusivity(unchecked) private var nextBlockSize = 1024
    // The slots of the row that is being written: they lie in `block`, which holds them.
    @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutableRawPointer?
    /// The present size of the row, and its maximum size in its block.
    @exclusivity(unchecked) @usableFromInline var size = 0
    @exclusivity(unchecked) @usableFromInline var room = 0
    /// The usual space for strings of a row; a larger row is moved to another block.
    private static let usualTexts = 512
    /// Longer texts are not packed.
    private static let longestText = 1 << 24

    /// Creates a writer of the rows of an entity whose model is in use.
    package init(_ entity: NSEntityDescription) {
        let frozen = entity.frozenParts
        let layout = frozen.layout
        self.layout = layout
        layoutNumber = layout.identifier
        var inherited: [UInt32] = []
        var superentity = entity.superentity
        while let current = superentity {
            inherited.append(current.frozenParts.layout.identifier)
            superentity = current.superentity
        }
        self.inherited = inherited
        slotsSize = layout.wordCount * 8
        let nilRow = layout.nilRow.unchecked("a layout that is in use has one")
        let allNil = (0..<layout.wordCount).map { nilRow.slots.load(fromByteOffset: $0 * 8, as: UInt64.self) }
        var blank = allNil
        var words: [(offset: Int, attributes: UInt64, references: UInt64)] = []
        for (property, slot) in zip(frozen.properties, layout.slots) where !property.isTransient && slot.kind != .objectIDs {
            let location = slot.location
            for word in 0..<slot.kind.size / 8 { blank[location.offset / 8 + word] = 0 }
            blank[location.nullOffset / 8] |= location.nullMask
            blank[location.nullOffset / 8 + 1] |= location.nullMask
            if words.last?.offset != location.nullOffset { words.append((location.nullOffset, 0, 0)) }
            if slot.kind == .objectID {
                words[words.count - 1].references |= location.nullMask
            } else {
                words[words.count - 1].attributes |= location.nullMask
            }
        }
        (self.blank, self.allNil, self.words) = (blank, allNil, words)
        toOne = layout.slots.filter { $0.kind == .objectID }
        hasAttributes = words.contains { $0.attributes != 0 }
    }

    deinit { cancel() }

    /// Begins a row. Call ``end(_:version:)`` or ``cancel()`` before the next one begins.
    package func begin() {
        if slots != nil { cancel() }
        let least = slotsSize + RowPrefix.size + Self.usualTexts
        if (block?.room ?? 0) < least { startBlock(least) }
        let block = block.unchecked("a block with room has just been started")
        let room = block.room
        let place = block.place(size: 0, number: 0, version: 0)
        blank.withUnsafeBytes { place.copyMemory(from: $0.baseAddress.unchecked("every row has words"), byteCount: slotsSize) }
        if hasAttributes { SlotPointer(place).prefix.pointee.size |= RowPrefix.unknownBit }
        slots = place
        size = slotsSize
        self.room = room - RowPrefix.size - 7
    }

    /// Ends the row and gives it its ID, which keeps the layout alive.
    ///
    /// - Returns: The slots of the row. The writer holds its block until the next row begins.
    package func end(_ id: NSManagedObjectID, version: Int64) -> UnsafeMutableRawPointer {
        let place = started
        let whole = (size + 7) & ~7
        let prefix = SlotPointer(place).prefix
        prefix.pointee.version = version
        var hasUnknown = false
        for word in words {
            let unknown = (place + word.offset).load(as: UInt64.self) & (place + (word.offset + 8)).load(as: UInt64.self)
            if unknown & word.attributes != 0 { hasUnknown = true }
            if unknown & word.references != 0 { resolveReferences() }
        }
        if !hasUnknown { prefix.pointee.size &= ~RowPrefix.unknownBit }
        prefix.pointee.size |= UInt32(truncatingIfNeeded: whole)
        let block = block.unchecked("a row is being written")
        block.commit(size: whole)
        slots = nil
        let row = Row(block: block, slots: place)
        if !row.setFirstID(id) { row.objectID = id }
        SlotPointer(place).checkRow()
        return place
    }

    /// Stores unknown destinations as references, and marks the row as holding references.
    private func resolveReferences() {
        noteReferences()
        for slot in toOne where slot.location.isPacked(started) { row.setObjectID(.unresolved, at: slot) }
    }

    /// Abandons the row that was begun, if there is one.
    package func cancel() {
        guard let place = slots else { return }
        slots = nil
        // It was not committed: its space is the next row's.
        if SlotPointer(place).prefix.pointee.size & RowPrefix.referenceBit != 0 {
            block.unchecked("a row is being written").releaseReferences(place)
        }
    }

    /// Whether a row has been begun.
    package var isWriting: Bool { slots != nil }

    private var started: UnsafeMutableRawPointer { slots.unchecked("a row has been begun") }

    /// Whether rows have a place.
    @inlinable @inline(__always) package func has(_ place: RowPlace) -> Bool { place.layout == layoutNumber || inherits(place) }

    @usableFromInline func inherits(_ place: RowPlace) -> Bool { inherited.contains(place.layout) }

    // MARK: Values

    // The caller ensures that rows have the place, and that its kind is right.

    /// Sets an integer or Boolean value.
    @inlinable @inline(__always) package func set(_ value: Int64, at place: RowPlace) { setWord(UInt64(bitPattern: value), place) }

    /// Sets a floating-point value, or a date as seconds since 2001.
    @inlinable @inline(__always) package func set(_ value: Double, at place: RowPlace) { setWord(value.bitPattern, place) }

    @inlinable @inline(__always) func setWord(_ word: UInt64, _ place: RowPlace) {
        let slots = slots.unchecked("a row has been begun")
        (slots + Int(place.offset)).storeBytes(of: word, as: UInt64.self)
        let bits = (slots + Int(place.nullOffset)).assumingMemoryBound(to: UInt64.self)
        bits[0] &= ~place.nullMask
        bits[1] &= ~place.nullMask
    }

    /// Sets a string from its UTF-8 bytes, which are copied.
    @inlinable package func set(utf8 bytes: UnsafeRawBufferPointer, at place: RowPlace) {
        let slots = slots.unchecked("a row has been begun")
        let bits = (slots + Int(place.nullOffset)).assumingMemoryBound(to: UInt64.self)
        // The slot must not hold a string of its own, which must be released, and the bytes must fit.
        guard bits[1] & place.nullMask != 0, size &+ bytes.count <= room else { return pack(bytes, place) }
        pack(bytes, place, slots)
    }

    @inlinable @inline(__always) func pack(
        _ bytes: UnsafeRawBufferPointer, _ place: RowPlace, _ slots: UnsafeMutableRawPointer
    ) {
        let count = bytes.count
        if let start = bytes.baseAddress { (slots + size).copyMemory(from: start, byteCount: count) }
        (slots + Int(place.offset)).storeBytes(
            of: UInt64(truncatingIfNeeded: size) | UInt64(truncatingIfNeeded: count) &<< 32, as: UInt64.self)
        let bits = (slots + Int(place.nullOffset)).assumingMemoryBound(to: UInt64.self)
        bits[0] &= ~place.nullMask
        bits[1] |= place.nullMask
        size &+= count
    }

    @usableFromInline @inline(never) func pack(_ bytes: UnsafeRawBufferPointer, _ place: RowPlace) {
        if bytes.count > Self.longestText { return set(.string(String(decoding: bytes, as: UTF8.self)), at: place) }
        releaseValue(place)
        if size + bytes.count > room { move(to: size + bytes.count) }
        pack(bytes, place, started)
    }

    /// Releases the value in the slot of a string or data, which packed bytes replace.
    private func releaseValue(_ place: RowPlace) {
        let slot = layout.slots[Int(place.index)]
        if !slot.location.isPacked(started) { row.store(.null, in: slot) }
    }

    /// Sets data from its bytes, which are copied.
    package func set(data bytes: UnsafeRawBufferPointer, at place: RowPlace) {
        if bytes.count > PackedBytes.longestData { return set(.data(Data(bytes)), at: place) }
        releaseValue(place)
        if size + bytes.count > room { move(to: size + bytes.count) }
        pack(bytes, place, started)
    }

    /// Sets a value to nil.
    package func setNil(_ place: RowPlace) {
        let slot = layout.slots[Int(place.index)]
        let slots = started
        let isPlain = slot.location.isPacked(slots) || slot.kind.size == 8 && slot.kind.isWord
        guard isPlain else { return row.store(.null, in: slot) }
        for word in 0..<slot.kind.size / 8 {
            (slots + (slot.location.offset + word * 8)).storeBytes(of: allNil[slot.location.offset / 8 + word], as: UInt64.self)
        }
        let bits = SlotPointer(slots).bits(slot.location.nullOffset)
        bits[0] |= place.nullMask
        bits[1] &= ~place.nullMask
    }

    /// Sets a value of any kind, in the form of its slot.
    package func set(_ value: StorableValue, at place: RowPlace) {
        noteReferences()
        row.store(value, in: layout.slots[Int(place.index)])
    }

    /// Sets the destination of a to-one relationship.
    package func set(_ id: NSManagedObjectID?, at place: RowPlace) {
        noteReferences()
        row.setObjectID(id, at: layout.slots[Int(place.index)])
    }

    /// Sets all destinations of a to-many relationship.
    package func set(_ ids: [NSManagedObjectID], at place: RowPlace) {
        noteReferences()
        row.setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: layout.slots[Int(place.index)])
    }

    private var row: Row { Row(block: block.unchecked("a row is being written"), slots: started) }

    private func noteReferences() {
        SlotPointer(started).prefix.pointee.size |= RowPrefix.referenceBit
        block.unchecked("a row is being written").noteReferences()
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
        let new = block.unchecked("it has just been started")
        let room = new.room
        let moved = new.place(size: 0, number: prefix.number, version: prefix.version)
        moved.copyMemory(from: place, byteCount: size)
        SlotPointer(moved).prefix.pointee.size |= prefix.size & RowPrefix.unknownBit
        slots = moved
        self.room = room - RowPrefix.size - 7
        if prefix.size & RowPrefix.referenceBit != 0 { noteReferences() }
        withExtendedLifetime(old) {}
    }
}

extension StorageKind {
    /// Whether a value is a plain word that is never released.
    fileprivate var isWord: Bool {
        switch self {
        case .integer, .boolean, .double, .date: true
        case .string, .data, .uuid, .box, .objectID, .objectIDs: false
        }
    }
}
