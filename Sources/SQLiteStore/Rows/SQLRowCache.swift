internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Synchronization

/// Caches the rows that a store has read or saved, while a context uses them and for some time after.
///
/// Rows with the current version are not read again, and their faults fire without a query. The cache does not track the owners of rows: when it has
/// grown enough, rows are removed from blocks that only the cache retains.
///
/// Threads read and insert concurrently without a lock; removed rows are released later, see ``SQLDeferredRelease``. Each inserted row has an
/// epoch: ``epoch`` counts the commits of this store and the detected changes of others. A save increments it before it inserts its rows,
/// so that a row of an older state neither overwrites nor revives one of them.
// The tables are set before the store is used; everything else is atomic, or has its own locks.
final class SQLRowCache: CachedRowProvider, @unchecked Sendable {
    let epoch = Atomic<UInt64>(1)
    let deferredRelease = SQLDeferredRelease()
    /// The tables by root entity number. Retained, and released with the object.
    private(set) var tables: UnsafeMutableBufferPointer<Unmanaged<SQLCacheTable>?> = .init(start: nil, count: 0)
    /// The memory of the pages, and of the blocks of their rows.
    private let bytes = Atomic<Int>(0)
    private(set) var limit = SQLiteOptions.standardCacheLimit
    /// The size in bytes from which the cache is swept.
    private let sweepSize = Atomic<Int>(SQLiteOptions.standardCacheLimit)
    /// The time from which the cache may be swept again without much growth.
    private let sweepTime = Atomic<UInt64>(0)
    private let isSweeping = Atomic<Bool>(false)

    /// Creates tables. Call it before the cache is shared.
    func open(_ roots: Set<Int64>, limit: Int) {
        self.limit = limit
        sweepSize.store(limit, ordering: .relaxed)
        if tables.count > 0 { return }
        tables = .allocate(capacity: Int(roots.max() ?? -1) + 1)
        tables.initialize(repeating: nil)
        for root in roots where root >= 0 { tables[Int(root)] = .passRetained(SQLCacheTable()) }
    }

    deinit {
        removeAll()
        // No readers are left. Releasing objects may release others.
        while true {
            let retired = deferredRelease.takeAll()
            if retired.isEmpty { break }
            release(retired)
        }
        checkNothingIsLeft()
        for table in tables { table?.release() }
        tables.deallocate()
    }

    /// Returns the table of a root entity, which lives as long as the cache.
    @inline(__always) func table(_ root: Int64) -> Unmanaged<SQLCacheTable>? {
        root >= 0 && root < Int64(tables.count) ? tables[Int(root)] : nil
    }

    /// The memory of the cache in bytes, including blocks that others retain too.
    var byteCount: Int { bytes.load(ordering: .relaxed) }

    func count(_ change: Int) { bytes.add(change, ordering: .relaxed) }

    // MARK: Reading

    func row(_ number: Int64, of origin: RowOrigin, maximumAge age: TimeInterval) -> Row? {
        row(origin.table, number, maximumAge: age)
    }

    /// Returns the row with a key unless it is older than `age` seconds; of any age for a negative number.
    func row(_ root: Int64, _ key: Int64, maximumAge age: TimeInterval = -1) -> Row? {
        guard let table = table(root) else { return nil }
        let look = deferredRelease.begin()
        defer { deferredRelease.end(look) }
        guard let page = table._withUnsafeGuaranteedRef({ $0.page(key >> 8) }) else { return nil }
        let entry = page + Int(key & 255)
        guard let slots = SQLCacheEntry.slots(entry.pointee.value.load(ordering: .sequentiallyConsistent)) else { return nil }
        if age >= 0 {
            let time = entry.pointee.time.load(ordering: .relaxed)
            if Double(DispatchTime.now().uptimeNanoseconds &- time) >= age * 1e9 { return nil }
        }
        return Row(slots)
    }

    // MARK: Changes

    /// Increments the epoch, so that rows that were read before a change are not cached after it.
    @discardableResult func advance() -> UInt64 { epoch.add(1, ordering: .sequentiallyConsistent).newValue }

    /// Inserts saved rows, after ``advance()``.
    ///
    /// - Parameter row: Returns the slots and the key of a row by index. The caller retains the blocks.
    @inline(__always) func put(_ root: Int64, _ range: Range<Int>, _ row: (Int) -> (slots: UnsafeMutableRawPointer, key: Int64)) {
        let time = DispatchTime.now().uptimeNanoseconds
        change(root, range) { table, index, page, change in
            let (slots, key) = row(index)
            let entry = table.pointer(key, &page, &change) + Int(key & 255)
            entry.pointee.time.store(time, ordering: .relaxed)
            change.bytes += SlotPointer(slots).keep()
            let old = entry.pointee.value.exchange(UInt(bitPattern: slots), ordering: .sequentiallyConsistent)
            if let old = SQLCacheEntry.slots(old) { change.release(old) }
        }
    }

