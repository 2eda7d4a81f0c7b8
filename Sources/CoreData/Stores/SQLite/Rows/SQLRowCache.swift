internal import Foundation

/// The rows that a store has read or saved, as long as a context shows them or they have lately come.
///
/// Rows of equal version need not be read again, and a fault among them fires without a question. It keeps no account of who has a row:
/// when it has grown enough, the rows in blocks that nobody else holds go.
// Used under the lock of its store.
final class SQLRowCache: RowsAtHand {
    private static let pageSize: Int64 = 256

    /// The slots of a row, and the time at which it came.
    struct Entry {
        var slots: UnsafeMutableRawPointer?
        var time: UInt64
    }

    // The entries lie behind a pointer: an array would be checked and counted at each access.
    private final class Page {
        let entries: UnsafeMutablePointer<Entry>

        init() {
            entries = .allocate(capacity: Int(SQLRowCache.pageSize))
            entries.initialize(repeating: Entry(slots: nil, time: 0), count: Int(SQLRowCache.pageSize))
        }

        deinit {
            for index in 0..<Int(SQLRowCache.pageSize) { entries[index].slots?.giveUp() }
            entries.deallocate()
        }
    }
    /// The pages of a table, by the key divided by their size.
    private final class Table {
        /// Those of keys that lie close, which is almost all: SQLite counts them up.
        var dense: [Page?] = []
        var sparse: [Int64: Page] = [:]
        var count = 0

        @inline(__always) func page(_ number: Int64) -> Page? {
            if number >= 0, number < dense.count { return dense[Int(number)] }
            return sparse.isEmpty ? nil : sparse[number]
        }

        func set(_ page: Page, _ number: Int64) {
            count += 1
            // An array may have four times as many places as pages.
            if number >= 0, number < Int64(count) * 4 + 64 {
                while dense.count <= Int(number) { dense.append(sparse.isEmpty ? nil : sparse.removeValue(forKey: Int64(dense.count))) }
                dense[Int(number)] = page
            } else {
                sparse[number] = page
            }
        }

        /// Calls `body` with each page and takes out those for which it answers false.
        func keepPages(where body: (Page) -> Bool) {
            for index in dense.indices { if let page = dense[index], !body(page) { (dense[index], count) = (nil, count - 1) } }
            for (number, page) in sparse where !body(page) { (sparse[number], count) = (nil, count - 1) }
        }
    }

    private var tables: [Int64: Table] = [:]
    @exclusivity(unchecked) private var lastTable: Table?
    /// The page asked for last; its table keeps it.
    @exclusivity(unchecked) private var lastEntries: UnsafeMutablePointer<Entry>?
    @exclusivity(unchecked) private var lastRoot: Int64 = 0
    @exclusivity(unchecked) private var lastPage: Int64 = 0
    @exclusivity(unchecked) private var count = 0
    private var limit = SQLRowCache.smallestLimit
    private static let smallestLimit = 20_000
    /// The time that rows get which come now, in nanoseconds of the system's uptime.
    @exclusivity(unchecked) private(set) var now: UInt64 = 0

    /// Rows come from here on.
    func noteTime() { now = DispatchTime.now().uptimeNanoseconds }

    /// The entry of a key; nil where there is no page for it.
    @inline(__always) private func entry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<Entry>? {
        if let lastEntries, lastPage == key >> 8, lastRoot == root { return lastEntries + Int(key & 255) }
        return farEntry(root, key)
    }

    @inline(never) private func farEntry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<Entry>? {
        if lastTable == nil || lastRoot != root {
            guard let table = tables[root] else { return nil }
            (lastTable, lastRoot, lastEntries) = (table, root, nil)
        }
        guard let page = lastTable.unsafelyUnwrapped.page(key >> 8) else { return nil }
        (lastPage, lastEntries) = (key >> 8, page.entries)
        return page.entries + Int(key & 255)
    }

    @inline(never) private func newEntry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<Entry> {
        let page = Page()
        let table = tables[root] ?? Table()
        tables[root] = table
        table.set(page, key >> 8)
        (lastTable, lastRoot, lastPage, lastEntries) = (table, root, key >> 8, page.entries)
        return page.entries + Int(key & 255)
    }

