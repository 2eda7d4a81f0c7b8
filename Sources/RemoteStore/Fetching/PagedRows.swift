@_spi(Stores) internal import ObjectGraph

/// The rows of a request's pages: each object once, in the order of the backend, whatever pages repeat.
struct PagedRows {
    private(set) var rows = RowList()
    private var known = IDIndex()
    /// The row that the next page goes on after; nil for the start.
    private var last: NSManagedObjectID?
    /// Whether that is the last row of all.
    private var isAtEnd = true
    /// Whether rows that had been handed out have moved or gone.
    private(set) var wasRearranged = false
    /// What has come since the pages are read again; nil while they are read for the first time.
    private var cameAgain: Set<NSManagedObjectID>?
    /// What the last whole reading has lacked of the earlier ones.
    private var lackedBefore: Set<NSManagedObjectID> = []

    /// The number of objects that this reading of the pages has brought.
    var countOfReading: Int { cameAgain?.count ?? rows.count }

    /// The rows up to the end of the last page, where others that were read before may follow.
    var confirmedRows: RowList {
        isAtEnd ? rows : RowList(rows.prefix((last.flatMap { last in rows.firstIndex { $0.knownObjectID == last } } ?? -1) + 1))
    }

    /// Returns whether an object is among the rows.
    func contains(_ id: NSManagedObjectID) -> Bool { known.number(of: id) != nil }

    /// Adds a page to the end, without the rows that it repeats.
    ///
    /// - Returns: The new rows.
    mutating func append(_ page: RowList) -> RowList {
        // Mostly all are new.
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

    /// Adds a page that shows a part of the results as it is now: what it has between known rows belongs there, and what it lacks between
    /// them is gone.
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

    /// Returns whether a page goes on where the rows end: with the last of them, and otherwise with new ones.
    private func begins(_ page: RowList) -> Bool {
        for (index, row) in page.enumerated() where contains(row.knownObjectID) {
            if index > 0 || row.knownObjectID != rows.last?.knownObjectID { return false }
        }
        return true
    }

    /// Goes back to the start, to read the pages again.
    mutating func restart() {
        cameAgain = []
        last = nil
        isAtEnd = rows.isEmpty
    }

    /// What earlier readings have brought and this one, which is known to be whole, has not.
    private var lacking: [NSManagedObjectID] {
        guard let cameAgain, cameAgain.count < rows.count else { return [] }
        return rows.map(\.knownObjectID).filter { !cameAgain.contains($0) }
    }

    /// Whether the pages are read again.
    var isReadAgain: Bool { cameAgain != nil }

    /// The number of rows that this reading has not brought.
    var countOfLacking: Int { lacking.count }

    /// Whether something is lacking that the last whole reading has not lacked.
    var lacksNewly: Bool { lacking.contains { !lackedBefore.contains($0) } }

    /// Notes what is lacking, before the pages are read again.
    mutating func noteLacking() { lackedBefore = Set(lacking) }

    /// Drops what two whole readings have lacked: it is gone, also from between two pages. What only one has lacked was there during the fetch, and stays.
    mutating func dropLacking() {
        isAtEnd = true
        let gone = Set(lacking.filter(lackedBefore.contains))
        if gone.isEmpty { return }
        for id in gone { _ = known.remove(id) }
        rows = RowList(rows.filter { !gone.contains($0.knownObjectID) })
        wasRearranged = true
    }

    /// Drops what was known to follow and has not come again.
    mutating func finish() {
        if isAtEnd { return }
        let confirmed = confirmedRows
        for row in rows.dropFirst(confirmed.count) { _ = known.remove(row.knownObjectID) }
        rows = confirmed
        wasRearranged = true
        isAtEnd = true
    }
}
