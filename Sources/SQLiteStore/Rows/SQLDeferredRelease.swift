internal import CoreDataRuntime
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// Defers the release of objects removed from a cache until no reader can be using them, so that reads take no lock.
///
/// A reader increments a counter, one of several, so that threads do not contend for one. A removed object waits until each counter was
/// seen at zero once: readers that began later cannot have found it.
// The counters are atomics; `lock` guards the rest. It is not a `LockedBox`: every save and fetch passes here.
final class SQLDeferredRelease: @unchecked Sendable {
    /// An object removed from a cache.
    enum Retired {
        case block(Unmanaged<RowBlock>)
        case page(UnsafeMutablePointer<SQLCacheEntry>)
        case directory(Unmanaged<SQLPageDirectory>)
    }

    private static let stripes = 16
    /// The distance of counters in bytes, which prevents false sharing.
    private static let distance = 64
    /// Two counters for each stripe: new reads use one of them while the other drains. Owned, and freed with the object.
    private let counters: UnsafeMutableRawPointer
    private let kind = Atomic<Int>(0)
    private let lock = Mutex()
    /// Whether objects are waiting.
    private let waits = Atomic<Bool>(false)
    /// The objects that will wait next.
    private var retired: [Retired] = []
    /// The objects that wait for the counters in `unseen`, as bits.
    private var waiting: [Retired] = []
    private var unseen: UInt32 = 0

    init() {
        counters = .allocate(byteCount: 2 * Self.stripes * Self.distance, alignment: Self.distance)
        for index in 0..<2 * Self.stripes {
            (counters + index * Self.distance).bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(0))
        }
    }

    deinit {
        InternalChecks.require(
            isIdle && retired.isEmpty && waiting.isEmpty, "a cache goes while somebody looks, or with something to give up")
        counters.deallocate()
    }

    /// A counter, which the initializer has made: `index` is one of twice the number of stripes.
    @inline(__always) private func counter(_ index: Int) -> UnsafeMutablePointer<Atomic<Int>> {
        (counters + index &* Self.distance).assumingMemoryBound(to: Atomic<Int>.self)
    }

    /// Begins a read.
    ///
    /// - Returns: The argument for ``end(_:)``.
    @inline(__always) func begin() -> Int {
        // The threads' addresses differ in their upper bits.
        let stripe = Int(truncatingIfNeeded: (UInt64(coredata_thread()) &* 0x9E37_79B9_7F4A_7C15) >> 60)
        let index = kind.load(ordering: .relaxed) &* Self.stripes &+ stripe
        counter(index).pointee.add(1, ordering: .sequentiallyConsistent)
        return index
    }

    @inline(__always) func end(_ index: Int) { counter(index).pointee.subtract(1, ordering: .sequentiallyConsistent) }

    /// Whether no earlier read is still running: objects that no reader has found can then be released at once.
    var isIdle: Bool {
        for index in 0..<2 * Self.stripes where counter(index).pointee.load(ordering: .sequentiallyConsistent) != 0 { return false }
        return true
    }

    /// Adds removed objects.
    func add(_ objects: [Retired]) {
        if objects.isEmpty { return }
        lock.lock()
        retired += objects
        waits.store(true, ordering: .relaxed)
        lock.unlock()
    }

    /// Returns the objects that no reader uses any more, for the caller to release without a lock.
    func takeReclaimable() -> [Retired] {
        if !waits.load(ordering: .relaxed) { return [] }
        lock.lock()
        defer { lock.unlock() }
        var reclaimable: [Retired] = []
        // First the objects that were waiting, then those added meanwhile.
        for _ in 0..<2 {
            if unseen == 0 {
                if retired.isEmpty { break }
                (waiting, retired) = (retired, [])
                unseen = .max
                turn()
            }
            for index in 0..<2 * Self.stripes
            where unseen & (1 << UInt32(index)) != 0 && counter(index).pointee.load(ordering: .sequentiallyConsistent) == 0 {
                unseen &= ~(1 << UInt32(index))
            }
            if unseen != 0 {
                // The counters in use may never be seen at zero.
                let used: UInt32 = kind.load(ordering: .relaxed) == 0 ? 0xFFFF : 0xFFFF_0000
                if unseen & ~used == 0 { turn() }
                break
            }
            reclaimable += waiting
            waiting = []
        }
        waits.store(!waiting.isEmpty || !retired.isEmpty, ordering: .relaxed)
        return reclaimable
    }

    private func turn() { kind.store(1 - kind.load(ordering: .relaxed), ordering: .relaxed) }

    /// Returns all waiting objects, when there are no readers left.
    func takeAll() -> [Retired] {
        lock.lock()
        defer { lock.unlock() }
        defer { (waiting, retired, unseen) = ([], [], 0) }
        return waiting + retired
    }
}