    /// Removes changed or deleted rows, after ``advance()``.
    @inline(__always) func remove(_ root: Int64, _ range: Range<Int>, _ key: (Int) -> Int64?) {
        change(root, range) { table, index, page, change in
            guard let key = key(index) else { return }
            // Under the lock of the table: an earlier epoch would undo the note of another thread.
            let nothing = SQLCacheEntry.noRow(since: epoch.load(ordering: .sequentiallyConsistent))
            let entry = table.pointer(key, &page, &change) + Int(key & 255)
            let old = entry.pointee.value.exchange(nothing, ordering: .sequentiallyConsistent)
            if let old = SQLCacheEntry.slots(old) { change.release(old) }
        }
    }

    func remove(_ root: Int64, _ key: Int64) { remove(root, 0..<1) { _ in key } }

    /// Changes entries under the lock of their table, in chunks, so that others wait for a moment only.
    @inline(__always) private func change(
        _ root: Int64, _ range: Range<Int>,
        _ body: (SQLCacheTable, Int, inout (number: Int64, entries: UnsafeMutablePointer<SQLCacheEntry>)?, inout SQLCacheChange) -> Void
    ) {
        guard let table = table(root)?.takeUnretainedValue() else { return }
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, start + 500)
            var change = SQLCacheChange()
            var page: (number: Int64, entries: UnsafeMutablePointer<SQLCacheEntry>)?
            table.lock.lock()
            for index in start..<end { body(table, index, &page, &change) }
            checkInvariants(of: table)
            table.lock.unlock()
            finish(change)
            start = end
        }
    }

    /// Removes the rows of a table, after ``advance()``.
    func removeAll(of root: Int64) {
        guard let table = table(root)?.takeUnretainedValue() else { return }
        table.lock.lock()
        let epoch = epoch.load(ordering: .sequentiallyConsistent)
        let (pages, retired) = table.detachAll(since: epoch)
        table.lock.unlock()
        finish(SQLCacheChange(bytes: -pages * SQLCacheEntry.pageBytes, retired: retired))
    }

    /// Removes all rows, after ``advance()``.
    func removeAll() {
        for root in tables.indices { removeAll(of: Int64(root)) }
        releaseReclaimable()
    }

    // MARK: Releasing

    func finish(_ change: SQLCacheChange) {
        if change.bytes != 0 { count(change.bytes) }
        if change.retired.isEmpty { return }
        // At once if possible, while it is in the processor's cache.
        if deferredRelease.isIdle { release(change.retired) } else { deferredRelease.add(change.retired) }
    }

    /// Releases the objects that no reader uses any more.
    func releaseReclaimable() {
        let reclaimable = deferredRelease.takeReclaimable()
        if !reclaimable.isEmpty { release(reclaimable) }
    }

    private func release(_ retired: [SQLDeferredRelease.Retired]) {
        for object in retired {
            switch object {
            case .block(let block): block.release()
            case .directory(let directory): directory.release()
            case .page(let page):
                var change = SQLCacheChange()
                for index in 0..<SQLCacheEntry.pageSize {
                    if let slots = SQLCacheEntry.slots(page[index].value.load(ordering: .sequentiallyConsistent)) { change.release(slots) }
                }
                page.deinitialize(count: SQLCacheEntry.pageSize)
                page.deallocate()
                // Until now, a reader may have found such a block through another page.
                finish(change)
            }
        }
    }

    /// Sweeps the cache once enough memory may be released.
    @inline(__always) func sweepIfLarge() { if byteCount > limit { sweepIfGrown() } }

    @inline(never) private func sweepIfGrown() {
        if byteCount > sweepSize.load(ordering: .relaxed)
            || DispatchTime.now().uptimeNanoseconds > sweepTime.load(ordering: .relaxed)
        {
            sweep()
        }
    }

    /// Sweeps the cache if it is large, without regard to when that was done before.
    func sweepNowIfLarge() { if byteCount > limit { sweep() } }

    /// Removes rows that only the cache retains. One thread sweeps at a time; others continue meanwhile.
    func sweep() {
        guard isSweeping.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged else { return }
        let start = DispatchTime.now().uptimeNanoseconds
        let look = deferredRelease.begin()
        for table in tables {
            guard let table = table?.takeUnretainedValue() else { continue }
            var place = 0
            // The directory first, then the other pages.
            while true {
                let range = place < table.directoryCount ? place..<place + 64 : nil
                var change = SQLCacheChange()
                table.lock.lock()
                // Under the lock: a page that is removed may contain the deletions of a save since the sweep has begun, and rows that were read
                // before those would be cached again.
                let epoch = epoch.load(ordering: .sequentiallyConsistent)
                table.keepPages(range, since: epoch, &change) { Self.sweep($0, epoch, &$1) }
                table.checkInvariants()
                table.lock.unlock()
                finish(change)
                if range == nil { break }
                place += 64
            }
        }
        deferredRelease.end(look)
        releaseReclaimable()
        let end = DispatchTime.now().uptimeNanoseconds
        sweepSize.store(byteCount + limit, ordering: .relaxed)
        // Contexts may release rows before the cache has grown: it is swept again after a while, using at most one part in two hundred of
        // the time.
        sweepTime.store(end &+ max(1_000_000_000, (end &- start) &* 200), ordering: .relaxed)
        isSweeping.store(false, ordering: .sequentiallyConsistent)
    }

    /// Returns whether rows of a page remain.
    private static func sweep(_ page: UnsafeMutablePointer<SQLCacheEntry>, _ epoch: UInt64, _ change: inout SQLCacheChange) -> Bool {
        var kept = 0
        for index in 0..<SQLCacheEntry.pageSize {
            let value = page[index].value.load(ordering: .sequentiallyConsistent)
            guard let slots = SQLCacheEntry.slots(value) else { continue }
            if SlotPointer(slots).isHeldByCacheAlone,
                page[index].value.compareExchange(
                    expected: value, desired: SQLCacheEntry.noRow(since: epoch), ordering: .sequentiallyConsistent
                ).exchanged
            {
                change.release(slots)
            } else {
                kept += 1
            }
        }
        return kept > 0
    }
}

