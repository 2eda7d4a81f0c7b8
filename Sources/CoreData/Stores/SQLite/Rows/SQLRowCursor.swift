internal import Foundation
internal import Synchronization

/// Looks for rows in the cache and files what is read, for one reader: rows mostly come in the order of their keys, so that the page asked for last
/// serves the next as well.
// Used by who has the reader that it belongs to.
final class SQLRowCursor {
    private let cache: SQLRowCache
    private var depth = 0
    private var look = 0
    /// Whose pages were asked for last; the cache holds it.
    @exclusivity(unchecked) private var table: Unmanaged<SQLCacheTable>?
    @exclusivity(unchecked) private var root: Int64 = -1
    @exclusivity(unchecked) private var number: Int64 = 0
    @exclusivity(unchecked) private var entries: UnsafeMutablePointer<SQLCacheEntry>?
    /// The block of the rows filed last, and for how many rows it is held that are not filed yet: from the second one on for a great many, so that
    /// not each has to be counted.
    @exclusivity(unchecked) private var block: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var surplus = 0
    private static let many = 1 << 40
    /// The state of the store that is read, or an older one; 0 for one that nobody else may see: nothing is filed then.
    @exclusivity(unchecked) var epoch: UInt64 = 0
    /// The time that rows get which come now, in nanoseconds of the system's uptime.
    @exclusivity(unchecked) private(set) var now: UInt64 = 0

    init(_ cache: SQLRowCache) { self.cache = cache }

    /// Rows come from here on.
    func noteTime() { now = DispatchTime.now().uptimeNanoseconds }

    /// Begins to look. Calls may be nested.
    func begin() {
        depth += 1
        if depth == 1 { look = cache.grace.begin() }
    }

    func end() {
        depth -= 1
        if depth > 0 { return }
        var change = SQLCacheChange()
        settle(&change)
        entries = nil
        cache.grace.end(look)
        cache.finish(change)
        cache.collect()
    }

    /// The entry of a key; nil where there is no page for it.
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

    /// The slots of a row of whatever age, which stay until ``end()``.
    @inline(__always) func slots(_ root: Int64, _ key: Int64) -> UnsafeMutableRawPointer? {
        guard let entry = entry(root, key) else { return nil }
        return SQLCacheEntry.slots(entry.pointee.value.load(ordering: .sequentiallyConsistent))
    }

    /// The row of a key unless it is older than so many seconds; any age will do for a negative number.
    func row(_ root: Int64, _ key: Int64, notOlderThan age: TimeInterval = -1) -> Row? {
        guard let slots = slots(root, key), let entry = entry(root, key) else { return nil }
        if age >= 0 {
            let time = entry.pointee.time.load(ordering: .relaxed)
            if Double(DispatchTime.now().uptimeNanoseconds &- time) >= age * 1e9 { return nil }
        }
        return Row(slots)
    }

    /// The row that is there is as the store has it now.
    @inline(__always) func touch(_ root: Int64, _ key: Int64) { entry(root, key)?.pointee.time.store(now, ordering: .relaxed) }

    /// Files a row that was read, unless something newer is there. Somebody holds its block.
    @inline(__always) func set(_ slots: UnsafeMutableRawPointer, _ root: Int64, _ key: Int64) {
        if epoch == 0 { return }
        guard let entry = entry(root, key) ?? newEntry(root, key) else { return }
        let old = entry.pointee.value.load(ordering: .sequentiallyConsistent)
        if let other = SQLCacheEntry.slots(old) {
            // Versions count up, unless others have put an older file in the place of this one.
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
        // Another was quicker, with the same row or a newer one.
        if !isFiled { return }
        surplus &-= 1
        if let other = SQLCacheEntry.slots(old) { giveUp(other) }
    }

    @inline(never) private func giveUp(_ slots: UnsafeMutableRawPointer) {
        var change = SQLCacheChange()
        change.giveUp(slots)
        cache.finish(change)
    }

    /// The next rows come from another block.
    @inline(never) private func start(_ block: Unmanaged<RowBlock>) {
        var change = SQLCacheChange()
        settle(&change)
        cache.finish(change)
        self.block = block.toOpaque()
        hold(block, rows: 1)
    }

    private func hold(_ block: Unmanaged<RowBlock>, rows: Int) {
        let bytes = block.keep(rows: rows)
        surplus = rows
        if bytes > 0 { cache.count(bytes) }
    }

    /// Counts the rows that were filed. Those that others have removed meanwhile are counted already.
    private func settle(_ change: inout SQLCacheChange) {
        guard let block else { return }
        if surplus > 0 { change.giveUp(Unmanaged<RowBlock>.fromOpaque(block), rows: surplus) }
        (self.block, surplus) = (nil, 0)
    }
}
