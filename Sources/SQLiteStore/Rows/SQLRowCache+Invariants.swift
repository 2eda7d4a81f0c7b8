internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Synchronization

extension SQLCacheTable {
    /// Returns the violated invariants of the table; empty if there are none. Call it under the table's lock, as a registered reader.
    ///
    /// Each page is in one place, the count is that of the pages, and readers know whether some pages lie outside of the directory. An entry has the
    /// row of its key, in a block that is counted as the cache's.
    ///
    /// - Parameter chosen: Whether the entries of a page are checked, by its number.
    func invariantViolations(_ chosen: (Int64) -> Bool = { _ in true }) -> [String] {
        var violations: [String] = []
        var pages = sparse
        if let directory = known?.takeUnretainedValue() {
            for index in 0..<directory.count {
                guard let page = directory[index] else { continue }
                if pages.updateValue(page, forKey: Int64(index)) != nil { violations.append("the page \(index) is there twice") }
            }
        }
        if pages.count != pageCount { violations.append("\(pageCount) pages are counted, \(pages.count) are there") }
        if Set(pages.values).count != pages.count { violations.append("a page has two numbers") }
        if hasSparse.load(ordering: .sequentiallyConsistent) == sparse.isEmpty {
            violations.append("\(sparse.count) pages are outside of the directory, which readers do not know")
        }
        for (number, page) in pages where chosen(number) {
            for index in 0..<SQLCacheEntry.pageSize {
                violations += SQLCacheEntry.violations(of: page + index, key: number << 8 | Int64(index))
            }
        }
        return violations
    }

    /// Stops the program if the table violates its invariants, and if the checks are on. Call it under the table's lock, as a registered reader.
    @inline(__always) func checkInvariants() {
        #if COREDATA_INTERNAL_CHECKS
        // The entries of some of the pages, or of all if there are few.
        let count = max(1, pageCount)
        if InternalChecks.isDue(max(directoryCount, count)) {
            InternalChecks.enforce(invariantViolations { _ in count <= 2 || Int.random(in: 0..<count) == 0 })
        }
        #endif
    }
}

extension SQLCacheEntry {
    /// Returns the violated invariants of an entry, which other threads may change meanwhile.
    fileprivate static func violations(of entry: UnsafeMutablePointer<SQLCacheEntry>, key: Int64) -> [String] {
        let value = entry.pointee.value.load(ordering: .sequentiallyConsistent)
        guard let slots = slots(value) else { return value == 0 ? ["the entry \(key) has no state"] : [] }
        // A registered reader keeps the block alive, even if another thread removes the row meanwhile.
        let (number, cached, isFromStore) = Row.with(slots) { row in
            (
                SlotPointer(slots).prefix.pointee.number, row.block.cachedRows.pointee.load(ordering: .sequentiallyConsistent),
                row.block.origin != nil
            )
        }
        guard entry.pointee.value.load(ordering: .sequentiallyConsistent) == value else { return [] }
        var violations: [String] = []
        if isFromStore, number != key { violations.append("the entry \(key) has the row \(number)") }
        if cached < 1 { violations.append("the entry \(key) has a row of a block of which the cache has \(cached)") }
        return violations + Row.with(slots) { $0.invariantViolations }
    }
}

extension SQLRowCache {
    /// The violated invariants of the cache, while no thread caches rows; empty if there are none.
    ///
    /// In addition to those of its tables: each block has been counted for as many rows as there are, and the bytes are those of the pages and
    /// blocks.
    var invariantViolations: [String] {
        var violations: [String] = []
        var rows: [UnsafeMutableRawPointer: Int] = [:]
        var bytes = 0
        let look = deferredRelease.begin()
        defer { deferredRelease.end(look) }
        for table in tables {
            guard let table = table?.takeUnretainedValue() else { continue }
            table.lock.lock()
            violations += table.invariantViolations()
            bytes += table.pageCount * SQLCacheEntry.pageBytes
            for page in table.pages {
                for index in 0..<SQLCacheEntry.pageSize {
                    guard let slots = SQLCacheEntry.slots(page[index].value.load(ordering: .sequentiallyConsistent)) else { continue }
                    rows[SlotPointer(slots).block.toOpaque(), default: 0] += 1
                }
            }
            table.lock.unlock()
        }
        for (block, count) in rows {
            Unmanaged<RowBlock>.fromOpaque(block)._withUnsafeGuaranteedRef { block in
                let cached = block.cachedRows.pointee.load(ordering: .sequentiallyConsistent)
                if cached != count { violations.append("a block is counted for \(cached) rows, \(count) are there") }
                bytes += block.byteCount
            }
        }
        if byteCount != bytes { violations.append("\(byteCount) bytes are counted, the cache has \(bytes)") }
        return violations
    }

    /// Stops the program if a table violates its invariants, and if the checks are on. Call it under the table's lock.
    @inline(__always) func checkInvariants(of table: SQLCacheTable) {
        #if COREDATA_INTERNAL_CHECKS
        let look = deferredRelease.begin()
        table.checkInvariants()
        deferredRelease.end(look)
        #endif
    }

    /// Stops the program if a cache that is released still holds bytes, and if the checks are on.
    @inline(__always) func checkNothingIsLeft() { InternalChecks.require(byteCount == 0, "a cache goes with \(byteCount) bytes") }
}

extension SQLCacheTable {
    /// All pages. Under the lock.
    fileprivate var pages: [UnsafeMutablePointer<SQLCacheEntry>] {
        let directory = known?.takeUnretainedValue()
        return Array(sparse.values) + (0..<(directory?.count ?? 0)).compactMap { directory?[$0] }
    }
}
