internal import Foundation

/// Finds the registered object of an identity: an open-addressed hash table keyed by ``NSManagedObjectID/key`` that does not retain its
/// objects.
///
/// Keys are mostly dense, because stores number their rows consecutively. Groups of eight consecutive keys share two cache lines, and the
/// groups are scattered; a plain identity hash would form one cluster and make deletion quadratic. Several objects may share a key; the
/// caller distinguishes them. Not synchronized: ``ObjectRegistry`` guards it.
struct IdentityMap: ~Copyable {
    struct Entry {
        var key: Int64
        var object: UnsafeMutableRawPointer?
    }

    // Owned: allocated here and by `grow(to:)`, freed there and with the map. It has `mask + 1` entries, all initialized, and every index below is
    // masked. The objects are not retained: each leaves the map, under the registry's lock, before its memory is freed.
    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        entries = Self.allocate(16)
    }

    deinit { entries.deallocate() }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
        return entries
    }

    @inline(__always) static func home(_ key: Int64, _ mask: Int) -> Int {
        let group = Int(truncatingIfNeeded: ((UInt64(bitPattern: key) >> 3) &* 0x9E37_79B9_7F4A_7C15) >> 29)
        return ((group << 3) | Int(truncatingIfNeeded: key & 7)) & mask
    }

    /// Returns the first object under `key` that `isWanted` accepts.
    @inline(__always) func find(_ key: Int64, isWanted: (UnsafeMutableRawPointer) -> Bool) -> UnsafeMutableRawPointer? {
        var index = Self.home(key, mask)
        while let object = entries[index].object {
            if entries[index].key == key, isWanted(object) { return object }
            index = (index &+ 1) & mask
        }
        return nil
    }

    /// The object in the first place at which one under `key` may be: a guess, for prefetching.
    @inline(__always) func firstObject(near key: Int64) -> UnsafeMutableRawPointer? { entries[Self.home(key, mask)].object }

    /// Inserts an object that is not in the table.
    mutating func insert(_ object: UnsafeMutableRawPointer, for key: Int64) {
        if (count &+ 1) &* 2 > mask { grow(to: (mask + 1) * 2) }
        place(Entry(key: key, object: object))
        count &+= 1
        checkInvariants()
    }

    /// Inserts an object unless one of the same identity is in the table.
    @inline(__always) mutating func insert(
        _ object: UnsafeMutableRawPointer, for key: Int64, unless isEqual: (UnsafeMutableRawPointer) -> Bool
    ) {
        if (count &+ 1) &* 2 > mask { grow(to: (mask + 1) * 2) }
        var index = Self.home(key, mask)
        while let other = entries[index].object {
            if entries[index].key == key, isEqual(other) { return }
            index = (index &+ 1) & mask
        }
        entries[index] = Entry(key: key, object: object)
        count &+= 1
        checkInvariants()
    }

    /// Reserves space for `additional` objects.
    mutating func reserve(_ additional: Int) {
        var capacity = mask + 1
        while (count + additional) * 2 > capacity - 1 { capacity *= 2 }
        if capacity > mask + 1 { grow(to: capacity) }
    }

    @inline(__always) private func place(_ entry: Entry) {
        var index = Self.home(entry.key, mask)
        while entries[index].object != nil { index = (index &+ 1) & mask }
        entries[index] = entry
    }

    private mutating func grow(to capacity: Int) {
        let old = entries
        let oldCapacity = mask + 1
        entries = Self.allocate(capacity)
        mask = capacity - 1
        for index in 0..<oldCapacity {
            if old[index].object != nil { place(old[index]) }
        }
        old.deallocate()
        checkInvariants()
    }

    /// Removes an object and shifts the following ones back, so that no gap breaks their probe sequence.
    mutating func remove(_ object: UnsafeMutableRawPointer, for key: Int64) {
        var gap = Self.home(key, mask)
        while let candidate = entries[gap].object, candidate != object { gap = (gap &+ 1) & mask }
        guard entries[gap].object != nil else { return }
        defer { checkInvariants() }
        count &-= 1
        var index = gap
        while true {
            entries[gap].object = nil
            while true {
                index = (index &+ 1) & mask
                guard entries[index].object != nil else { return }
                let home = Self.home(entries[index].key, mask)
                if gap <= index ? (gap < home && home <= index) : (gap < home || home <= index) { continue }
                break
            }
            entries[gap] = entries[index]
            gap = index
        }
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        for index in 0...mask {
            if let object = entries[index].object { body(object) }
        }
    }
}
