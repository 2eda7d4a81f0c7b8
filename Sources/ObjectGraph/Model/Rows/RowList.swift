/// A list of rows, each stored as one word; each block is retained once for its consecutive rows, unless another object holds all of them.
@_spi(Stores)
// Unchecked: the rows are shared and never written.
public struct RowList: RandomAccessCollection, @unchecked Sendable {
    // The slots of the rows, which lie in the blocks of the second list and live for as long as it does.
    @usableFromInline private(set) var places: [UnsafeMutableRawPointer] = []
    @usableFromInline private(set) var blocks: [RowBlock] = []
    @usableFromInline private(set) var lastBlock: UnsafeMutableRawPointer?
    /// The object that holds all rows instead of the second list; nil if the list does.
    let holder: AnyObject?

    /// Creates an empty list.
    public init() { holder = nil }

    /// Creates an empty list of rows that an object holds, even if the table that it has them from is gone: no reference is counted for each row.
    init(heldBy holder: AnyObject) { self.holder = holder }

    /// Creates a list of rows.
    public init(_ rows: some Sequence<Row>) {
        holder = nil
        for row in rows { append(row) }
    }

    /// The first index.
    public var startIndex: Int { 0 }
    /// The index after the last row.
    public var endIndex: Int { places.count }
    /// Returns a row.
    public subscript(index: Int) -> Row { Row(places[index]) }

    /// Returns the slots of a row, which live as long as the list.
    @inline(__always) func slots(_ index: Int) -> UnsafeMutableRawPointer { places[index] }

    /// Calls `body` with the rows of a part that follow each other in one block, which the list holds.
    @inline(__always) func forEachRun(in part: Range<Int>, _ body: (RowBlock, Range<Int>) -> Void) {
        var start = part.lowerBound
        while start < part.upperBound {
            let block = SlotPointer(places[start]).block
            var end = start + 1
            while end < part.upperBound, SlotPointer(places[end]).block.toOpaque() == block.toOpaque() { end += 1 }
            block._withUnsafeGuaranteedRef { body($0, start..<end) }
            start = end
        }
    }

    /// Appends a row.
    public mutating func append(_ row: Row) { append(row.slots) }

    /// Appends a row that the list's holder holds.
    mutating func appendHeld(_ slots: UnsafeMutableRawPointer) {
        InternalChecks.require(holder != nil, "a list without a holder counts its blocks")
        places.append(slots)
    }

    /// Appends a row whose block the caller retains until now.
    @inlinable @inline(__always) package mutating func append(_ slots: UnsafeMutableRawPointer) {
        let block = SlotPointer(slots).block
        if block.toOpaque() != lastBlock {
            lastBlock = block.toOpaque()
            blocks.append(block.takeUnretainedValue())
        }
        places.append(slots)
        checkInvariants()
    }
}

extension RowList {
    /// Appends the rows of another list that holds its blocks itself.
    package mutating func append(contentsOf other: RowList) {
        if other.holder != nil { return other.forEach { append($0) } }
        if places.isEmpty, holder == nil {
            self = other
            return
        }
        places += other.places
        for block in other.blocks {
            let address = Unmanaged.passUnretained(block).toOpaque()
            if address == lastBlock { continue }
            lastBlock = address
            blocks.append(block)
        }
    }
}

extension Array where Element == Row {
    /// Returns the rows in another order.
    ///
    /// - Parameter indices: Every index of the array, once.
    func permuted(by indices: [Int]) -> [Row] { indices.map { self[$0] } }
}
