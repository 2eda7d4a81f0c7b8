internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// The cache entry of a row.
struct SQLCacheEntry: ~Copyable {
    /// The slots of a row; or an odd number, which encodes an epoch: a reader of an earlier state must not store a row here.
    let value: Atomic<UInt>
    /// The time at which the row was last known to be current, in nanoseconds of the system's uptime.
    let time: Atomic<UInt64>

    static let pageSize = 256
    static let pageBytes = pageSize * MemoryLayout<SQLCacheEntry>.stride

    /// Creates a page of empty entries, which the caller owns.
    static func makePage(since epoch: UInt64) -> UnsafeMutablePointer<SQLCacheEntry> {
        let page = UnsafeMutablePointer<SQLCacheEntry>.allocate(capacity: pageSize)
        for index in 0..<pageSize {
            (page + index).initialize(to: SQLCacheEntry(value: Atomic(noRow(since: epoch)), time: Atomic(0)))
        }
        return page
    }

    static func noRow(since epoch: UInt64) -> UInt { UInt(truncatingIfNeeded: epoch) << 1 | 1 }

    /// Returns the row of a value. The cache retains its block, which is not released before the last reader is done.
    @inline(__always) static func slots(_ value: UInt) -> UnsafeMutableRawPointer? {
        value & 1 != 0 ? nil : UnsafeMutableRawPointer(bitPattern: value)
    }
}

/// The pages of consecutive keys, by page number.
// Its length is fixed; the pages are atomics. A table owns it, and frees it when no reader uses it any more.
final class SQLPageDirectory: @unchecked Sendable {
    let count: Int
    private let pages: UnsafeMutablePointer<Atomic<UInt>>

    init(count: Int, copying other: SQLPageDirectory?) {
        self.count = count
        pages = .allocate(capacity: count)
        for index in 0..<count { (pages + index).initialize(to: Atomic(0)) }
        guard let other else { return }
        for index in 0..<min(count, other.count) { self[index] = other[index] }
    }

    deinit { pages.deallocate() }

    @inline(__always) subscript(index: Int) -> UnsafeMutablePointer<SQLCacheEntry>? {
        get { UnsafeMutablePointer(bitPattern: pages[index].load(ordering: .sequentiallyConsistent)) }
        set { pages[index].store(UInt(bitPattern: newValue), ordering: .sequentiallyConsistent) }
    }
}

/// The pages of the rows of one table.
///
/// Finding a page takes no lock if keys are close together, which is almost always the case: SQLite assigns them consecutively. The lock is taken to
/// add and remove pages, and by a save that caches its rows, so that none goes to a page that has just been removed.
// `lock` guards `sparse`, `pageCount` and what the directory has; the rest are atomics. It is not a `LockedBox`: readers find pages without it.
final class SQLCacheTable: @unchecked Sendable {
    let lock = Mutex()
    /// The address of a directory that the table has retained. A replaced directory is released once no reader uses it any more, see
    /// ``SQLDeferredRelease``; so is a page.
    private let directory = Atomic<UInt>(0)
    private(set) var sparse: [Int64: UnsafeMutablePointer<SQLCacheEntry>] = [:]
    let hasSparse = Atomic<Bool>(false)
    private(set) var pageCount = 0
    /// The minimum epoch of new pages.
    private var epoch: UInt64 = 1

    @inline(__always) var known: Unmanaged<SQLPageDirectory>? {
        UnsafeRawPointer(bitPattern: directory.load(ordering: .sequentiallyConsistent)).map(Unmanaged.fromOpaque)
    }

    /// Returns the page with a number; nil if there is none. The caller has called ``SQLDeferredRelease/begin()``.
    @inline(__always) func page(_ number: Int64) -> UnsafeMutablePointer<SQLCacheEntry>? {
        if let known {
            let found = known._withUnsafeGuaranteedRef { directory in
                number >= 0 && number < Int64(directory.count) ? directory[Int(number)] : nil
            }
            if let found { return found }
        }
        return hasSparse.load(ordering: .sequentiallyConsistent) ? sparsePage(number) : nil
    }

