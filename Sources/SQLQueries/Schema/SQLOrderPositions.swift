@_spi(Stores) internal import ObjectGraph

/// Assigns the positions of rows in ordered relationships for a save.
///
/// Positions are numbers with gaps, so that inserting a row between two others mostly leaves theirs unchanged.
package struct SQLOrderPositions {
    /// Creates no positions.
    package init() {}

    /// The first position, and the distance of new neighbours; the values are Core Data's.
    package static let first: Int64 = 2048
    package static let step: Int64 = 1024

    /// A column of positions.
    package struct Column: Hashable {
        package let table: SQLIdentifier
        package let name: SQLIdentifier
    }
    /// The new positions in columns of rows, by row key.
    private var places: [Column: [Int64: Int64]] = [:]
    /// The unchanged positions, for rows whose owner is written again.
    private var kept: [Column: [Int64: Int64]] = [:]

    /// - Parameter known: The current position of the row.
    package mutating func set(_ place: Int64, known: Int64?, _ column: SQLIdentifier, _ key: Int64, in table: SQLIdentifier) {
        let column = Column(table: table, name: column)
        if known == place { kept[column, default: [:]][key] = place } else { places[column, default: [:]][key] = place }
    }

    /// Removes and returns the position of a row that is written anyway.
    package mutating func take(_ column: SQLIdentifier, _ key: Int64, in table: SQLIdentifier) -> Int64? {
        if places.isEmpty, kept.isEmpty { return nil }
        let column = Column(table: table, name: column)
        return places[column]?.removeValue(forKey: key) ?? kept[column]?[key]
    }

    /// The positions of rows that are not written otherwise.
    package var remaining: [(column: Column, places: [Int64: Int64])] { places.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) } }

    /// Returns the positions of a sequence, keeping as many existing ones as possible.
    ///
    /// - Parameter known: The position of each element, nil for those without one.
    package static func places(_ known: [Int64?]) -> [Int64] {
        let kept = longestIncreasingSubsequence(known)
        var places = [Int64](repeating: 0, count: known.count)
        var index = 0
        var before: Int64?
        while index < known.count {
            if kept[index], let place = known[index] {
                places[index] = place
                before = place
                index += 1
                continue
            }
            var end = index
            while end < known.count, !kept[end] { end += 1 }
            let count = Int64(end - index)
            let after = end < known.count ? known[end] : nil
            switch (before, after) {
            case (nil, nil):
                for offset in 0..<count { places[index + Int(offset)] = first + offset * step }
            case (let before?, nil):
                guard before <= Int64.max - (count + 1) * step else { return fresh(known.count) }
                for offset in 0..<count { places[index + Int(offset)] = before + (offset + 1) * step }
            case (nil, let after?):
                guard after >= Int64.min + (count + 1) * step else { return fresh(known.count) }
                for offset in 0..<count { places[index + Int(offset)] = after - (count - offset) * step }
            case (let before?, let after?):
                let (room, overflows) = after.subtractingReportingOverflow(before)
                guard !overflows, room > count else { return fresh(known.count) }
                for offset in 0..<count {
                    places[index + Int(offset)] =
                        before + room / (count + 1) * (offset + 1) + (room % (count + 1)) * (offset + 1) / (count + 1)
                }
            }
            before = places[end - 1]
            index = end
        }
        return places
    }

    private static func fresh(_ count: Int) -> [Int64] { (0..<Int64(count)).map { first + $0 * step } }

    /// Returns which positions form the longest increasing subsequence.
    private static func longestIncreasingSubsequence(_ known: [Int64?]) -> [Bool] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: known.count)
        for (index, place) in known.enumerated() {
            guard let place else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if known[tails[middle]].known("only places that are known become tails") < place { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? tails[low - 1] : -1
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept = [Bool](repeating: false, count: known.count)
        var index = tails.last ?? -1
        while index >= 0 {
            kept[index] = true
            index = previous[index]
        }
        return kept
    }
}
