extension JSONScanner {
    /// The index, in a table, of the next key of the object that is being read, whose value is read next.
    ///
    /// The key is compared with the one that came at this place in the object before, of those read with this table; only where it is
    /// another one it is looked up. That takes no memory for a key, only once for a table.
    ///
    /// - Returns: The index; -1 if the table does not know the key, which ``key()`` tells; nil if the object ends here.
    @inlinable package mutating func nextIndex(in table: borrowing JSONKeyTable) throws(JSONError) -> Int? {
        let begins = isFirst
        guard try advanceToKey() else { return nil }
        keyStart = next
        let order: UnsafeMutablePointer<JSONKeyOrder>
        // The second place is for a table that came after another one of the same home.
        if let orders, orders[table.home].table == table.identity {
            order = orders + table.home
        } else if let orders, orders[table.home ^ 1].table == table.identity {
            order = orders + (table.home ^ 1)
        } else {
            order = findOrder(of: table)
        }
        let entries = order.pointee.entries
        let expected = Int(entries[begins ? 0 : Int(order.pointee.last)].next)
        guard isNext(entries + expected) else { return try lookUp(table, order, begins) }
        order.pointee.last = Int32(truncatingIfNeeded: expected)
        next += Int(entries[expected].length)
        return Int(entries[expected].index)
    }

    /// Whether the key of an entry stands at the next byte: the same bytes, up to the value, as stood at its place.
    @inlinable @inline(__always) package func isNext(_ entry: UnsafeMutablePointer<JSONKeyOrder.Entry>) -> Bool {
        let left = limit - next
        guard left >= 8, next.loadUnaligned(as: UInt64.self) & entry.pointee.mask == entry.pointee.word else { return false }
        let length = Int(entry.pointee.length)
        guard length > 8 else { return true }
        guard left >= length else { return false }
        // The entry's bytes were read, up to its length, when it was made.
        let start = entry.pointee.start
        var index = 8
        while index + 8 < length {
            guard next.loadUnaligned(fromByteOffset: index, as: UInt64.self) == start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            else { return false }
            index += 8
        }
        // The last eight bytes, some of which were compared already.
        index = length - 8
        return next.loadUnaligned(fromByteOffset: index, as: UInt64.self) == start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// Looks up a key that is not the expected one.
    @usableFromInline @inline(never) package mutating func lookUp(
        _ table: borrowing JSONKeyTable, _ order: UnsafeMutablePointer<JSONKeyOrder>, _ begins: Bool
    ) throws(JSONError) -> Int {
        if begins { order.pointee.last = 0 }
        let entries = order.pointee.entries
        // Perhaps the object lacks some keys that others have.
        var entry = Int(entries[Int(order.pointee.last)].next)
        for _ in 0..<3 where entry != 0 {
            entry = Int(entries[entry].next)
            guard isNext(entries + entry) else { continue }
            order.pointee.last = Int32(entry)
            next += Int(entries[entry].length)
            return Int(entries[entry].index)
        }
        let index = table.index(of: try readString().bytes)
        try passColon()
        _ = token()
        order.pointee.learn(keyStart, length: next - keyStart, index: index, limit: limit)
        return index
    }

    /// What is known of a table whose order is not at its home.
    @usableFromInline @inline(never) package mutating func findOrder(
        of table: borrowing JSONKeyTable
    ) -> UnsafeMutablePointer<JSONKeyOrder> {
        let orders = self.orders ?? JSONKeyOrder.allocate()
        self.orders = orders
        for step in 0..<JSONKeyOrder.tables {
            let order = orders + (table.home ^ step)
            if order.pointee.table == table.identity { return order }
            guard order.pointee.table == 0 else { continue }
            order.pointee.begin(table.contents)
            return order
        }
        orders[table.home].begin(table.contents)
        return orders + table.home
    }
}
