internal import CoreDataRuntime
internal import Foundation
internal import Synchronization

/// Keeps what a cache has given up until nobody can be looking at it any more, so that looking takes no lock.
///
/// Whoever looks says so in a counter, one of several, so that threads do not meet at one. What is given up waits until each counter has been
/// seen at zero once: whoever began to look later cannot have found it.
// The counters are atomics; `lock` guards the rest. It is no box: every save and fetch passes here.
final class SQLGrace: @unchecked Sendable {
    /// What a cache has let go of.
    enum Leftover {
        case block(Unmanaged<RowBlock>)
        case page(UnsafeMutablePointer<SQLCacheEntry>)
        case directory(Unmanaged<SQLPageDirectory>)
    }

    private static let stripes = 16
    /// So many bytes apart, threads that count do not disturb each other.
    private static let distance = 64
    /// Two counters for each stripe: new looks use one kind while the other comes to rest. Owned, and freed with the object.
    private let counters: UnsafeMutableRawPointer
    private let kind = Atomic<Int>(0)
    private let lock = Mutex()
    /// Whether something waits.
    private let waits = Atomic<Bool>(false)
    /// What is to wait next.
    private var young: [Leftover] = []
    /// What waits for the counters in `unseen`, as bits.
    private var old: [Leftover] = []
    private var unseen: UInt32 = 0

    init() {
        counters = .allocate(byteCount: 2 * Self.stripes * Self.distance, alignment: Self.distance)
        for index in 0..<2 * Self.stripes {
            (counters + index * Self.distance).bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(0))
        }
    }

    deinit {
        InternalChecks.require(isIdle && young.isEmpty && old.isEmpty, "a cache goes while somebody looks, or with something to give up")
        counters.deallocate()
    }

    /// A counter, which the initializer has made: `index` is one of twice the number of stripes.
    @inline(__always) private func counter(_ index: Int) -> UnsafeMutablePointer<Atomic<Int>> {
        (counters + index &* Self.distance).assumingMemoryBound(to: Atomic<Int>.self)
    }

    /// Begins to look.
    ///
    /// - Returns: what ``end(_:)`` is to be given.
    @inline(__always) func begin() -> Int {
        // The threads' addresses differ in their upper bits.
        let stripe = Int(truncatingIfNeeded: (UInt64(coredata_thread()) &* 0x9E37_79B9_7F4A_7C15) >> 60)
        let index = kind.load(ordering: .relaxed) &* Self.stripes &+ stripe
        counter(index).pointee.add(1, ordering: .sequentiallyConsistent)
        return index
    }

    @inline(__always) func end(_ index: Int) { counter(index).pointee.subtract(1, ordering: .sequentiallyConsistent) }

    /// Whether nobody looks who may have begun before: what nobody could find until then can be given up at once.
    var isIdle: Bool {
        for index in 0..<2 * Self.stripes where counter(index).pointee.load(ordering: .sequentiallyConsistent) != 0 { return false }
        return true
    }

    /// Takes what nobody can find any more.
    func add(_ leftovers: [Leftover]) {
        if leftovers.isEmpty { return }
        lock.lock()
        young += leftovers
        waits.store(true, ordering: .relaxed)
        lock.unlock()
    }

    /// What nobody looks at any more. Whoever takes it gives it up, without a lock.
    func takeRested() -> [Leftover] {
        if !waits.load(ordering: .relaxed) { return [] }
        lock.lock()
        defer { lock.unlock() }
        var rested: [Leftover] = []
        // What has waited, and then what has come meanwhile.
        for _ in 0..<2 {
            if unseen == 0 {
                if young.isEmpty { break }
                (old, young) = (young, [])
                unseen = .max
                turn()
            }
            for index in 0..<2 * Self.stripes
            where unseen & (1 << UInt32(index)) != 0 && counter(index).pointee.load(ordering: .sequentiallyConsistent) == 0 {
                unseen &= ~(1 << UInt32(index))
            }
            if unseen != 0 {
                // Those of the kind in use may never be seen at rest.
                let used: UInt32 = kind.load(ordering: .relaxed) == 0 ? 0xFFFF : 0xFFFF_0000
                if unseen & ~used == 0 { turn() }
                break
            }
            rested += old
            old = []
        }
        waits.store(!old.isEmpty || !young.isEmpty, ordering: .relaxed)
        return rested
    }

    private func turn() { kind.store(1 - kind.load(ordering: .relaxed), ordering: .relaxed) }

    /// Everything that waits, when nobody is left.
    func takeAll() -> [Leftover] {
        lock.lock()
        defer { lock.unlock() }
        defer { (old, young, unseen) = ([], [], 0) }
        return old + young
    }
}
