internal import CoreDataRuntime
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Synchronization

/// The pool of readers for concurrent reads of a file.
///
/// Readers are opened when they are first needed. If all of them are in use, the caller waits. A thread that already has a reader gets the same one
/// again.
// `condition`, which threads wait for and which is therefore not a `LockedBox`, guards `opened`; the places are atomics, and a place's reader belongs
// to the thread that occupies the place.
final class SQLReaderPool: @unchecked Sendable {
    /// The owner of a reader. Places are far enough apart to prevent false sharing.
    private struct Place: ~Copyable {
        /// The thread that has the reader; 0 while it is free.
        let owner = Atomic<UInt>(SQLReaderPool.unopened)
        /// The thread that had it last, whose processor cache may contain the reader's memory.
        let last = Atomic<UInt>(0)
        private let distance: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
    }
    private static let unopened = UInt.max
    private let size: Int
    // Owned, and freed with the object.
    private let places: UnsafeMutablePointer<Place>
    private let readers: UnsafeMutablePointer<SQLReader?>
    private let condition = NSCondition()
    private let waiting = Atomic<Int>(0)
    private var opened = 0
    private let isClosed = Atomic<Bool>(false)
    private let open: () throws -> SQLReader?

    /// The error when there is no reader and none can be opened.
    struct NoReader: Error {}

    /// The default number of readers on this machine.
    static let standardSize = max(2, min(8, ProcessInfo.processInfo.activeProcessorCount))

    /// - Parameter open: Opens a reader; returns nil if no more can be opened.
    init(size: Int = standardSize, open: @escaping () throws -> SQLReader?) {
        self.open = open
        self.size = size
        places = .allocate(capacity: size)
        readers = .allocate(capacity: size)
        readers.initialize(repeating: nil, count: size)
        for index in 0..<size { (places + index).initialize(to: Place()) }
    }

    deinit {
        readers.deinitialize(count: size)
        readers.deallocate()
        places.deinitialize(count: size)
        places.deallocate()
    }

    /// The number of open readers.
    var count: Int { condition.withLock { opened } }

    /// Whether a reader was opened.
    var isOpened: Bool { places[0].owner.load(ordering: .relaxed) != Self.unopened }

    // MARK: Lending

    /// Calls `body` with a reader.
    ///
    /// - Throws: The errors of opening a reader, ``NoReader``, and `closed()` once the pool is closed.
    func with<Result>(closed: () -> any Error, _ body: (SQLReader) throws -> Result) throws -> Result {
        let thread = coredata_thread()
        var known = -1
        for index in 0..<size where places[index].owner.load(ordering: .relaxed) == thread { known = index }
        if known >= 0, let reader = readers[known] {
            // A statement that an outer caller is stepping keeps its state: later saves are visible to another reader only. A thread that
            // has a reader does not wait for another, which could deadlock.
            guard reader.isOutdated, reader.connection.isReading else { return try reader.use(body) }
            guard let other = free(thread) else { return try (open() ?? reader).use(body) }
            defer { give(other) }
            return try readers[other].known("a place that is given has a reader").use(body)
        }
        guard let index = try free(thread) ?? waitForFree(thread) else { throw closed() }
        defer { give(index) }
        return try readers[index].known("a place that is given has a reader").use(body)
    }

    /// Calls `body` with the reader of a place unless it is in use. Returns true if it was called, or if there is no reader any more.
    func withFree(_ index: Int, _ body: (SQLReader) -> Void) -> Bool {
        if places[index].owner.load(ordering: .sequentiallyConsistent) == Self.unopened { return true }
        guard take(index, coredata_thread()) else { return false }
        defer { give(index) }
        if let reader = readers[index] { body(reader) }
        return true
    }

    private func take(_ index: Int, _ thread: UInt) -> Bool {
        guard places[index].owner.load(ordering: .relaxed) == 0 else { return false }
        return places[index].owner.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent).exchanged
    }

    private func free(_ thread: UInt) -> Int? {
        for index in 0..<size where places[index].last.load(ordering: .relaxed) == thread && take(index, thread) { return index }
        for index in 0..<size where take(index, thread) {
            places[index].last.store(thread, ordering: .relaxed)
            return index
        }
        return nil
    }

    /// Returns a free reader, and opens one if needed; nil if the pool is closed.
    private func waitForFree(_ thread: UInt) throws -> Int? {
        condition.lock()
        defer { condition.unlock() }
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer { waiting.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            if isClosed.load(ordering: .sequentiallyConsistent) { return nil }
            if let index = free(thread) { return index }
            if opened < size, let reader = try open() {
                let index = opened
                reader.place = index
                readers[index] = reader
                opened += 1
                places[index].last.store(thread, ordering: .relaxed)
                places[index].owner.store(thread, ordering: .sequentiallyConsistent)
                return index
            }
            if opened == 0 { throw NoReader() }
            condition.wait()
        }
    }

    private func give(_ index: Int) {
        if isClosed.load(ordering: .sequentiallyConsistent) {
            readers[index] = nil
            places[index].owner.store(Self.unopened, ordering: .sequentiallyConsistent)
        } else {
            places[index].owner.store(0, ordering: .sequentiallyConsistent)
        }
        if waiting.load(ordering: .sequentiallyConsistent) == 0 { return }
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    // MARK: Closing

    /// Waits for readers in use, and closes all. Those of the calling thread are closed when they are returned.
    func close() {
        let thread = coredata_thread()
        isClosed.store(true, ordering: .sequentiallyConsistent)
        condition.lock()
        defer { condition.unlock() }
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer { waiting.subtract(1, ordering: .sequentiallyConsistent) }
        condition.broadcast()
        for index in 0..<opened {
            while true {
                let owner = places[index].owner.load(ordering: .sequentiallyConsistent)
                if owner == Self.unopened || owner == thread { break }
                if take(index, thread) {
                    readers[index]?.endFaultSeries()
                    readers[index] = nil
                    places[index].owner.store(Self.unopened, ordering: .sequentiallyConsistent)
                    break
                }
                condition.wait()
            }
        }
    }
}
