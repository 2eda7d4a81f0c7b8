internal import Foundation
internal import Predicates
public import Synchronization

/// The header before the slots of every row.
@usableFromInline package struct RowPrefix {
    /// The offset of the slots from the start of their block's object, in bytes.
    @usableFromInline var offset: UInt32
    /// The size of the slots and the packed values behind them, in bytes; the two highest bits mark rows that hold references, and rows
    /// with unknown attributes.
    @usableFromInline package var size: UInt32
    /// The row number in its table, if the block has an origin.
    package var number: Int64
    /// The version number, which a store increments at each save of the row.
    package var version: Int64
    /// The object's ID, retained; 0 until it is created. Accessed atomically.
    var id: UInt

    @usableFromInline init(offset: UInt32, size: UInt32, number: Int64, version: Int64, id: UInt) {
        self.offset = offset
        self.size = size
        self.number = number
        self.version = version
        self.id = id
    }

    @usableFromInline package static let size = MemoryLayout<RowPrefix>.size
    package static let referenceBit: UInt32 = 1 << 31
    /// Marks rows in which attributes may be unknown.
    static let unknownBit: UInt32 = 1 << 30
    @usableFromInline static let sizeMask = ~(referenceBit | unknownBit)
}

@usableFromInline package struct RowBlockHeader {
    /// Held by the block's origin, through its entity; without an origin, by the ID of the row; without an ID, by the layout itself, whose default
    /// rows these are. Not counted, because every thread would write the count of a layout for each row.
    unowned(unsafe) let layout: RowLayout
    /// The origin, retained by the block, which creates the IDs of rows with row numbers.
    @usableFromInline var origin: Unmanaged<RowOrigin>?
    /// The number of bytes available to rows.
    @usableFromInline let capacity: UInt32
}

