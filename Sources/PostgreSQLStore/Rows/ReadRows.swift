#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The rows of a result, and the rows that cannot be read, because their attribute cannot hold a value.
struct ReadRows {
    var rows = RowList()
    private(set) var failures: [(id: NSManagedObjectID, place: Int, error: any Error)] = []

    mutating func add(_ id: NSManagedObjectID, _ error: any Error) { failures.append((id, rows.count, error)) }

    /// Why objects cannot be read.
    var reasons: [NSManagedObjectID: UnreadObjects.Failure] {
        Dictionary(failures.map { ($0.id, UnreadObjects.Failure($0.error)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the rows.
    ///
    /// - Throws: The error of a row that cannot be read.
    func all() throws -> RowList {
        if let failure = failures.first { throw failure.error }
        return rows
    }

    /// The answer to a fetch. If some rows cannot be read, it has object IDs only; reading such an object then reports the error.
    var answer: StoreAnswer {
        if failures.isEmpty { return .rows(rows) }
        var ids = rows.map { $0.knownObjectID }
        for failure in failures.reversed() { ids.insert(failure.id, at: failure.place) }
        return .ids(ids)
    }
}
#endif
