/// A fixed list of known keys of objects, made once. Each key is identified by its index.
///
/// ``JSONScanner/nextIndex(in:)`` uses it. It is immutable, so any number of scanners may use it at the same time.
@usableFromInline package struct JSONKeyTable: Sendable {
    let contents: Contents
    /// The address of the contents, which identifies the table.
    @usableFromInline package let identity: UInt
    /// The place where scanners first look for the order of this table.
    @usableFromInline package let home: Int

    /// The immutable contents of a table.
    final class Contents: Sendable {
        /// The bytes of the keys, in the order of the list.
        let keys: [[UInt8]]
        /// The index of a key for each place of the hash table, or -1. There are at least twice as many places as keys.
        let places: [Int32]
        let home: Int

        init(_ list: [[UInt8]]) {
            var size = 4
            while size < list.count * 2 { size *= 2 }
            var places = [Int32](repeating: -1, count: size)
            var home = UInt(truncatingIfNeeded: list.count)
            for (index, key) in list.enumerated() {
                let hash = key.withUnsafeBytes { JSONKeyTable.hash($0) }
                home = home &* 31 &+ hash
                var place = Int(hash & UInt(size - 1))
                // Of equal keys in the list, the first one counts.
                while places[place] >= 0 { place = (place + 1) & (size - 1) }
                places[place] = Int32(index)
            }
            keys = list
            self.places = places
            self.home = Int((home ^ home >> 17) & UInt(JSONKeyOrder.tables - 1))
        }
    }

    /// Creates a table of keys without escapes.
    package init(_ keys: [String]) {
        contents = Contents(keys.map { Array($0.utf8) })
        identity = UInt(bitPattern: Unmanaged.passUnretained(contents).toOpaque())
        home = contents.home
    }

    /// The number of keys.
    package var count: Int { contents.keys.count }

    /// Returns the index of a key, or -1 if it is not in the table.
    package func index(of key: UnsafeRawBufferPointer) -> Int {
        let contents = contents
        let mask = contents.places.count - 1
        var place = Int(Self.hash(key) & UInt(mask))
        while case let index = Int(contents.places[place]), index >= 0 {
            if contents.keys[index].count == key.count, contents.keys[index].elementsEqual(key) { return index }
            place = (place + 1) & mask
        }
        return -1
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt {
        var hash = UInt64(bytes.count)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15 }
        return UInt(truncatingIfNeeded: hash ^ hash >> 29)
    }
}
