internal import Foundation
internal import Synchronization

/// The header before the slots of every row.
struct RowPrefix {
    /// The offset of the slots from the start of their block's object, in bytes.
    var offset: UInt32
    /// The size of the slots and the packed values behind them, in bytes; the two highest bits mark rows that hold references, and rows
    /// with unknown attributes.
    var size: UInt32
    /// The row number in its table, where the block has an origin.
    var number: Int64
    /// The version number, which a store increments at each save of the row.
    var version: Int64
    /// The object's ID, retained; 0 until it is created. Accessed atomically.
    var id: UInt

    static let size = MemoryLayout<RowPrefix>.size
    static let referenceBit: UInt32 = 1 << 31
    /// Marks rows in which attributes may be unknown.
    static let unknownBit: UInt32 = 1 << 30
    static let sizeMask = ~(referenceBit | unknownBit)
}

struct RowBlockHeader {
    unowned(unsafe) let layout: RowLayout
    /// The origin, retained by the block, which creates the IDs of rows with row numbers.
    var origin: Unmanaged<RowOrigin>?
    /// The number of bytes available to rows.
    let capacity: UInt32
}

/// Memory for rows of one layout: a single exclusive row, or many rows that a store has read together.
///
/// Each owner of a row retains its block. A store's reader appends rows while others read the existing ones, which never change: the
/// fields written meanwhile are atomics outside of the header.
final class RowBlock: ManagedBuffer<RowBlockHeader, UInt64> {
    /// The elements begin with the fields that change while others read: a byte that is nonzero once an ID was created for one of several
    /// rows; a byte that is nonzero once a row holds references; from the fifth byte, the number of bytes in use; and in the second word,
    /// the number of rows in a store's cache.
    private static let noteSize = 16
    /// How far behind the beginning of a block's object the slots of its first row lie: of a row of its own, the block is found without a look at it.
    @inline(__always) static var distanceToFirstRow: Int {
        2 * MemoryLayout<UInt>.size + MemoryLayout<RowBlockHeader>.stride + noteSize + RowPrefix.size
    }
    /// The size of a block of many rows, in bytes.
    static let standardSize = 32 * 1024

