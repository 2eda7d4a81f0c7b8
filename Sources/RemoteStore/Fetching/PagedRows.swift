@_spi(Stores) internal import ObjectGraph

/// The rows of a request's pages: each object once, in the order of the backend, even if pages repeat some.
struct PagedRows {
    private(set) var rows = RowList()
    private var known = IDIndex()
    /// The row after which the next page continues; nil for the start.
    private var last: NSManagedObjectID?
    /// Whether that is the last of all rows.
    private var isAtEnd = true
    /// Whether rows that were already passed on have moved or disappeared.
    private(set) var wasRearranged = false
    /// The objects of the current pass over the pages; nil during the first pass.
    private var cameAgain: Set<NSManagedObjectID>?
    /// The objects of earlier passes that the last complete pass lacked.
    private var lackedBefore: Set<NSManagedObjectID> = []

    /// The number of objects in the current pass over the pages.
    var countOfReading: Int { cameAgain?.count ?? rows.count }

    /// The rows up to the end of the last page, after which previously read rows may follow.
    var confirmedRows: RowList {
        isAtEnd ? rows : RowList(rows.prefix((last.flatMap { last in rows.firstIndex { $0.knownObjectID == last } } ?? -1) + 1))
    }

    /// Returns whether an object is among the rows.
    func contains(_ id: NSManagedObjectID) -> Bool { known.number(of: id) != nil }

    /// Appends a page, without the rows that it repeats.
    ///
    /// - Returns: The new rows.
    mutating func append(_ page: RowList) -> RowList {
        // Usually all rows are new.
        let place = known.insert(page)
        if place == page.count {
            rows.append(contentsOf: page)
            return page
        }
        var new = RowList(page[..<place])
        for row in page[(place + 1)...] where known.numberMaking(row.knownObjectID).isNew { new.append(row) }
        rows.append(contentsOf: new)
        return new
    }

    /// Merges a page that shows the current state of a part of the results: its rows between known ones are inserted, and known rows that it lacks between them
    /// are removed.
    ///
    /// - Parameter isFirst: Whether the results begin with the page.
    /// - Returns: The new rows.
    mutating func take(_ page: RowList, isFirst: Bool) -> RowList {
        if page.isEmpty { return page }
        cameAgain?.formUnion(page.map(\.knownObjectID))
        let start = rows.count
        if isAtEnd, !isFirst || start == 0, begins(page) {
            let new = append(page)
            last = rows.last?.knownObjectID
            return new
        }
        var members: Set<NSManagedObjectID> = []
        let window = page.filter { members.insert($0.knownObjectID).inserted }
        let places = rows.indices.filter { members.contains(rows[$0].knownObjectID) }
        let cursor = last.flatMap { last in rows.firstIndex { $0.knownObjectID == last } }.map { $0 + 1 } ?? 0
        let lower = isFirst ? 0 : places.first ?? cursor
        let upper = places.last.map { $0 + 1 } ?? lower
        let new = window.filter { known.numberMaking($0.knownObjectID).isNew }
        for row in rows[lower..<upper] where !members.contains(row.knownObjectID) { _ = known.remove(row.knownObjectID) }
        rows = RowList([Array(rows[..<lower]), window, Array(rows[upper...])].joined())
        wasRearranged = wasRearranged || start > 0
        last = window.last?.knownObjectID
        isAtEnd = rows.last?.knownObjectID == last
        return RowList(new)
    }

    /// Returns whether a page continues at the end of the rows: with the last of them, and otherwise with new ones.
    private func begins(_ page: RowList) -> Bool {
        for (index, row) in page.enumerated() where contains(row.knownObjectID) {
            if index > 0 || row.knownObjectID != rows.last?.knownObjectID { return false }
        }
        return true
    }

    /// Goes back to the start, for another pass over the pages.
    mutating func restart() {
        cameAgain = []
        last = nil
        isAtEnd = rows.isEmpty
    }

    /// The objects of earlier passes that the current pass, which is known to be complete, lacks.
    private var lacking: [NSManagedObjectID] {
        guard let cameAgain, cameAgain.count < rows.count else { return [] }
        return rows.map(\.knownObjectID).filter { !cameAgain.contains($0) }
    }

    /// Whether this is a repeated pass over the pages.
    var isReadAgain: Bool { cameAgain != nil }

    /// The number of rows that the current pass lacks.
    var countOfLacking: Int { lacking.count }

    /// Whether the current pass lacks an object that the last complete pass had.
    var lacksNewly: Bool { lacking.contains { !lackedBefore.contains($0) } }

    /// Records the lacking objects, before another pass over the pages.
    mutating func noteLacking() { lackedBefore = Set(lacking) }

    /// Drops the objects that two complete passes lacked: they are gone, including those between two pages. An object that only one pass lacked existed during
    /// the fetch, and stays.
    mutating func dropLacking() {
        isAtEnd = true
        let gone = Set(lacking.filter(lackedBefore.contains))
        if gone.isEmpty { return }
        for id in gone { _ = known.remove(id) }
        rows = RowList(rows.filter { !gone.contains($0.knownObjectID) })
        wasRearranged = true
    }

    /// Drops the known following rows that were not received again.
    mutating func finish() {
        if isAtEnd { return }
        let confirmed = confirmedRows
        for row in rows.dropFirst(confirmed.count) { _ = known.remove(row.knownObjectID) }
        rows = confirmed
        wasRearranged = true
        isAtEnd = true
    }
}
