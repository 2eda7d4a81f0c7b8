internal import Foundation
internal import Synchronization

/// The rows that a store has read or saved, as long as a context shows them or they have lately come.
///
/// Rows of equal version need not be read again, and a fault among them fires without a question. It keeps no account of who has a row:
/// when it has grown enough, the rows in blocks that nobody else holds go.
///
/// Threads look and file side by side, without a lock; what they may still be looking at is given up later, see ``SQLGrace``. Whoever files a row
/// says of which state of the store it is: ``epoch`` counts what is committed here or noticed of others. A save counts up first and files its rows
/// then, so that a row of an older state neither overwrites one of its rows nor revives one that it has deleted.
// The tables are set before the store is used; everything else is atomic, or has locks of its own.
final class SQLRowCache: RowsAtHand, @unchecked Sendable {
    let epoch = Atomic<UInt64>(1)
    let grace = SQLGrace()
    /// By the number of the entity at the top of the inheritance. Retained, and released with the object.
    private var tables: UnsafeMutableBufferPointer<Unmanaged<SQLCacheTable>?> = .init(start: nil, count: 0)
    /// How much memory the pages take, and the blocks of the rows in them.
    private let bytes = Atomic<Int>(0)
    private(set) var limit = SQLiteOptions.standardCacheLimit
    /// From how many bytes on it is swept.
    private let sweepSize = Atomic<Int>(SQLiteOptions.standardCacheLimit)
    /// When it may be swept again although it has not grown much.
    private let sweepTime = Atomic<UInt64>(0)
    private let isSweeping = Atomic<Bool>(false)

