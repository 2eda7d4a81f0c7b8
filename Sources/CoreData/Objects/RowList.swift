/// Rows that are handed on together: each as one word, and each block held once for all of its rows that come in a row.
@_spi(Stores)
// Unchecked: the rows are shared, and never written.
public struct RowList: RandomAccessCollection, @unchecked Sendable {
    // The slots of the rows, which lie in the blocks of the second list and live for as long as it does.
    private(set) var places: [UnsafeMutableRawPointer] = []
    private(set) var blocks: [RowBlock] = []
    private(set) var lastBlock: UnsafeMutableRawPointer?

    /// An empty list.
    public init() {}

    /// A list of rows.
    public init(_ rows: some Sequence<Row>) { for row in rows { append(row) } }

    /// The first index.
    public var startIndex: Int { 0 }
    /// The index after the last row.
    public var endIndex: Int { places.count }
    /// A row.
    public subscript(index: Int) -> Row { Row(places[index]) }

    /// The slots of a row, which live as long as the list does.
    @inline(__always) func slots(_ index: Int) -> UnsafeMutableRawPointer { places[index] }

    /// Adds a row.
    public mutating func append(_ row: Row) { append(row.slots) }

    /// Adds a row whose block somebody holds until now.
    @inline(__always) mutating func append(_ slots: UnsafeMutableRawPointer) {
        let block = SlotPointer(slots).block
        if block.toOpaque() != lastBlock {
            lastBlock = block.toOpaque()
            blocks.append(block.takeUnretainedValue())
        }
        places.append(slots)
        checkInvariants()
    }
}

extension Array where Element == Row {
    /// Calls `body` with each row, whose block the array holds: for long lists, where counting references costs more than the work.
    @inline(__always) func forEachUncounted(_ body: (Row) throws -> Void) rethrows {
        for index in indices {
            try withUncounted(index, body)
        }
    }

    /// The slots of a row, whose block the array holds. Read as bits, so that no reference is made on the way.
    @inline(__always) func uncountedSlots(_ index: Int) -> UnsafeMutableRawPointer {
        InternalChecks.require(index >= 0 && index < count, "there is no row \(index) among \(count)")
        return withUnsafeBytes { $0.load(fromByteOffset: index * MemoryLayout<Row>.stride + 8, as: UnsafeMutableRawPointer.self) }
    }

    /// Calls `body` with a row, whose block the array holds.
    @inline(__always) func withUncounted<Result>(_ index: Int, _ body: (Row) throws -> Result) rethrows -> Result {
        try SlotPointer(uncountedSlots(index)).withRow(body)
    }

    /// The rows in another order.
    ///
    /// - Parameter indices: every index of the array, once.
    func permuted(by indices: [Int]) -> [Row] { indices.map { self[$0] } }
}
