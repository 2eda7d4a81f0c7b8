internal import Foundation
internal import Synchronization

/// What lies before the slots of every row.
struct RowPrefix {
    /// The distance of the slots from the beginning of their block's object, in bytes.
    var offset: UInt32
    /// The length of the slots and of what is packed behind them, in bytes; the two highest bits say that some slot holds a reference, and
    /// that some attribute may be unknown.
    var size: UInt32
    /// The key of the row in its table, where the block has an origin.
    var number: Int64
    /// The number a store counts up at each save of the row.
    var version: Int64
    /// The object's ID, counted; 0 while nobody has asked for it. Read and written as an atomic.
    var id: UInt

    static let size = MemoryLayout<RowPrefix>.size
    static let referenceBit: UInt32 = 1 << 31
    /// Some attribute may be unknown.
    static let unknownBit: UInt32 = 1 << 30
    static let sizeMask = ~(referenceBit | unknownBit)
}

struct RowBlockHeader {
    unowned(unsafe) let layout: RowLayout
    /// What makes the IDs of rows that have a number only; the block holds it.
    var origin: Unmanaged<RowOrigin>?
    /// How many bytes the rows may take.
    let capacity: UInt32
}

/// Memory in which rows of one layout lie: one row that somebody may write, or many that a store has read together.
///
/// Whoever holds a row holds its block. One reader of a store fills its block up while others read what is there already, which never changes:
/// what is written meanwhile lies in atomics, apart from the header.
final class RowBlock: ManagedBuffer<RowBlockHeader, UInt64> {
    /// The elements begin with what changes while others read: a byte that is not 0 once an ID has been made for one of several rows, one that is not
    /// 0 once some row holds references, from the fifth byte on how many bytes the rows take, and in the second word how many of the rows a store's
    /// cache has.
    private static let noteSize = 16
    /// How far behind the beginning of a block's object the slots of its first row lie: of a row of its own, the block is found without a look at it.
    @inline(__always) static var distanceToFirstRow: Int {
        2 * MemoryLayout<UInt>.size + MemoryLayout<RowBlockHeader>.stride + noteSize + RowPrefix.size
    }
    /// The length of a block of many rows, in bytes.
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

    /// A row of its own whose slots and packed bytes take so many bytes. They are not initialized.
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
    /// How many bytes the rows take: read and written by who fills the block.
    @inline(__always) private var used: UnsafeMutablePointer<Atomic<UInt32>> { note(4, of: UInt32.self) }
    /// How many of the rows a store's cache has, which holds the block once for all of them.
    @inline(__always) var cachedRows: UnsafeMutablePointer<Atomic<Int>> { note(8, of: Int.self) }
    /// How much memory the block takes, about.
    @inline(__always) var byteCount: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } + 64 }

    private var rows: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) + Self.noteSize } }
    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }
    var origin: RowOrigin? { withUnsafeMutablePointerToHeader { $0.pointee.origin?.takeUnretainedValue() } }
    /// The one row of the block is from nowhere any more.
    func dropOrigin() {
        withUnsafeMutablePointerToHeader { header in
            let origin = header.pointee.origin
            header.pointee.origin = nil
            origin?.release()
        }
    }

    /// Calls with the origin, which is not counted.
    @inline(__always) func withOrigin<Result>(_ body: (RowOrigin?) throws -> Result) rethrows -> Result {
        guard let origin = withUnsafeMutablePointerToHeader({ $0.pointee.origin }) else { return try body(nil) }
        return try origin._withUnsafeGuaranteedRef { try body($0) }
    }
    /// How many bytes are left.
    @inline(__always) var room: Int {
        withUnsafeMutablePointerToHeader { Int($0.pointee.capacity) } &- Int(used.pointee.load(ordering: .relaxed))
    }

    /// Begins a row behind the others. It does not count before ``commit(size:)``.
    @inline(__always) func place(size: Int, number: Int64, version: Int64) -> UnsafeMutableRawPointer {
        let slots = rows + (Int(used.pointee.load(ordering: .relaxed)) &+ RowPrefix.size)
        let offset = slots - Unmanaged.passUnretained(self).toOpaque()
        (slots - RowPrefix.size).initializeMemory(
            as: RowPrefix.self,
            to: RowPrefix(offset: UInt32(truncatingIfNeeded: offset), size: UInt32(size), number: number, version: version, id: 0))
        return slots
    }

    /// The row that was begun is whole, and takes so many bytes.
    @inline(__always) func commit(size: Int) {
        let used = used
        used.pointee.store(
            used.pointee.load(ordering: .relaxed) &+ UInt32(truncatingIfNeeded: size &+ RowPrefix.size), ordering: .relaxed)
    }

    func noteReferences() { note(1, of: UInt8.self).pointee.store(1, ordering: .relaxed) }

    /// An ID is kept for one of the rows.
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
            // After the references: where there is no origin, the ID keeps the layout alive.
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

// MARK: Rows by their slots alone, for those who count by hand

extension UnsafeMutableRawPointer {
    /// What lies before the slots of a row.
    @inline(__always) var rowPrefix: UnsafeMutablePointer<RowPrefix> { (self - RowPrefix.size).assumingMemoryBound(to: RowPrefix.self) }

    /// Calls `body` with the row whose slots these are, and whose block somebody holds.
    @inline(__always) func withRow<Result>(_ body: (Row) throws -> Result) rethrows -> Result {
        try rowBlock._withUnsafeGuaranteedRef { try body(Row(block: $0, slots: self)) }
    }

    /// The block in which a row's slots lie.
    @inline(__always) var rowBlock: Unmanaged<RowBlock> {
        Unmanaged.fromOpaque(self - Int(truncatingIfNeeded: rowPrefix.pointee.offset))
    }
}
