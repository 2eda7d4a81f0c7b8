internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// What one fetch has read, and may read where a part of it is finished in memory.
// Everything that changes is in a `LockedBox`.
final class FetchBudget: Sendable {
    private let options: RemoteStoreOptions
    private let entity: String
    /// The clause to blame; nil where everything that is read is a result.
    private let clause: String?
    private let used = LockedBox((rows: 0, requests: 0))
    /// What whole endpoints have answered, which the next page of the fetch needs, too.
    private let answers = LockedBox<[BackendRequest: RowList]>([:])

    init(_ options: RemoteStoreOptions, _ entity: NSEntityDescription, blaming clause: String?) {
        self.options = options
        self.entity = entity.name ?? "?"
        self.clause = clause
    }

    /// Notes a request that is about to be made.
    ///
    /// - Throws: Code 134091, naming the clause, where there are too many.
    func noteRequest() throws {
        try check(
            used.withLock { used in
                used.requests += 1
                return used
            })
    }

    /// Notes rows that have come.
    ///
    /// - Throws: Code 134091, naming the clause, where there are too many.
    func noteRows(_ count: Int) throws {
        try check(
            used.withLock { used in
                used.rows += count
                return used
            })
    }

    /// Notes that so many requests are about to be made, each of which is needed.
    ///
    /// - Throws: Code 134091, naming the clause, before the first of them where they would be too many: each fetch would make those up to the limit, for
    ///   nothing.
    func expectRequests(_ count: Int) throws {
        let used = used.withLock { $0 }
        guard let clause, used.requests + count > options.maximumRequests else { return }
        throw RemoteStoreError.wouldBeOverBudget(entity, clause: clause, requests: used.requests + count, options)
    }

    /// Returns all that the requests of a plan answer; where they are one, it is asked once for the fetch.
    ///
    /// - Parameter read: Asks.
    func whole(_ requests: [BackendRequest], _ read: () async throws -> RowList) async throws -> RowList {
        guard requests.count == 1 else { return try await read() }
        if let known = answers.withLock({ $0[requests[0]] }) { return known }
        let rows = try await read()
        answers.withLock { $0[requests[0]] = rows }
        return rows
    }

    private func check(_ used: (rows: Int, requests: Int)) throws {
        if used.rows > options.maximumResults || used.requests > options.maximumPages {
            throw RemoteStoreError.tooMany(entity, rows: used.rows, requests: used.requests, options)
        }
        guard let clause, used.rows > options.maximumRows || used.requests > options.maximumRequests else { return }
        throw RemoteStoreError.overBudget(entity, clause: clause, rows: used.rows, requests: used.requests, options)
    }
}