    /// The row of a key, of whatever age.
    @inline(__always) func row(_ root: Int64, _ key: Int64) -> Row? { slots(root, key).map { Row($0) } }

    /// The slots of that row, which the cache holds.
    @inline(__always) func slots(_ root: Int64, _ key: Int64) -> UnsafeMutableRawPointer? { entry(root, key)?.pointee.slots }

    /// The row of a key unless it is older than so many seconds; any age will do for a negative number.
    func row(_ root: Int64, _ key: Int64, notOlderThan age: TimeInterval) -> Row? {
        guard let entry = entry(root, key), let slots = entry.pointee.slots else { return nil }
        if age >= 0, Double(DispatchTime.now().uptimeNanoseconds &- entry.pointee.time) >= age * 1e9 { return nil }
        return Row(slots)
    }

    func row(_ number: Int64, of origin: RowOrigin, notOlderThan age: TimeInterval) -> Row? {
        row(origin.table, number, notOlderThan: age)
    }

    @inline(__always) func set(_ slots: UnsafeMutableRawPointer, _ root: Int64, _ key: Int64) {
        let entry = entry(root, key) ?? newEntry(root, key)
        slots.keep()
        if let old = entry.pointee.slots { old.giveUp() } else { count += 1 }
        entry.pointee.slots = slots
        entry.pointee.time = now
    }

    /// The row that is there is as the store has it now.
    @inline(__always) func touch(_ root: Int64, _ key: Int64) { entry(root, key)?.pointee.time = now }

    func remove(_ root: Int64, _ key: Int64) {
        guard let entry = entry(root, key) else { return }
        guard let slots = entry.pointee.slots else { return }
        count -= 1
        entry.pointee.slots = nil
        slots.giveUp()
    }

    func removeAll(of root: Int64) {
        (lastTable, lastEntries) = (nil, nil)
        guard let table = tables.removeValue(forKey: root) else { return }
        table.keepPages { page in
            for index in 0..<Int(Self.pageSize) where page.entries[index].slots != nil { count -= 1 }
            return true
        }
    }

    func removeAll() {
        tables = [:]
        (lastTable, lastEntries) = (nil, nil)
        count = 0
        limit = Self.smallestLimit
    }

    /// Gives up what nobody else holds, once there is enough of it.
    ///
    /// - Parameter held: how many rows the caller holds, which need not be looked at.
    func sweep(held: Int = 0) {
        guard count - held > limit else { return }
        (lastTable, lastEntries) = (nil, nil)
        count = 0
        for table in tables.values {
            table.keepPages { page in
                var kept = 0
                for index in 0..<Int(Self.pageSize) {
                    guard let slots = page.entries[index].slots else { continue }
                    if slots.isHeldByCacheAlone {
                        page.entries[index].slots = nil
                        slots.giveUp()
                    } else {
                        kept += 1
                    }
                }
                count += kept
                return kept > 0
            }
        }
        limit = max(Self.smallestLimit, count * 2)
    }
}

extension UnsafeMutableRawPointer {
    /// Holds the row for the cache, which holds each block once for all of its rows.
    @inline(__always) fileprivate func keep() {
        rowBlock._withUnsafeGuaranteedRef { block in
            block.withUnsafeMutablePointerToHeader { header in
                if header.pointee.cachedRows == 0 { _ = Unmanaged.passRetained(block) }
                header.pointee.cachedRows &+= 1
            }
        }
    }

    /// The cache holds the row no longer.
    @inline(__always) fileprivate func giveUp() {
        let block = rowBlock
        let isLast = block._withUnsafeGuaranteedRef { block in
            block.withUnsafeMutablePointerToHeader { header in
                header.pointee.cachedRows &-= 1
                return header.pointee.cachedRows == 0
            }
        }
        if isLast { block.release() }
    }

    /// Whether nobody but the cache holds the block of a row that it has.
    fileprivate var isHeldByCacheAlone: Bool {
        // The cache's own reference, neither counted nor given up.
        var reference = rowBlock.toOpaque()
        return withUnsafeMutableBytes(of: &reference) { isKnownUniquelyReferenced(&$0.assumingMemoryBound(to: RowBlock.self)[0]) }
    }
}
