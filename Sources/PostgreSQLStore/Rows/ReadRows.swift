#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Rows of a result, and those that cannot be read: a value of theirs is one that its attribute does not have.
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
    /// - Throws: The error of one that cannot be read.
    func all() throws -> RowList {
        if let failure = failures.first { throw failure.error }
        return rows
    }

    /// The answer to a fetch: the objects alone where rows of some cannot be read, which say so when they are.
    var answer: StoreAnswer {
        if failures.isEmpty { return .rows(rows) }
        var ids = rows.map { $0.knownObjectID }
        for failure in failures.reversed() { ids.insert(failure.id, at: failure.place) }
        return .ids(ids)
    }
}
#endif