/// The pending work of a change of the cache.
struct SQLCacheChange {
    /// The change of the size in bytes.
    var bytes = 0
    var retired: [SQLDeferredRelease.Retired] = []

    /// Releases the cache's hold on a row.
    @inline(__always) mutating func release(_ slots: UnsafeMutableRawPointer) { release(SlotPointer(slots).block, rows: 1) }

    /// Releases the cache's hold on a number of rows of a block.
    @inline(__always) mutating func release(_ block: Unmanaged<RowBlock>, rows: Int) {
        let size = block._withUnsafeGuaranteedRef { block in
            block.cachedRows.pointee.subtract(rows, ordering: .sequentiallyConsistent).newValue == 0 ? block.byteCount : 0
        }
        if size == 0 { return }
        bytes -= size
        retired.append(.block(block))
    }
}

extension SQLCacheTable {
    /// Returns the page of a key, which is the last one for consecutive keys. Call it under the lock.
    @inline(__always) fileprivate func pointer(
        _ key: Int64, _ page: inout (number: Int64, entries: UnsafeMutablePointer<SQLCacheEntry>)?, _ change: inout SQLCacheChange
    ) -> UnsafeMutablePointer<SQLCacheEntry> {
        if let page, page.number == key >> 8 { return page.entries }
        let entries = pageForWriting(key >> 8, &change)
        page = (key >> 8, entries)
        return entries
    }

    @inline(never) func pageForWriting(_ number: Int64, _ change: inout SQLCacheChange) -> UnsafeMutablePointer<SQLCacheEntry> {
        var isNew = false
        let page = pageForWriting(number, &change.retired, isNew: &isNew)
        if isNew { change.bytes += SQLCacheEntry.pageBytes }
        return page
    }
}

extension SlotPointer {
    /// Retains the row for the cache, which retains each block once for all of its rows.
    ///
    /// - Returns: The additional size in bytes.
    @inline(__always) func keep() -> Int { block.keep(rows: 1) }

    /// Whether only the cache retains the block of a cached row.
    fileprivate var isHeldByCacheAlone: Bool {
        // The cache's own reference, neither retained nor released: the bits of the variable are reinterpreted as a reference.
        var reference = block.toOpaque()
        return withUnsafeMutableBytes(of: &reference) { isKnownUniquelyReferenced(&$0.assumingMemoryBound(to: RowBlock.self)[0]) }
    }
}

extension Unmanaged<RowBlock> {
    /// Adds rows of a block to the cache's count; the caller retains the block.
    ///
    /// - Returns: The additional size in bytes.
    @inline(__always) func keep(rows: Int) -> Int {
        _withUnsafeGuaranteedRef { block in
            guard block.cachedRows.pointee.add(rows, ordering: .relaxed).oldValue == 0 else { return 0 }
            _ = Unmanaged.passRetained(block)
            return block.byteCount
        }
    }
}