/// Memory for rows of one layout: a single exclusive row, or many rows that a store has read together.
///
/// Each owner of a row retains its block. A store's reader appends rows while others read the existing ones, which never change: the
/// fields written meanwhile are atomics outside of the header.
///
/// Who holds a block:
///
///     NSManagedObject ── slots, snapshotSlots, eventSlots: one reference each, counted by hand (NSManagedObject+Rows.swift)
///     Row, RowList ───── block(s): counted by the compiler; a RowList counts each block once for the rows that follow each other in it
///                        and none where one object holds all of its rows (the pages of a store in memory)
///     SQLRowReader ───── block: the one that it fills, until it is full and another begins
///     SQLRowCache ────── one reference for all rows of the block that it has, however many: `cachedRows` counts them; a cursor counts
///           │            rows ahead that it has not filed yet. What the cache has released waits in SQLDeferredRelease while threads look
///           ▼
///     ┌ RowBlock ──────────────────────────────────────────────────────────────────────────┐
///     │ header:  layout (not counted) · origin (counted) · capacity                        │
///     │ notes:   holds IDs? · holds references? · bytes used · cachedRows       16 bytes   │
///     │ row:     RowPrefix: offset back to the block · size · number · version · ID ───────┼─▶ NSManagedObjectID, counted
///     │          slots: nil bits, packed bits, values ─────────────────────────────────────┼─▶ String, Data, Box, IDs: counted
///     │          packed bytes                                                              │     where the slot is not packed
///     │ row:     RowPrefix …                                                               │
///     └────────────────────────────────────────────────────────────────────────────────────┘
///           │ origin                                            rows know nothing of objects and contexts
///           ▼
///     RowOrigin ─▶ NSEntityDescription ─▶ model: keeps the layout
///
/// A block is released with its last reference: when no object shows one of its rows, no other code passes one on, and the cache has none of them.
/// Then it releases the values and IDs of its rows, and last its origin. An address of slots (see ``SlotPointer``) holds nothing.
@usableFromInline package final class RowBlock: ManagedBuffer<RowBlockHeader, UInt64> {
    /// The elements begin with the fields that change while others read: a byte that is nonzero once an ID was created for one of several
    /// rows; a byte that is nonzero once a row holds references; from the fifth byte, the number of bytes in use; and in the second word,
    /// the number of rows in a store's cache.
    @usableFromInline package static let noteSize = 16
    /// The distance from the beginning of a block's object to the slots of its first row. With it, the block of a single row is found without reading
    /// memory.
    @inlinable @inline(__always) package static var distanceToFirstRow: Int {
        2 * MemoryLayout<UInt>.size + MemoryLayout<RowBlockHeader>.stride + noteSize + RowPrefix.size
    }
    /// The size of a block of many rows, in bytes.
    package static let standardSize = 32 * 1024

    package static func make(_ layout: RowLayout, origin: RowOrigin?, byteCount: Int) -> RowBlock {
        // `create` makes an object of the class that it is called on.
        let block = unchecked(
            RowBlock.create(minimumCapacity: (byteCount + noteSize + 7) / 8) { _ in
                RowBlockHeader(layout: layout, origin: origin.map(Unmanaged.passRetained), capacity: UInt32(byteCount))
            }, as: RowBlock.self)
        block.withUnsafeMutablePointerToElements {
            $0.initialize(to: 0)
            ($0 + 1).initialize(to: 0)
        }
        return block
    }

    /// Creates an exclusive row with space for its slots and packed bytes, which are not initialized.
    static func makeRow(
        _ layout: RowLayout, origin: RowOrigin?, size: Int, number: Int64 = 0, version: Int64
    ) -> Row {
        let block = make(layout, origin: origin, byteCount: size + RowPrefix.size)
        let slots = block.place(size: size, number: number, version: version)
        block.commit(size: size)
        return Row(block: block, slots: slots)
    }

    /// Returns a part of the two words that `make` has initialized to 0, which is 0 as an atomic, too. The address is valid for as long as the block
    /// has an owner.
    @inlinable @inline(__always) package func note<Value: AtomicRepresentable>(_ offset: Int, of: Value.Type) -> UnsafeMutablePointer<
        Atomic<Value>
    > {
        withUnsafeMutablePointerToElements { (UnsafeMutableRawPointer($0) + offset).assumingMemoryBound(to: Atomic<Value>.self) }
    }
    /// The number of bytes in use: read and written by the writer that fills the block.
    @inlinable @inline(__always) var used: UnsafeMutablePointer<Atomic<UInt32>> { note(4, of: UInt32.self) }
    /// The number of rows in a store's cache, which retains the block once for all of them.
    @inlinable @inline(__always) package var cachedRows: UnsafeMutablePointer<Atomic<Int>> { note(8, of: Int.self) }
    /// The approximate memory size of the block.
    @inlinable @inline(__always) package var byteCount: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } + 64 }

    /// The beginning of the rows.
    @inlinable var rows: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) + Self.noteSize } }
    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }
    package var origin: RowOrigin? { withUnsafeMutablePointerToHeader { $0.pointee.origin?.takeUnretainedValue() } }
    /// Detaches the single row of the block from its origin.
    func dropOrigin() {
        withUnsafeMutablePointerToHeader { header in
            let origin = header.pointee.origin
            header.pointee.origin = nil
            origin?.release()
        }
    }

    /// Calls `body` with the origin without retaining it.
    @inlinable @inline(__always) package func withOrigin<Result>(_ body: (RowOrigin?) throws -> Result) rethrows -> Result {
        guard let origin = withUnsafeMutablePointerToHeader({ $0.pointee.origin }) else { return try body(nil) }
        return try origin._withUnsafeGuaranteedRef { try body($0) }
    }
    /// The number of bytes left.
    @inlinable @inline(__always) package var room: Int {
        withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } &- Int(used.pointee.load(ordering: .relaxed))
    }

    /// Begins a row after the existing ones. It is not part of the block before ``commit(size:)``.
    @inlinable @inline(__always) package func place(size: Int, number: Int64, version: Int64) -> UnsafeMutableRawPointer {
        let slots = rows + (Int(used.pointee.load(ordering: .relaxed)) &+ RowPrefix.size)
        InternalChecks.require(size + RowPrefix.size <= room, "a row of \(size) bytes is begun in a block with \(room) left")
        let offset = slots - Unmanaged.passUnretained(self).toOpaque()
        (slots - RowPrefix.size).initializeMemory(
            as: RowPrefix.self,
            to: RowPrefix(offset: UInt32(truncatingIfNeeded: offset), size: UInt32(size), number: number, version: version, id: 0))
        return slots
    }

    /// Completes the row that was begun, with its size.
    @inlinable @inline(__always) package func commit(size: Int) {
        let used = used
        used.pointee.store(
            used.pointee.load(ordering: .relaxed) &+ UInt32(truncatingIfNeeded: size &+ RowPrefix.size), ordering: .relaxed)
        checkInvariants()
    }

    /// Whether some row may hold references.
    var holdsReferences: Bool { note(1, of: UInt8.self).pointee.load(ordering: .relaxed) != 0 }
    /// Whether an ID is kept for one of the rows.
    var holdsIDs: Bool { note(0, of: UInt8.self).pointee.load(ordering: .relaxed) != 0 }

    package func noteReferences() { note(1, of: UInt8.self).pointee.store(1, ordering: .relaxed) }

    /// Notes that an ID was created for one of the rows.
    func noteID() { note(0, of: UInt8.self).pointee.store(1, ordering: .relaxed) }

    deinit {
        checkInvariantsAtEnd()
        let end = Int(used.pointee.load(ordering: .relaxed))
        let (holdsReferences, holdsIDs) = (holdsReferences, holdsIDs)
        // The origin keeps the layout alive.
        defer { withUnsafeMutablePointerToHeader { $0.pointee.origin?.release() } }
        if !holdsReferences && !holdsIDs { return }
        var place = rows
        let last = place + end
        while place < last {
            // Rows lie one behind the other, from the first to `end`; the block has no other owner any more.
            let slots = place + RowPrefix.size
            let prefix = SlotPointer(slots).prefix
            if prefix.pointee.size & RowPrefix.referenceBit != 0 { releaseReferences(slots) }
            let size = Int(prefix.pointee.size & RowPrefix.sizeMask)
            // After the references: without an origin, the ID keeps the layout alive.
            if let id = UnsafeRawPointer(bitPattern: prefix.pointee.id) { Unmanaged<NSManagedObjectID>.fromOpaque(id).release() }
            place = slots + size
        }
    }

    /// Releases the values in the slots of a row, which has no other owner any more.
    func releaseReferences(_ slots: UnsafeMutableRawPointer) {
        withUnsafeMutablePointerToHeader { header in
            for slot in header.pointee.layout.managed where !slot.location.isPacked(slots) {
                let (slots, offset) = (SlotPointer(slots), slot.location.offset)
                switch slot.kind {
                case .string: slots.place(offset, of: String.self).deinitialize(count: 1)
                case .data: slots.place(offset, of: Data.self).deinitialize(count: 1)
                default: slots.place(offset, of: AnyObject?.self).deinitialize(count: 1)
                }
            }
        }
    }
}
