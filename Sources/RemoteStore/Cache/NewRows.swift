@_spi(Stores) internal import ObjectGraph

/// The new rows of one inheritance tree that a transaction has created and that were not edited since, by ascending keys.
///
/// Most rows of a large answer belong here: only the row needs to be kept.
// Used by the one thread that writes.
final class NewRows {
    private(set) var keys: [CacheKey] = []
    /// The rows; nil for rows that were edited, and are staged like others.
    private(set) var rows: [Row?] = []
    /// The number of rows in this list.
    private(set) var count = 0
    /// The number of rows that are in the index of resources.
    private var indexed = 0
    /// Whether all rows are of one entity.
    private(set) var isOfOneEntity = true

    /// Adds a row, and returns whether that was possible: its key must come after the others.
    func add(_ row: Row, _ key: CacheKey) -> Bool {
        if let last = keys.last {
            if last.number >= key.number { return false }
            if last.entity !== key.entity { isOfOneEntity = false }
        }
        keys.append(key)
        rows.append(row)
        count += 1
        return true
    }

    private func index(of number: Int64) -> Int? {
        guard let first = keys.first?.number, let last = keys.last?.number, number >= first, number <= last else { return nil }
        // The keys are mostly consecutive.
        let guess = Int(truncatingIfNeeded: number - first)
        if guess < keys.count, keys[guess].number == number { return guess }
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low].number == number ? low : nil
    }

    /// Returns a row; nil if it is not in this list.
    func row(_ number: Int64) -> Row? { index(of: number).flatMap { rows[$0] } }

    /// Removes a row, which is staged like others from now on.
    func take(_ number: Int64) -> (key: CacheKey, row: Row)? {
        guard let index = index(of: number), let row = rows[index] else { return nil }
        rows[index] = nil
        count -= 1
        return (keys[index], row)
    }

    /// Calls `body` with each row.
    func forEach(_ body: (CacheKey, Row) -> Void) { for (key, row) in zip(keys, rows) { if let row { body(key, row) } } }

    /// Calls `body` with each row that was added since the last call.
    func forEachNotIndexed(_ body: (CacheKey, Row) -> Void) {
        for index in indexed..<keys.count { if let row = rows[index] { body(keys[index], row) } }
        indexed = keys.count
    }
}
