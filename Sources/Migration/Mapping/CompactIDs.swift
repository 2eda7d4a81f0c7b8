internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The IDs of objects of one store, in order: as numbers if the store numbers the objects of one entity, so that a million takes eight megabytes.
struct CompactIDs {
    private(set) var entity: NSEntityDescription?
    private(set) var numbers: [Int64] = []
    /// All IDs, if they are not numbers of one entity.
    private(set) var ids: [NSManagedObjectID]?
    /// Whether the numbers ascend.
    private(set) var isAscending = true
    private let store: NSPersistentStore

    init(of store: NSPersistentStore) { self.store = store }

    var count: Int { ids?.count ?? numbers.count }

    /// The ID at a position.
    subscript(position: Int) -> NSManagedObjectID {
        if let ids { return ids[position] }
        return store.objectID(for: entity.known("there is an ID"), number: numbers[position])
    }

    subscript(range: Range<Int>) -> [NSManagedObjectID] { range.map { self[$0] } }

    mutating func append(_ id: NSManagedObjectID) {
        if ids == nil, let number = id.number, entity == nil || entity === id.entity {
            entity = id.entity
            append(number)
            return
        }
        if ids == nil { ids = self[0..<count] }
        numbers = []
        isAscending = false
        ids?.append(id)
    }

    /// Appends the number of an object of the entity.
    mutating func append(_ number: Int64) {
        if let last = numbers.last, last > number { isAscending = false }
        numbers.append(number)
    }

    /// Sets the entity of numbers that are about to be appended.
    mutating func setEntity(_ entity: NSEntityDescription) { if self.entity == nil { self.entity = entity } }

    /// Orders the numbers, so that they are the same whenever they are read from an unchanged store.
    mutating func sort() {
        numbers.sort()
        if ids == nil { isAscending = true }
        ids?.sort { $0.uriRepresentation().absoluteString < $1.uriRepresentation().absoluteString }
    }

    /// Returns the number of an object as far as it may be among these.
    func number(of id: NSManagedObjectID) -> Int64? {
        guard let entity, let number = id.number, id.entity.rootEntity === entity.rootEntity else { return nil }
        return number
    }
}

/// The positions of IDs in a list.
struct CompactIndex {
    /// The positions in the order of their numbers, for a list that does not ascend.
    private var order: [Int32] = []
    private var places: [NSManagedObjectID: [Int]] = [:]
    private var indexed = 0

    /// Returns the positions of an ID, ascending.
    mutating func positions(of id: NSManagedObjectID, in list: CompactIDs) -> [Int] {
        if let ids = list.ids {
            if indexed > ids.count { self = CompactIndex() }
            for position in indexed..<ids.count { places[ids[position], default: []].append(position) }
            indexed = ids.count
            return places[id] ?? []
        }
        guard let number = list.number(of: id) else { return [] }
        if list.isAscending { return Self.run(of: number, in: list.numbers.count) { list.numbers[$0] } }
        // A few that were added since are looked through, so that not each addition needs a new order.
        if list.numbers.count - order.count > max(4096, order.count / 4) || order.count > list.numbers.count {
            order = list.numbers.indices.map { Int32($0) }
            order.sort { (list.numbers[Int($0)], $0) < (list.numbers[Int($1)], $1) }
        }
        var found = Self.run(of: number, in: order.count) { list.numbers[Int(order[$0])] }.map { Int(order[$0]) }
        for position in order.count..<list.numbers.count where list.numbers[position] == number { found.append(position) }
        return found
    }

    /// Returns the positions of a number in an ascending list.
    private static func run(of number: Int64, in count: Int, _ element: (Int) -> Int64) -> [Int] {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if element(middle) < number { low = middle + 1 } else { high = middle }
        }
        var found: [Int] = []
        while low < count, element(low) == number {
            found.append(low)
            low += 1
        }
        return found
    }
}
