internal import CoreDataRuntime
internal import Foundation

/// The rows of an entity and its subentities, by their numbers in the store.
///
/// Numbers are consecutive, so the rows are in pages: a lookup takes two array accesses, and the order of the pages is that in which the
/// objects were first saved. An empty page is released.
struct RowPages {
    private static let pageSize = 1024

    private struct Page {
        var rows: [Row?] = Array(repeating: nil, count: RowPages.pageSize)
        var count = 0
    }
    private var pages: [Page?] = []
    private(set) var count = 0
    /// The last assigned number.
    private(set) var lastNumber: Int64 = 0
    /// Far more rows than fit into memory. A larger number in a file is invalid.
    static let largestNumber: Int64 = 1 << 36

    /// Returns a number that no row of the entity has had.
    mutating func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    /// Notes a number that was assigned earlier.
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

    /// Returns the slots of a row without counting a reference to its block.
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
                    // Rows are scattered in memory: later ones are prefetched.
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
