internal import CoreDataRuntime
internal import Foundation
internal import Predicates

/// The rows of an entity and its subentities, by their numbers in the store.
///
/// Numbers are consecutive, so the rows are in pages: a lookup takes two array accesses, and the pages are in the order in which the objects were
/// first saved. An empty page is released.
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

    /// Records a number that was assigned earlier.
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
        subject(rows, index).map { UnsafeMutableRawPointer(mutating: $0.slots) }
    }

    /// Returns a row as a subject of predicates without counting a reference to its block.
    @inline(__always) private func subject(_ rows: UnsafeBufferPointer<Row?>, _ index: Int) -> PredicateSubject? {
        let address = UnsafeRawPointer(rows.baseAddress.unchecked("a page has rows") + index)
        // A missing row is one without a block.
        guard let block = address.load(as: UnsafeRawPointer?.self) else { return nil }
        return PredicateSubject(slots: address.load(fromByteOffset: 8, as: UnsafeRawPointer.self), address: block)
    }

    /// Returns the row with a number as a subject of predicates; nil if there is none. The pages hold the row.
    @inline(__always) func subject(_ number: Int64) -> PredicateSubject? {
        let index = Int(number) / Self.pageSize
        guard number > 0, index < pages.count, let rows = pages[index]?.rows else { return nil }
        return rows.withUnsafeBufferPointer { subject($0, Int(number) % Self.pageSize) }
    }

    /// Prefetches the rows of some IDs, which are scattered in memory, so that the processor waits for all of them at once.
    ///
    /// - Parameters:
    ///   - page: The index of a page.
    ///   - rows: The rows of that page; others are not prefetched.
    @inline(__always) private func prefetchRows(of ids: [NSManagedObjectID], from start: Int, on page: Int, _ rows: [Row?]) {
        for place in start..<max(start, min(start &+ 8, ids.count)) {
            guard let number = ids.uncounted(place)._withUnsafeGuaranteedRef({ $0.number }), number > 0 else { continue }
            if Int(number) / Self.pageSize != page { continue }
            coredata_prefetch(rows.withUnsafeBufferPointer { subject($0, Int(number) % Self.pageSize) }?.slots)
        }
    }

    /// Calls `body` with the rows of existing IDs until it returns false.
    ///
    /// No reference is counted for each row: the pages, of which the caller holds a copy, hold all of them.
    @inline(__always) func forEachSubject(of ids: [NSManagedObjectID], _ body: (PredicateSubject) throws -> Bool) rethrows {
        var page = -1
        var rows: [Row?] = []
        for place in 0..<min(8, ids.count) { coredata_prefetch(ids.uncounted(place).toOpaque() + NSManagedObjectID.offsetOfKey) }
        for place in ids.indices {
            guard let number = ids.uncounted(place)._withUnsafeGuaranteedRef({ $0.number }), number > 0 else { continue }
            // Related objects were mostly saved together: their rows are on one page.
            if Int(number) / Self.pageSize != page {
                page = Int(number) / Self.pageSize
                rows = page < pages.count ? pages[page]?.rows ?? [] : []
            }
            if rows.isEmpty { continue }
            if place & 7 == 0 { prefetchRows(of: ids, from: place &+ 1, on: page, rows) }
            guard let subject = rows.withUnsafeBufferPointer({ subject($0, Int(number) % Self.pageSize) }) else { continue }
            if try !body(subject) { return }
        }
    }

    func forEach(_ body: (Row) throws -> Void) rethrows {
        try forEachSubject { subject in
            let slots = UnsafeMutableRawPointer(mutating: subject.slots)
            try Unmanaged<RowBlock>.fromOpaque(subject.address)._withUnsafeGuaranteedRef { try body(Row(block: $0, slots: slots)) }
        }
    }

    /// Calls `body` with every row as a subject of predicates, without counting references: the pages hold the rows.
    @inline(__always) func forEachSubject(_ body: (PredicateSubject) throws -> Void) rethrows {
        for case let page? in pages where page.count > 0 {
            try page.rows.withUnsafeBufferPointer { rows in
                for index in rows.indices {
                    // Rows are scattered in memory: later ones are prefetched.
                    if index + 16 < rows.count, let ahead = slots(rows, index + 16) {
                        coredata_prefetch(ahead)
                        coredata_prefetch(ahead + 64)
                    }
                    if let subject = subject(rows, index) { try body(subject) }
                }
            }
        }
    }
}
