/// Numbers the objects of a table by their IDs: an open-addressed hash table over the integer keys that IDs have.
///
/// A `Dictionary` with IDs as keys calls their methods `hash` and `isEqual(_:)` for each look-up, and puts neighbours at random places. Here IDs that
/// share a key are compared, and IDs of consecutive numbers, as those of rows that arrive together, are looked up in neighbouring places. The numbers
/// begin with 0, and those of removed objects are reused.
package struct IDIndex {
    private struct Place {
        var key: Int64
        /// The number; negative for none.
        var number: Int32

        static let empty = Place(key: 0, number: -1)
    }

    /// At most half of the places are used. Their number is a power of two.
    private var places: [Place] = Array(repeating: .empty, count: 16)
    /// The objects by their numbers; nil for numbers that are free.
    package private(set) var ids: [NSManagedObjectID?] = []
    private var free: [Int32] = []

    package init() {}

    /// The number of objects.
    package var count: Int { ids.count &- free.count }

    /// Makes room for so many objects in all.
    package mutating func reserveCapacity(_ capacity: Int) {
        var wanted = places.count
        while capacity * 2 > wanted { wanted *= 2 }
        if wanted == places.count { return }
        ids.reserveCapacity(capacity)
        grow(to: wanted)
    }

    private mutating func grow(to capacity: Int) {
        let old = places
        places = Array(repeating: .empty, count: capacity)
        let mask = capacity - 1
        for place in old where place.number >= 0 {
            var index = Self.home(place.key, mask)
            while places[index].number >= 0 { index = (index &+ 1) & mask }
            places[index] = place
        }
    }

    /// Groups of eight consecutive keys share two lines of the processor's cache, and the groups are scattered.
    @inline(__always) private static func home(_ key: Int64, _ mask: Int) -> Int {
        let group = Int(truncatingIfNeeded: ((UInt64(bitPattern: key) &>> 3) &* 0x9E37_79B9_7F4A_7C15) &>> 29)
        return ((group &<< 3) | Int(truncatingIfNeeded: key & 7)) & mask
    }

    /// Returns the place of an ID, or the place where it would be inserted.
    @inline(__always) private func place(of id: NSManagedObjectID) -> (index: Int, number: Int32) {
        let (key, mask) = (id.key, places.count &- 1)
        return places.withUnsafeBufferPointer { places in
            var index = Self.home(key, mask)
            while true {
                let place = places[index]
                if place.number < 0 { return (index, -1) }
                if place.key == key, isSame(Int(place.number), as: id) { return (index, place.number) }
                index = (index &+ 1) & mask
            }
        }
    }

    @inline(__always) private func isSame(_ number: Int, as id: NSManagedObjectID) -> Bool {
        guard let known = ids[number] else { return false }
        return known === id || known.isSame(as: id)
    }

    /// Returns the number of an object; nil if it has none.
    package func number(of id: NSManagedObjectID) -> Int? {
        let number = place(of: id).number
        return number < 0 ? nil : Int(number)
    }

    /// Returns whether a number is that of this very ID. It counts no reference.
    package func isNumber(_ number: Int, of id: ObjectIdentifier) -> Bool {
        guard number < ids.count else { return false }
        // A reference has the layout of its address, and nil that of 0.
        let stride = MemoryLayout<NSManagedObjectID?>.stride
        return ids.withUnsafeBytes { $0.load(fromByteOffset: number * stride, as: UInt.self) } == UInt(bitPattern: id)
    }

    /// Returns the number of an object, and whether it is new.
    package mutating func numberMaking(_ id: NSManagedObjectID) -> (number: Int, isNew: Bool) {
        if (count &+ 1) &* 2 > places.count { grow(to: places.count * 2) }
        let known = place(of: id)
        if known.number >= 0 { return (Int(known.number), false) }
        let number: Int
        if let last = free.popLast() {
            number = Int(last)
            ids[number] = id
        } else {
            number = ids.count
            ids.append(id)
        }
        places[known.index] = Place(key: id.key, number: Int32(truncatingIfNeeded: number))
        return (number, true)
    }

    /// Removes an object, and shifts the following places back, so that no gap breaks their probe sequence.
    ///
    /// - Returns: The number that it had.
    package mutating func remove(_ id: NSManagedObjectID) -> Int? {
        let known = place(of: id)
        if known.number < 0 { return nil }
        let mask = places.count &- 1
        var (gap, index) = (known.index, known.index)
        while true {
            index = (index &+ 1) & mask
            let place = places[index]
            if place.number < 0 { break }
            let home = Self.home(place.key, mask)
            if gap <= index ? (gap < home && home <= index) : (gap < home || home <= index) { continue }
            places[gap] = place
            gap = index
        }
        places[gap] = .empty
        ids[Int(known.number)] = nil
        free.append(known.number)
        return Int(known.number)
    }

    /// Numbers the objects of rows, and returns the number of leading rows whose objects were new; it stops at the first object that was not.
    package mutating func insert(_ rows: RowList) -> Int {
        for index in 0..<rows.count where !Row.with(rows.slots(index), { numberMaking($0.knownObjectID).isNew }) { return index }
        return rows.count
    }
}
