/// The counters of a store.
struct Count {
    let store: String
    let objects: Int
    /// Nil where the store does not count them.
    let faults: Int?
    let requests: String
    let cacheHits: String
}

/// The counters of all chapters, for the table at the end.
struct Tally {
    static let header = ["store", "objects", "faults fired", "requests", "cache hits"]

    private(set) var rows: [[String]] = []

    mutating func add(_ count: Count) {
        rows.append([count.store, "\(count.objects)", count.faults.map { "\($0)" } ?? "–", count.requests, count.cacheHits])
    }
}

/// What is wrong with the arguments of the program.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}
