internal import CoreDataRuntime
internal import Foundation

/// The rows of an entity and all that inherit from it, by the number that their store gave them.
///
/// Numbers count up, so the rows lie in pages of consecutive numbers: a lookup is two array accesses, and the order of the pages is that
/// in which the objects were first saved. A page whose rows are all gone is given back.
struct RowPages {
    private static let pageSize = 1024

    private struct Page {
        var rows: [Row?] = Array(repeating: nil, count: RowPages.pageSize)
        var count = 0
    }
    private var pages: [Page?] = []
    private(set) var count = 0
    /// The number given last.
    private(set) var lastNumber: Int64 = 0
    /// Far more than rows fit into memory. A number from a file that says more is wrong.
    static let largestNumber: Int64 = 1 << 36

    /// A number that no row of the entity has had.
    mutating func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    /// A number was given some time before.
    mutating func noteNumber(_ number: Int64) { lastNumber = max(lastNumber, number) }

    subscript(number: Int64) -> Row? {
        get {
            let index = Int(number) / Self.pageSize
            guard number > 0, index < pages.count else { return nil }
            return pages[index]?.rows[Int(number) % Self.pageSize]
        }
        set {
            let index = Int(number) / Self.pageSize
            guard number > 0, number <= lastNumber else { return }
            while pages.count <= index { pages.append(nil) }
            if pages[index] == nil { pages[index] = Page() }
            let place = Int(number) % Self.pageSize
            let change = (newValue == nil ? 0 : 1) - (pages[index]!.rows[place] == nil ? 0 : 1)
            pages[index]!.rows[place] = newValue
            pages[index]!.count += change
            count += change
            if pages[index]!.count == 0 { pages[index] = nil }
        }
    }

    /// The slots of a row, whose block is not counted.
    @inline(__always) private func slots(_ rows: UnsafeBufferPointer<Row?>, _ index: Int) -> UnsafeMutableRawPointer? {
        let address = UnsafeRawPointer(rows.baseAddress.known("a page has rows") + index)
        // A missing row is one without a block.
        guard address.load(as: UnsafeRawPointer?.self) != nil else { return nil }
        return address.load(fromByteOffset: 8, as: UnsafeMutableRawPointer.self)
    }

    func forEach(_ body: (Row) throws -> Void) rethrows {
        for case let page? in pages where page.count > 0 {
            try page.rows.withUnsafeBufferPointer { rows in
                for index in rows.indices {
                    // Rows lie apart: each is on its way to the processor before its turn comes.
                    if index + 16 < rows.count, let ahead = slots(rows, index + 16) {
                        coredata_prefetch(ahead)
                        coredata_prefetch(ahead + 64)
                    }
                    guard let slots = slots(rows, index) else { continue }
                    try SlotPointer(slots).block._withUnsafeGuaranteedRef { try body(Row(block: $0, slots: slots)) }
                }
            }
        }
    }
}
