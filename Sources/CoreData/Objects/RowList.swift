/// A list of rows, each stored as one word; each block is retained once for its consecutive rows.
@_spi(Stores)
// Unchecked: the rows are shared and never written.
public struct RowList: RandomAccessCollection, @unchecked Sendable {
    private var places: [UnsafeMutableRawPointer] = []
    private var blocks: [RowBlock] = []
    private var lastBlock: UnsafeMutableRawPointer?

    /// Creates an empty list.
    public init() {}

    /// Creates a list of rows.
    public init(_ rows: some Sequence<Row>) { for row in rows { append(row) } }

    /// The first index.
    public var startIndex: Int { 0 }
    /// The index after the last row.
    public var endIndex: Int { places.count }
    /// Returns a row.
    public subscript(index: Int) -> Row { Row(places[index]) }

    /// Returns the slots of a row, which live as long as the list.
    @inline(__always) func slots(_ index: Int) -> UnsafeMutableRawPointer { places[index] }

    /// Appends a row.
    public mutating func append(_ row: Row) { append(row.slots) }

    /// Appends a row whose block the caller retains until now.
    @inline(__always) mutating func append(_ slots: UnsafeMutableRawPointer) {
        let block = slots.rowBlock
        if block.toOpaque() != lastBlock {
            lastBlock = block.toOpaque()
            blocks.append(block.takeUnretainedValue())
        }
        places.append(slots)
    }
}

extension Array where Element == Row {
    /// Calls `body` with each row without counting references, which the array keeps alive: for long lists, where counting costs more
    /// than the work.
    @inline(__always) func forEachUncounted(_ body: (Row) throws -> Void) rethrows {
        for index in indices {
            try withUncounted(index, body)
        }
    }

    /// Returns the slots of a row without counting a reference; the array retains the block.
    @inline(__always) func uncountedSlots(_ index: Int) -> UnsafeMutableRawPointer {
        withUnsafeBytes { $0.load(fromByteOffset: index * MemoryLayout<Row>.stride + 8, as: UnsafeMutableRawPointer.self) }
    }

    /// Calls `body` with a row without counting a reference; the array retains the block.
    @inline(__always) func withUncounted<Result>(_ index: Int, _ body: (Row) throws -> Result) rethrows -> Result {
        try uncountedSlots(index).withRow(body)
    }

    /// Returns the rows in another order.
    ///
    /// - Parameter indices: Every index of the array, once.
    func permuted(by indices: [Int]) -> [Row] { indices.map { self[$0] } }
}
