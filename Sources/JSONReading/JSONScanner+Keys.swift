extension JSONScanner {
    /// Returns the index, in a table, of the next key of the current object. Its value is the next one to read.
    ///
    /// The key is compared with the one at the same position in the previous object that was read with this table. Only if it differs, it is looked up.
    /// This allocates memory once for a table, and none for a key.
    ///
    /// - Returns: The index; -1 if the table does not have the key, which ``key()`` returns; nil if the object ends here.
    @inlinable package mutating func nextIndex(in table: borrowing JSONKeyTable) throws(JSONError) -> Int? {
        let begins = isFirst
        guard try advanceToKey() else { return nil }
        keyStart = next
        let order: UnsafeMutablePointer<JSONKeyOrder>
        // The second place is for a table that was used after another one with the same home.
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

    /// Returns whether the key of an entry is at the next byte: the same bytes, up to the value, as at its original place.
    @inlinable @inline(__always) package func isNext(_ entry: UnsafeMutablePointer<JSONKeyOrder.Entry>) -> Bool {
        let left = limit - next
        guard left >= 8, next.loadUnaligned(as: UInt64.self) & entry.pointee.mask == entry.pointee.word else { return false }
        let length = Int(entry.pointee.length)
        guard length > 8 else { return true }
        guard left >= length else { return false }
        // The entry's bytes, up to its length, were read when it was made.
        let start = entry.pointee.start
        var index = 8
        while index + 8 < length {
            guard next.loadUnaligned(fromByteOffset: index, as: UInt64.self) == start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            else { return false }
            index += 8
        }
        // The last eight bytes, some of which have been compared already.
        index = length - 8
        return next.loadUnaligned(fromByteOffset: index, as: UInt64.self) == start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// Looks up a key that differs from the expected one.
    @usableFromInline @inline(never) package mutating func lookUp(
        _ table: borrowing JSONKeyTable, _ order: UnsafeMutablePointer<JSONKeyOrder>, _ begins: Bool
    ) throws(JSONError) -> Int {
        if begins { order.pointee.last = 0 }
        let entries = order.pointee.entries
        // The object may lack some keys of the previous one.
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

    /// Returns the order of a table that is not at its home.
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
