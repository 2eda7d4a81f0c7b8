/// Values of objects, by their IDs: see ``IDIndex``. They are stored in the order of insertion.
package struct IDTable<Value> {
    @usableFromInline var index = IDIndex()
    /// The values by the numbers of their objects; nil for numbers that are free.
    @usableFromInline var values: [Value?] = []

    @inlinable package init() {}

    /// The number of values.
    @inlinable package var count: Int { index.count }
    /// Whether the table has no objects.
    @inlinable package var isEmpty: Bool { index.count == 0 }

    /// Makes room for so many values in all.
    @inlinable package mutating func reserveCapacity(_ capacity: Int) {
        index.reserveCapacity(capacity)
        if capacity > values.capacity { values.reserveCapacity(Swift.max(capacity, 2 * values.count)) }
    }

    /// Removes all values.
    @inlinable package mutating func removeAll() { self = IDTable() }

    @inlinable package mutating func remove(_ id: NSManagedObjectID) {
        guard let number = index.remove(id) else { return }
        values[number] = nil
        // A table that was once large is shrunk.
        if isEmpty, values.capacity > 1024 { removeAll() }
    }

    /// Returns the number of an object; an object without one gets a number and a value.
    @inlinable @inline(__always) package mutating func number(_ id: NSManagedObjectID, default value: @autoclosure () -> Value) -> Int {
        let (number, isNew) = index.numberMaking(id)
        if isNew {
            if number == values.count { values.append(value()) } else { values[number] = value() }
        }
        return number
    }

    /// Returns the number of an object; nil if it has no value.
    @inlinable package func number(of id: NSManagedObjectID) -> Int? { index.number(of: id) }

    /// Sets the value of an object. Faster than the subscript, whose access the compiler does not specialize in other modules.
    @inlinable @inline(__always) package mutating func set(_ value: Value, for id: NSManagedObjectID) {
        let number = index.numberMaking(id).number
        if number == values.count { values.append(value) } else { values[number] = value }
    }

    /// The value of an object; nil if it has none.
    @inlinable package subscript(id: NSManagedObjectID) -> Value? {
        get { index.number(of: id).flatMap { values[$0] } }
        _modify {
            if let number = index.number(of: id) {
                yield &values[number]
                if values[number] == nil { remove(id) }
            } else {
                var new: Value?
                yield &new
                if let new { _ = number(id, default: new) }
            }
        }
    }

    /// The value of an object; an object without one gets the default.
    @inlinable package subscript(id: NSManagedObjectID, default value: @autoclosure () -> Value) -> Value {
        get { self[id] ?? value() }
        _modify {
            let number = number(id, default: value())
            yield &values[number]!
        }
    }

    /// Calls `body` with each object and its value, which it may change.
    @inlinable package mutating func updateEach(_ body: (NSManagedObjectID, inout Value) -> Void) {
        for (number, id) in index.ids.enumerated() { if let id { body(id, &values[number]!) } }
    }
}

extension IDTable: Sequence {
    /// The objects and their values, in the order of insertion, unless objects were removed.
    package struct Iterator: IteratorProtocol {
        @usableFromInline let table: IDTable
        @usableFromInline var place = 0

        @inlinable package init(_ table: IDTable) { self.table = table }

        @inlinable package mutating func next() -> (NSManagedObjectID, Value)? {
            while place < table.values.count {
                defer { place += 1 }
                if let id = table.index.ids[place], let value = table.values[place] { return (id, value) }
            }
            return nil
        }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
    @inlinable package var underestimatedCount: Int { count }
}