    /// Makes room for tables. Before anybody else has the cache.
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
        // Nobody looks any more. What is given up may give up others.
        while true {
            let leftovers = grace.takeAll()
            if leftovers.isEmpty { break }
            dispose(leftovers)
        }
        for table in tables { table?.release() }
        tables.deallocate()
    }

    /// The table of an inheritance, which lives as long as the cache.
    @inline(__always) func table(_ root: Int64) -> Unmanaged<SQLCacheTable>? {
        root >= 0 && root < Int64(tables.count) ? tables[Int(root)] : nil
    }

    /// How much memory the cache holds, in bytes, with what others hold as well.
    var byteCount: Int { bytes.load(ordering: .relaxed) }

    func count(_ change: Int) { bytes.add(change, ordering: .relaxed) }

    // MARK: Looking

    func row(_ number: Int64, of origin: RowOrigin, notOlderThan age: TimeInterval) -> Row? {
        row(origin.table, number, notOlderThan: age)
    }

    /// The row of a key unless it is older than so many seconds; any age will do for a negative number.
    func row(_ root: Int64, _ key: Int64, notOlderThan age: TimeInterval = -1) -> Row? {
        guard let table = table(root) else { return nil }
        let look = grace.begin()
        defer { grace.end(look) }
        guard let page = table._withUnsafeGuaranteedRef({ $0.page(key >> 8) }) else { return nil }
        let entry = page + Int(key & 255)
        guard let slots = SQLCacheEntry.slots(entry.pointee.value.load(ordering: .sequentiallyConsistent)) else { return nil }
        if age >= 0 {
            let time = entry.pointee.time.load(ordering: .relaxed)
            if Double(DispatchTime.now().uptimeNanoseconds &- time) >= age * 1e9 { return nil }
        }
        return Row(slots)
    }

    // MARK: What has changed

    /// Counts up the state of the store: what was read before is not filed any more where something has changed.
    @discardableResult func advance() -> UInt64 { epoch.add(1, ordering: .sequentiallyConsistent).newValue }

    /// Files rows that were saved, after ``advance()``.
    ///
    /// - Parameter row: the slots and the key of each index. Somebody holds their blocks.
    @inline(__always) func put(_ root: Int64, _ range: Range<Int>, _ row: (Int) -> (slots: UnsafeMutableRawPointer, key: Int64)) {
        let time = DispatchTime.now().uptimeNanoseconds
        change(root, range) { table, index, page, change in
            let (slots, key) = row(index)
            let entry = table.pointer(key, &page, &change) + Int(key & 255)
            entry.pointee.time.store(time, ordering: .relaxed)
            change.bytes += slots.keep()
            let old = entry.pointee.value.exchange(UInt(bitPattern: slots), ordering: .sequentiallyConsistent)
            if let old = SQLCacheEntry.slots(old) { change.giveUp(old) }
        }
    }

    /// Forgets rows that have changed or are gone, after ``advance()``.
    @inline(__always) func remove(_ root: Int64, _ range: Range<Int>, _ key: (Int) -> Int64?) {
        let nothing = SQLCacheEntry.noRow(since: epoch.load(ordering: .sequentiallyConsistent))
        change(root, range) { table, index, page, change in
            guard let key = key(index) else { return }
            let entry = table.pointer(key, &page, &change) + Int(key & 255)
            let old = entry.pointee.value.exchange(nothing, ordering: .sequentiallyConsistent)
            if let old = SQLCacheEntry.slots(old) { change.giveUp(old) }
        }
    }

    func remove(_ root: Int64, _ key: Int64) { remove(root, 0..<1) { _ in key } }

    /// Changes entries under the lock of their table, so many at a time that others wait for a moment only.
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
            table.lock.unlock()
            finish(change)
            start = end
        }
    }

    /// Forgets the rows of a table, after ``advance()``.
    func removeAll(of root: Int64) {
        guard let table = table(root)?.takeUnretainedValue() else { return }
        let epoch = epoch.load(ordering: .sequentiallyConsistent)
        table.lock.lock()
        let (pages, leftovers) = table.detachAll(since: epoch)
        table.lock.unlock()
        finish(SQLCacheChange(bytes: -pages * SQLCacheEntry.pageBytes, leftovers: leftovers))
    }

    /// Forgets everything, after ``advance()``.
    func removeAll() {
        for root in tables.indices { removeAll(of: Int64(root)) }
        collect()
    }

    // MARK: Giving up

    func finish(_ change: SQLCacheChange) {
        if change.bytes != 0 { count(change.bytes) }
        if change.leftovers.isEmpty { return }
        // At once if possible, while it is near.
        if grace.isIdle { dispose(change.leftovers) } else { grace.add(change.leftovers) }
    }

    /// Gives up what nobody looks at any more.
    func collect() {
        let rested = grace.takeRested()
        if !rested.isEmpty { dispose(rested) }
    }

    private func dispose(_ leftovers: [SQLGrace.Leftover]) {
        for leftover in leftovers {
            switch leftover {
            case .block(let block): block.release()
            case .directory(let directory): directory.release()
            case .page(let page):
                var change = SQLCacheChange()
                for index in 0..<SQLCacheEntry.pageSize {
                    if let slots = SQLCacheEntry.slots(page[index].value.load(ordering: .sequentiallyConsistent)) { change.giveUp(slots) }
                }
                page.deinitialize(count: SQLCacheEntry.pageSize)
                page.deallocate()
                // Another page may have led somebody to such a block until now.
                finish(change)
            }
        }
    }

    /// Gives up what nobody else holds, once there is enough of it.
    @inline(__always) func sweepIfLarge() { if byteCount > limit { sweepIfGrown() } }

    @inline(never) private func sweepIfGrown() {
        if byteCount > sweepSize.load(ordering: .relaxed)
            || DispatchTime.now().uptimeNanoseconds > sweepTime.load(ordering: .relaxed)
        {
            sweep()
        }
    }

    /// Gives up what nobody else holds. One thread does so at a time; others go on meanwhile.
    func sweep() {
        guard isSweeping.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged else { return }
        let start = DispatchTime.now().uptimeNanoseconds
        let look = grace.begin()
        let epoch = epoch.load(ordering: .sequentiallyConsistent)
        for table in tables {
            guard let table = table?.takeUnretainedValue() else { continue }
            var place = 0
            // The directory, and then the rest.
            while true {
                let range = place < table.directoryCount ? place..<place + 64 : nil
                var change = SQLCacheChange()
                table.lock.lock()
                table.keepPages(range, since: epoch, &change) { Self.sweep($0, epoch, &$1) }
                table.lock.unlock()
                finish(change)
                if range == nil { break }
                place += 64
            }
        }
        grace.end(look)
        collect()
        let end = DispatchTime.now().uptimeNanoseconds
        sweepSize.store(byteCount + limit, ordering: .relaxed)
        // What contexts hold may be theirs no longer before the cache has grown: so it is looked at again, in one part of two hundred of the time.
        sweepTime.store(end &+ max(1_000_000_000, (end &- start) &* 200), ordering: .relaxed)
        isSweeping.store(false, ordering: .sequentiallyConsistent)
    }

    /// Whether some rows of a page stay.
    private static func sweep(_ page: UnsafeMutablePointer<SQLCacheEntry>, _ epoch: UInt64, _ change: inout SQLCacheChange) -> Bool {
        var kept = 0
        for index in 0..<SQLCacheEntry.pageSize {
            let value = page[index].value.load(ordering: .sequentiallyConsistent)
            guard let slots = SQLCacheEntry.slots(value) else { continue }
            if slots.isHeldByCacheAlone,
                page[index].value.compareExchange(
                    expected: value, desired: SQLCacheEntry.noRow(since: epoch), ordering: .sequentiallyConsistent
                ).exchanged
            {
                change.giveUp(slots)
            } else {
                kept += 1
            }
        }
        return kept > 0
    }
}

