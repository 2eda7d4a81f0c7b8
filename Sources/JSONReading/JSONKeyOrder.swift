/// The order of the keys of objects that were read with one table. Objects of one kind mostly have the same keys in the same order, including unknown
/// ones. The next key is therefore first compared, in place, with the key at the same position of the previous object.
///
/// A scanner owns these orders, one for each table that it uses. They retain their tables.
@usableFromInline package struct JSONKeyOrder {
    /// The maximum number of tables whose orders a scanner remembers. Further tables share places, and their orders are learned again.
    @usableFromInline static let tables = 32

    /// A key that was read, and its successor.
    @frozen @usableFromInline package struct Entry {
        /// The first bytes of the key with its quotes, at most eight; the others are zero.
        @usableFromInline package var word: UInt64
        /// The bits of the word that are bytes of the key.
        @usableFromInline package var mask: UInt64
        /// The beginning of the key in the document, with its quote.
        @usableFromInline package var start: UnsafeRawPointer
        /// The number of bytes of the key, with its quotes, the colon and all white space up to the value.
        @usableFromInline package var length: Int32
        /// The index of the key in the table, or -1.
        @usableFromInline package var index: Int32
        /// The entry of the key that came next, or 0.
        @usableFromInline package var next: Int32
    }

    /// The address of the contents of the order's table, or 0. The contents are retained.
    @usableFromInline package var table: UInt = 0
    /// The keys that were read, owned by this order. The first entry is not a key: it stands for the beginning of an object, and its successor is the
    /// first key.
    @usableFromInline package var entries: UnsafeMutablePointer<Entry>
    /// The entry of the last key.
    @usableFromInline package var last: Int32 = 0
    // These are small, and so is the initial room for entries: memory of more than a kilobyte is slow to allocate, and each page has its own scanner.
    private var keys: Int32 = 0
    private var count: Int32 = 0
    private var capacity: Int32 = 0

    /// The newest entry for each key of the table, or 0. They are behind the entries in the same memory.
    private var known: UnsafeMutablePointer<Int32> {
        UnsafeMutableRawPointer(entries + Int(capacity)).assumingMemoryBound(to: Int32.self)
    }

    /// The maximum number of entries before the order is learned again: some for each key, and some for unknown ones.
    private var maximum: Int32 { keys * 2 + 64 }

    private init() {
        // Nothing is owned yet: this address is never used.
        entries = UnsafeMutablePointer(bitPattern: 8)!
    }

    /// Allocates memory for entries, followed by those for the keys. An entry has the stricter alignment, and its size is a multiple of that.
    private static func room(entries: Int32, keys: Int32) -> UnsafeMutablePointer<Entry> {
        let bytes = Int(entries) * MemoryLayout<Entry>.stride + Int(keys) * MemoryLayout<Int32>.stride
        let room = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: MemoryLayout<Entry>.alignment)
        (room + Int(entries) * MemoryLayout<Entry>.stride).bindMemory(to: Int32.self, capacity: Int(keys))
        return room.bindMemory(to: Entry.self, capacity: Int(entries))
    }

    /// Allocates memory for the orders of a scanner.
    static func allocate() -> UnsafeMutablePointer<JSONKeyOrder> {
        let orders = UnsafeMutablePointer<JSONKeyOrder>.allocate(capacity: tables)
        orders.initialize(repeating: JSONKeyOrder(), count: tables)
        return orders
    }

    /// Frees the memory of the orders of a scanner.
    static func free(_ orders: UnsafeMutablePointer<JSONKeyOrder>) {
        for index in 0..<tables { orders[index].clear() }
        orders.deallocate()
    }

    private mutating func clear() {
        guard let address = UnsafeRawPointer(bitPattern: table) else { return }
        Unmanaged<JSONKeyTable.Contents>.fromOpaque(address).release()
        UnsafeMutableRawPointer(entries).deallocate()
        table = 0
    }

    /// Starts to learn the order of a table's keys.
    mutating func begin(_ contents: JSONKeyTable.Contents) {
        clear()
        table = UInt(bitPattern: Unmanaged.passRetained(contents).toOpaque())
        keys = Int32(contents.keys.count)
        capacity = keys + 8
        entries = Self.room(entries: capacity, keys: keys)
        forget()
    }

    /// Makes room for more entries.
    private mutating func grow() {
        let (old, oldKnown, oldCapacity) = (entries, known, capacity)
        capacity = min(oldCapacity * 2, maximum)
        entries = Self.room(entries: capacity, keys: keys)
        entries.moveInitialize(from: old, count: Int(count))
        known.initialize(from: oldKnown, count: Int(keys))
        UnsafeMutableRawPointer(old).deallocate()
    }

    private mutating func forget() {
        // No key has the first entry's word, because keys begin with a quote.
        entries.initialize(to: Entry(word: .max, mask: .max, start: UnsafeRawPointer(entries), length: 0, index: -1, next: 0))
        known.initialize(repeating: 0, count: Int(keys))
        count = 1
        last = 0
    }

    /// Learns that a key follows the last one. The length is that of an entry.
    mutating func learn(_ start: UnsafeRawPointer, length: Int, index: Int, limit: UnsafeRawPointer) {
        // A known key at a new position has this position from now on.
        if index >= 0, case let entry = Int(known[index]), entry > 0, entries[entry].length == length {
            entries[Int(last)].next = Int32(entry)
            last = Int32(entry)
            return
        }
        // Unusually long keys, and those at the end of the document, are not learned.
        guard length < 1 << 10, limit - start >= 8 else { return }
        if count == capacity { if capacity < maximum { grow() } else { forget() } }
        let mask = length >= 8 ? UInt64.max : UInt64(littleEndian: (1 << UInt64(8 * length)) - 1)
        let word = start.loadUnaligned(as: UInt64.self) & mask
        entries.advanced(by: Int(count)).initialize(
            to: Entry(
                word: word, mask: mask, start: start, length: Int32(length), index: Int32(truncatingIfNeeded: index),
                next: entries[Int(last)].next))
        if index >= 0 { known[index] = count }
        entries[Int(last)].next = count
        last = count
        count += 1
    }
}