    @inline(never) private func sparsePage(_ number: Int64) -> UnsafeMutablePointer<SQLCacheEntry>? {
        lock.lock()
        defer { lock.unlock() }
        return sparse[number]
    }

    /// Returns the page with a number, and creates it if needed. Call it under the lock.
    ///
    /// - Parameter retired: Collects the objects to be released later.
    func pageForWriting(_ number: Int64, _ retired: inout [SQLDeferredRelease.Retired], isNew: inout Bool) -> UnsafeMutablePointer<
        SQLCacheEntry
    > {
        if let directory = known?.takeUnretainedValue(), number >= 0, number < Int64(directory.count), let page = directory[Int(number)] {
            return page
        }
        if let page = sparse[number] { return page }
        let page = SQLCacheEntry.makePage(since: epoch)
        isNew = true
        pageCount += 1
        // The directory may have four times as many places as there are pages.
        guard number >= 0, number < Int64(pageCount) * 4 + 64 else {
            sparse[number] = page
            hasSparse.store(true, ordering: .sequentiallyConsistent)
            return page
        }
        room(for: Int(number), &retired)[Int(number)] = page
        return page
    }

    /// Returns a directory with a place for a number, and moves sparse pages to it that it has places for.
    private func room(for number: Int, _ retired: inout [SQLDeferredRelease.Retired]) -> SQLPageDirectory {
        let old = known
        if let old = old?.takeUnretainedValue(), number < old.count { return old }
        let new = SQLPageDirectory(count: max(64, (number + 1) * 2), copying: old?.takeUnretainedValue())
        for number in sparse.keys where number >= 0 && number < Int64(new.count) {
            new[Int(number)] = sparse.removeValue(forKey: number)
        }
        directory.store(UInt(bitPattern: Unmanaged.passRetained(new).toOpaque()), ordering: .sequentiallyConsistent)
        hasSparse.store(!sparse.isEmpty, ordering: .sequentiallyConsistent)
        if let old { retired.append(.directory(old)) }
        return new
    }

    /// The number of places in the directory.
    var directoryCount: Int { known?.takeUnretainedValue().count ?? 0 }

    /// Calls `body` with some of the pages, and removes those for which it returns false. Call it under the lock.
    ///
    /// - Parameters:
    ///   - range: The places in the directory; nil for all other pages.
    ///   - epoch: The current epoch.
    func keepPages(
        _ range: Range<Int>?, since epoch: UInt64, _ change: inout SQLCacheChange,
        where body: (UnsafeMutablePointer<SQLCacheEntry>, inout SQLCacheChange) -> Bool
    ) {
        func remove(_ page: UnsafeMutablePointer<SQLCacheEntry>) {
            self.epoch = max(self.epoch, epoch)
            pageCount -= 1
            change.bytes -= SQLCacheEntry.pageBytes
            change.retired.append(.page(page))
        }
        guard let range else {
            for (number, page) in sparse where !body(page, &change) {
                sparse[number] = nil
                remove(page)
            }
            return hasSparse.store(!sparse.isEmpty, ordering: .sequentiallyConsistent)
        }
        guard let directory = known?.takeUnretainedValue() else { return }
        for index in range.clamped(to: 0..<directory.count) {
            guard let page = directory[index], !body(page, &change) else { continue }
            directory[index] = nil
            remove(page)
        }
    }

    /// Removes all pages. Call it under the lock.
    func detachAll(since epoch: UInt64) -> (pages: Int, retired: [SQLDeferredRelease.Retired]) {
        var retired: [SQLDeferredRelease.Retired] = []
        self.epoch = max(self.epoch, epoch)
        let count = pageCount
        if let old = known {
            let directory = old.takeUnretainedValue()
            for index in 0..<directory.count { if let page = directory[index] { retired.append(.page(page)) } }
            self.directory.store(0, ordering: .sequentiallyConsistent)
            retired.append(.directory(old))
        }
        for page in sparse.values { retired.append(.page(page)) }
        sparse = [:]
        hasSparse.store(false, ordering: .sequentiallyConsistent)
        pageCount = 0
        return (count, retired)
    }
}
