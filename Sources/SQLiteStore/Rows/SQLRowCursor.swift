internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Synchronization

/// Reads and inserts cached rows for one reader: rows are mostly in the order of their keys, so the last page often serves the next row.
// Used by the thread that has its reader.
final class SQLRowCursor {
    private let cache: SQLRowCache
    private var depth = 0
    private var look = 0
    /// The table of the last page, retained by the cache.
    @exclusivity(unchecked) private var table: Unmanaged<SQLCacheTable>?
    @exclusivity(unchecked) private var root: Int64 = -1
    @exclusivity(unchecked) private var number: Int64 = 0
    @exclusivity(unchecked) private var entries: UnsafeMutablePointer<SQLCacheEntry>?
    /// The block of the last inserted rows, and the number of its rows retained in advance: from the second row on for many at once, so
    /// that each need not be counted.
    @exclusivity(unchecked) private var block: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var surplus = 0
    private static let many = 1 << 40
    /// The epoch of the state being read, or an older one; 0 for uncommitted changes, which are not inserted.
    @exclusivity(unchecked) var epoch: UInt64 = 0
    /// The time for newly read rows, in nanoseconds of the system's uptime.
    @exclusivity(unchecked) private(set) var now: UInt64 = 0

    init(_ cache: SQLRowCache) { self.cache = cache }

    /// Updates the time for the rows read from here on.
    func noteTime() { now = DispatchTime.now().uptimeNanoseconds }

    /// Begins to read. Calls may be nested.
    func begin() {
        depth += 1
        if depth == 1 { look = cache.deferredRelease.begin() }
    }

    func end() {
        depth -= 1
        if depth > 0 { return }
        var change = SQLCacheChange()
        flushCount(&change)
        entries = nil
        cache.deferredRelease.end(look)
        cache.finish(change)
        cache.releaseReclaimable()
    }

    /// Returns the entry of a key; nil if there is no page for it.
    @inline(__always) private func entry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<SQLCacheEntry>? {
        if let entries, number == key >> 8, self.root == root { return entries + Int(key & 255) }
        return farEntry(root, key)
    }

    @inline(never) private func farEntry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<SQLCacheEntry>? {
        if self.root != root { (table, self.root, entries) = (cache.table(root), root, nil) }
        guard let page = table?._withUnsafeGuaranteedRef({ $0.page(key >> 8) }) else { return nil }
        (number, entries) = (key >> 8, page)
        return page + Int(key & 255)
    }

    @inline(never) private func newEntry(_ root: Int64, _ key: Int64) -> UnsafeMutablePointer<SQLCacheEntry>? {
        guard let table = table?.takeUnretainedValue() else { return nil }
        var change = SQLCacheChange()
        table.lock.lock()
        let page = table.pageForWriting(key >> 8, &change)
        table.lock.unlock()
        cache.finish(change)
        (number, entries) = (key >> 8, page)
        return page + Int(key & 255)
    }

    /// Returns the slots of a row of any age, which are valid until ``end()``.
    @inline(__always) func slots(_ root: Int64, _ key: Int64) -> UnsafeMutableRawPointer? {
        guard let entry = entry(root, key) else { return nil }
        return SQLCacheEntry.slots(entry.pointee.value.load(ordering: .sequentiallyConsistent))
    }

    /// Returns the row with a key unless it is older than `age` seconds; of any age for a negative number.
    func row(_ root: Int64, _ key: Int64, maximumAge age: TimeInterval = -1) -> Row? {
        guard let slots = slots(root, key), let entry = entry(root, key) else { return nil }
        if age >= 0 {
            let time = entry.pointee.time.load(ordering: .relaxed)
            if Double(DispatchTime.now().uptimeNanoseconds &- time) >= age * 1e9 { return nil }
        }
        return Row(slots)
    }

    /// Marks the cached row as current.
    @inline(__always) func touch(_ root: Int64, _ key: Int64) {
        guard let entry = entry(root, key) else { return }
        // Threads that read the same rows concurrently do not disturb each other: the age of a row need not be exact.
        if now > entry.pointee.time.load(ordering: .relaxed) &+ Self.exactness { entry.pointee.time.store(now, ordering: .relaxed) }
    }
    private static let exactness: UInt64 = 1_000_000

    /// Inserts a row that was read, unless there is a newer one. The caller retains its block.
    @inline(__always) func set(_ slots: UnsafeMutableRawPointer, _ root: Int64, _ key: Int64) {
        if epoch == 0 { return }
        guard let entry = entry(root, key) ?? newEntry(root, key) else { return }
        let old = entry.pointee.value.load(ordering: .sequentiallyConsistent)
        if let other = SQLCacheEntry.slots(old) {
            // Versions increase, unless others have replaced the file by an older one.
            if SlotPointer(other).prefix.pointee.version >= SlotPointer(slots).prefix.pointee.version,
                cache.epoch.load(ordering: .sequentiallyConsistent) != epoch
            {
                return
            }
        } else if UInt64(old >> 1) > epoch {
            return
        }
        let block = SlotPointer(slots).block
        if block.toOpaque() != self.block { start(block) } else if surplus == 0 { hold(block, rows: Self.many) }
        entry.pointee.time.store(now, ordering: .relaxed)
        let (isFiled, _) = entry.pointee.value.compareExchange(
            expected: old, desired: UInt(bitPattern: slots), ordering: .sequentiallyConsistent)
        // Another thread was faster, with the same row or a newer one.
        if !isFiled { return }
        surplus &-= 1
        if let other = SQLCacheEntry.slots(old) { release(other) }
    }

    @inline(never) private func release(_ slots: UnsafeMutableRawPointer) {
        var change = SQLCacheChange()
        change.release(slots)
        cache.finish(change)
    }

    /// Begins with the rows of another block.
    @inline(never) private func start(_ block: Unmanaged<RowBlock>) {
        var change = SQLCacheChange()
        flushCount(&change)
        cache.finish(change)
        self.block = block.toOpaque()
        hold(block, rows: 1)
    }

    private func hold(_ block: Unmanaged<RowBlock>, rows: Int) {
        let bytes = block.keep(rows: rows)
        surplus = rows
        if bytes > 0 { cache.count(bytes) }
    }

    /// Counts the inserted rows. Rows that other threads have removed meanwhile are counted already.
    private func flushCount(_ change: inout SQLCacheChange) {
        guard let block else { return }
        if surplus > 0 { change.release(Unmanaged<RowBlock>.fromOpaque(block), rows: surplus) }
        (self.block, surplus) = (nil, 0)
    }
}