    static func make(_ layout: RowLayout, origin: RowOrigin?, byteCount: Int) -> RowBlock {
        let block = unsafeDowncast(
            RowBlock.create(minimumCapacity: (byteCount + noteSize + 7) / 8) { _ in
                RowBlockHeader(layout: layout, origin: origin.map(Unmanaged.passRetained), capacity: UInt32(byteCount))
            }, to: RowBlock.self)
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

    @inline(__always) private func note<Value: AtomicRepresentable>(_ offset: Int, of: Value.Type) -> UnsafeMutablePointer<Atomic<Value>> {
        withUnsafeMutablePointerToElements { (UnsafeMutableRawPointer($0) + offset).assumingMemoryBound(to: Atomic<Value>.self) }
    }
    /// The number of bytes in use: read and written by the writer that fills the block.
    @inline(__always) private var used: UnsafeMutablePointer<Atomic<UInt32>> { note(4, of: UInt32.self) }
    /// The number of rows in a store's cache, which retains the block once for all of them.
    @inline(__always) var cachedRows: UnsafeMutablePointer<Atomic<Int>> { note(8, of: Int.self) }
    /// The approximate memory size of the block.
    @inline(__always) var byteCount: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } + 64 }

    private var rows: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) + Self.noteSize } }
    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }
    var origin: RowOrigin? { withUnsafeMutablePointerToHeader { $0.pointee.origin?.takeUnretainedValue() } }
    /// Detaches the single row of the block from its origin.
    func dropOrigin() {
        withUnsafeMutablePointerToHeader { header in
            let origin = header.pointee.origin
            header.pointee.origin = nil
            origin?.release()
        }
    }

    /// Calls `body` with the origin without retaining it.
    @inline(__always) func withOrigin<Result>(_ body: (RowOrigin?) throws -> Result) rethrows -> Result {
        guard let origin = withUnsafeMutablePointerToHeader({ $0.pointee.origin }) else { return try body(nil) }
        return try origin._withUnsafeGuaranteedRef { try body($0) }
    }
    /// The number of bytes left.
    @inline(__always) var room: Int {
        withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } &- Int(used.pointee.load(ordering: .relaxed))
    }

    /// Begins a row after the existing ones. It is not part of the block before ``commit(size:)``.
    @inline(__always) func place(size: Int, number: Int64, version: Int64) -> UnsafeMutableRawPointer {
        let slots = rows + (Int(used.pointee.load(ordering: .relaxed)) &+ RowPrefix.size)
        let offset = slots - Unmanaged.passUnretained(self).toOpaque()
        (slots - RowPrefix.size).initializeMemory(
            as: RowPrefix.self,
            to: RowPrefix(offset: UInt32(truncatingIfNeeded: offset), size: UInt32(size), number: number, version: version, id: 0))
        return slots
    }

    /// Completes the row that was begun, with its size.
    @inline(__always) func commit(size: Int) {
        let used = used
        used.pointee.store(
            used.pointee.load(ordering: .relaxed) &+ UInt32(truncatingIfNeeded: size &+ RowPrefix.size), ordering: .relaxed)
    }

    func noteReferences() { note(1, of: UInt8.self).pointee.store(1, ordering: .relaxed) }

    /// Notes that an ID was created for one of the rows.
    func noteID() { note(0, of: UInt8.self).pointee.store(1, ordering: .relaxed) }

    deinit {
        let end = Int(used.pointee.load(ordering: .relaxed))
        let holdsReferences = note(1, of: UInt8.self).pointee.load(ordering: .relaxed) != 0
        let holdsIDs = note(0, of: UInt8.self).pointee.load(ordering: .relaxed) != 0
        // The origin keeps the layout alive.
        defer { withUnsafeMutablePointerToHeader { $0.pointee.origin?.release() } }
        if !holdsReferences && !holdsIDs { return }
        var place = rows
        let last = place + end
        while place < last {
            let slots = place + RowPrefix.size
            let prefix = place.assumingMemoryBound(to: RowPrefix.self)
            if prefix.pointee.size & RowPrefix.referenceBit != 0 { releaseReferences(slots) }
            let size = Int(prefix.pointee.size & RowPrefix.sizeMask)
            // After the references: without an origin, the ID keeps the layout alive.
            if let id = UnsafeRawPointer(bitPattern: prefix.pointee.id) { Unmanaged<NSManagedObjectID>.fromOpaque(id).release() }
            place = slots + size
        }
    }

    private func releaseReferences(_ slots: UnsafeMutableRawPointer) {
        withUnsafeMutablePointerToHeader { header in
            for slot in header.pointee.layout.managed where !slot.location.isPacked(slots) {
                let place = slots + slot.location.offset
                switch slot.kind {
                case .string: place.assumingMemoryBound(to: String.self).deinitialize(count: 1)
                case .data: place.assumingMemoryBound(to: Data.self).deinitialize(count: 1)
                default: place.assumingMemoryBound(to: AnyObject?.self).deinitialize(count: 1)
                }
            }
        }
    }
}

// MARK: Rows by their slots, with manual reference counting

extension UnsafeMutableRawPointer {
    /// The header of the row.
    @inline(__always) var rowPrefix: UnsafeMutablePointer<RowPrefix> { (self - RowPrefix.size).assumingMemoryBound(to: RowPrefix.self) }

    /// Calls `body` with the row of these slots, whose block the caller retains.
    @inline(__always) func withRow<Result>(_ body: (Row) throws -> Result) rethrows -> Result {
        try rowBlock._withUnsafeGuaranteedRef { try body(Row(block: $0, slots: self)) }
    }

    /// The block that contains the slots.
    @inline(__always) var rowBlock: Unmanaged<RowBlock> {
        Unmanaged.fromOpaque(self - Int(truncatingIfNeeded: rowPrefix.pointee.offset))
    }
}