/// What a change of the cache leaves to be done.
struct SQLCacheChange {
    /// How many bytes it has more.
    var bytes = 0
    var leftovers: [SQLGrace.Leftover] = []

    /// The cache holds the row no longer.
    @inline(__always) mutating func giveUp(_ slots: UnsafeMutableRawPointer) { giveUp(slots.rowBlock, rows: 1) }

    /// The cache holds so many rows of a block no longer.
    @inline(__always) mutating func giveUp(_ block: Unmanaged<RowBlock>, rows: Int) {
        let size = block._withUnsafeGuaranteedRef { block in
            block.cachedRows.pointee.subtract(rows, ordering: .sequentiallyConsistent).newValue == 0 ? block.byteCount : 0
        }
        if size == 0 { return }
        bytes -= size
        leftovers.append(.block(block))
    }
}

extension SQLCacheTable {
    /// The page of a key, which is the last one for keys that come in order. Under the lock.
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
        let page = pageForWriting(number, &change.leftovers, isNew: &isNew)
        if isNew { change.bytes += SQLCacheEntry.pageBytes }
        return page
    }
}

extension UnsafeMutableRawPointer {
    /// Holds the row for the cache, which holds each block once for all of its rows.
    ///
    /// - Returns: how many bytes it has more.
    @inline(__always) func keep() -> Int { rowBlock.keep(rows: 1) }

    /// Whether nobody but the cache holds the block of a row that it has.
    fileprivate var isHeldByCacheAlone: Bool {
        // The cache's own reference, neither counted nor given up.
        var reference = rowBlock.toOpaque()
        return withUnsafeMutableBytes(of: &reference) { isKnownUniquelyReferenced(&$0.assumingMemoryBound(to: RowBlock.self)[0]) }
    }
}

extension Unmanaged<RowBlock> {
    /// The cache holds so many rows more. Somebody holds the block.
    ///
    /// - Returns: how many bytes it has more.
    @inline(__always) func keep(rows: Int) -> Int {
        _withUnsafeGuaranteedRef { block in
            guard block.cachedRows.pointee.add(rows, ordering: .relaxed).oldValue == 0 else { return 0 }
            _ = Unmanaged.passRetained(block)
            return block.byteCount
        }
    }
}
