internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The reads of one fetch, and its limits if a part of it is evaluated in memory.
// The mutable state is in `LockedBox`es.
final class FetchBudget: Sendable {
    private let options: RemoteStoreOptions
    private let entity: String
    /// The clause that makes the limits apply; nil if everything that is read is a result.
    private let clause: String?
    private let used = LockedBox((rows: 0, requests: 0))
    /// The complete answers of requests, which the next page of the fetch needs, too.
    private let answers = LockedBox<[BackendRequest: RowList]>([:])

    init(_ options: RemoteStoreOptions, _ entity: NSEntityDescription, blaming clause: String?) {
        self.options = options
        self.entity = entity.name ?? "?"
        self.clause = clause
    }

    /// Counts a request that is about to be made.
    ///
    /// - Throws: Code 134091, naming the clause, if there are too many.
    func noteRequest() throws {
        try check(
            used.withLock { used in
                used.requests += 1
                return used
            })
    }

    /// Counts received rows.
    ///
    /// - Throws: Code 134091, naming the clause, if there are too many.
    func noteRows(_ count: Int) throws {
        try check(
            used.withLock { used in
                used.rows += count
                return used
            })
    }

    /// Checks that a number of requests, all of which are needed, fits the budget.
    ///
    /// - Throws: Code 134091, naming the clause, before the first request if there would be too many. Otherwise each fetch would make requests up to the limit
    ///   in vain.
    func expectRequests(_ count: Int) throws {
        let used = used.withLock { $0 }
        guard let clause, used.requests + count > options.maximumRequests else { return }
        throw RemoteStoreError.wouldBeOverBudget(entity, clause: clause, requests: used.requests + count, options)
    }

    /// Returns the complete answers to the requests of a plan. A single request is made once for the fetch.
    ///
    /// - Parameter read: A closure that makes the requests.
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
