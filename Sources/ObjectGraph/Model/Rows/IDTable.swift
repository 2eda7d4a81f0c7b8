/// Values of objects, by their IDs: an open-addressed hash table over the integer keys that IDs have, whose values lie in the order in which they came.
///
/// A `Dictionary` with IDs as keys calls their methods `hash` and `isEqual(_:)` for each look-up, and puts neighbours at random places. Here IDs that
/// share a key are compared, and IDs of consecutive numbers, as those of rows that come together, are looked up in neighbouring places.
package struct IDTable<Value> {
    @usableFromInline package struct Place {
        @usableFromInline var key: Int64
        /// The index of the entry; negative for none.
        @usableFromInline var entry: Int32

        @inlinable package init(key: Int64, entry: Int32) { (self.key, self.entry) = (key, entry) }
    }

    /// At most half of the places are used. Their number is a power of two.
    @usableFromInline var places: [Place]
    /// The entries: nil for those that are free.
    @usableFromInline var ids: [NSManagedObjectID?] = []
    @usableFromInline var values: [Value?] = []
    @usableFromInline var free: [Int32] = []

    @inlinable package init() { places = Array(repeating: Place(key: 0, entry: -1), count: 16) }

    /// The number of values.
    @inlinable package var count: Int { ids.count &- free.count }
    /// Whether there are none.
    @inlinable package var isEmpty: Bool { count == 0 }
    @inlinable package var mask: Int { places.count &- 1 }

    /// Makes room for so many values in all.
    @inlinable package mutating func reserveCapacity(_ capacity: Int) {
        var wanted = places.count
        while capacity * 2 > wanted { wanted *= 2 }
        if wanted == places.count { return }
        ids.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
        grow(to: wanted)
    }

    @inlinable package mutating func grow(to capacity: Int) {
        let old = places
        places = Array(repeating: Place(key: 0, entry: -1), count: capacity)
        for place in old where place.entry >= 0 {
            var index = IDTableKeys.home(place.key, mask)
            while places[index].entry >= 0 { index = (index &+ 1) & mask }
            places[index] = place
        }
    }

    /// Returns the index of an ID's entry; nil where it has none.
    @inlinable @inline(__always) package func entry(of id: NSManagedObjectID) -> Int? {
        let key = id.key
        var index = IDTableKeys.home(key, mask)
        while true {
            let place = places[index]
            if place.entry < 0 { return nil }
            if place.key == key, let known = ids[Int(place.entry)], known === id || known.isSame(as: id) { return Int(place.entry) }
            index = (index &+ 1) & mask
        }
    }

    /// Adds an ID that is not in the table.
    @inlinable package mutating func add(_ id: NSManagedObjectID, _ value: Value) -> Int {
        if (count &+ 1) &* 2 > places.count { grow(to: places.count * 2) }
        let entry: Int
        if let place = free.popLast() {
            entry = Int(place)
            ids[entry] = id
            values[entry] = value
        } else {
            entry = ids.count
            ids.append(id)
            values.append(value)
        }
        let key = id.key
        var index = IDTableKeys.home(key, mask)
        while places[index].entry >= 0 { index = (index &+ 1) & mask }
        places[index] = Place(key: key, entry: Int32(truncatingIfNeeded: entry))
        return entry
    }

    /// Removes an entry, and shifts the following places back, so that no gap breaks their probe sequence.
    @inlinable package mutating func remove(entry: Int, key: Int64) {
        var gap = IDTableKeys.home(key, mask)
        while places[gap].entry != Int32(truncatingIfNeeded: entry) { gap = (gap &+ 1) & mask }
        var index = gap
        while true {
            index = (index &+ 1) & mask
            let place = places[index]
            if place.entry < 0 { break }
            let home = IDTableKeys.home(place.key, mask)
            if gap <= index ? (gap < home && home <= index) : (gap < home || home <= index) { continue }
            places[gap] = place
            gap = index
        }
        places[gap] = Place(key: 0, entry: -1)
        ids[entry] = nil
        values[entry] = nil
        free.append(Int32(truncatingIfNeeded: entry))
        if count == 0 { removeAll() }
    }

    /// Removes all values.
    @inlinable package mutating func removeAll() { self = IDTable() }

    /// The value of an object; nil where it has none.
    @inlinable package subscript(id: NSManagedObjectID) -> Value? {
        get { entry(of: id).flatMap { values[$0] } }
        _modify {
            if let entry = entry(of: id) {
                yield &values[entry]
                if values[entry] == nil { remove(entry: entry, key: id.key) }
            } else {
                var new: Value?
                yield &new
                if let new { _ = add(id, new) }
            }
        }
    }

    /// The value of an object; one that has none gets a value.
    @inlinable package subscript(id: NSManagedObjectID, default value: @autoclosure () -> Value) -> Value {
        get { self[id] ?? value() }
        _modify {
            let entry = entry(of: id) ?? add(id, value())
            yield &values[entry]!
        }
    }

    /// Whether an object has a value.
    @inlinable package func contains(_ id: NSManagedObjectID) -> Bool { entry(of: id) != nil }

    /// Adds a value of an object that has none, and returns whether it had none.
    @inlinable @inline(__always) package mutating func insert(_ id: NSManagedObjectID, _ value: Value) -> Bool {
        if entry(of: id) != nil { return false }
        _ = add(id, value)
        return true
    }

    /// Calls `body` with each object and its value, which it may change.
    @inlinable package mutating func updateEach(_ body: (NSManagedObjectID, inout Value) -> Void) {
        for entry in ids.indices { if let id = ids[entry] { body(id, &values[entry]!) } }
    }
}

extension IDTable: Sequence {
    /// The objects and their values, in the order in which they came, as far as none was removed.
    package struct Iterator: IteratorProtocol {
        @usableFromInline let table: IDTable
        @usableFromInline var place = 0

        @inlinable package init(_ table: IDTable) { self.table = table }

        @inlinable package mutating func next() -> (NSManagedObjectID, Value)? {
            while place < table.ids.count {
                defer { place += 1 }
                if let id = table.ids[place], let value = table.values[place] { return (id, value) }
            }
            return nil
        }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
    @inlinable package var underestimatedCount: Int { count }
}

/// Where keys have their places.
package enum IDTableKeys {
    /// Groups of eight consecutive keys share two lines of the processor's cache, and the groups are scattered.
    @inlinable @inline(__always) package static func home(_ key: Int64, _ mask: Int) -> Int {
        let group = Int(truncatingIfNeeded: ((UInt64(bitPattern: key) &>> 3) &* 0x9E37_79B9_7F4A_7C15) &>> 29)
        return ((group &<< 3) | Int(truncatingIfNeeded: key & 7)) & mask
    }
}
