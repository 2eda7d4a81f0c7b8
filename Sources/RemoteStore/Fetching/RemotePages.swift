internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The results of a fetch, page by page.
// Unchecked: its owner makes one call at a time.
final class RemotePages: StorePages, @unchecked Sendable {
    private let reader: RemoteReader
    private let query: StoreQuery
    private let plan: FetchPlan
    private let caller: StoreCaller
    private var reading: RemoteReader.PageReading
    private let candidates = CandidateRows()
    /// The returned results.
    private var returned: Set<NSManagedObjectID> = []
    private var isAtEnd = false
    /// Received rows that were not compared with the predicate yet.
    private var unmatched: [Row] = []

    init(_ reader: RemoteReader, _ query: StoreQuery, _ plan: FetchPlan, for caller: StoreCaller) {
        (self.reader, self.query, self.plan, self.caller) = (reader, query, plan, caller)
        reading = RemoteReader.PageReading(plan.requests[0], plan.endpoints[0])
    }

    func next(_ count: Int) async throws -> StorePage {
        let budget = FetchBudget(reader.options, query.entity, blaming: plan.costlyClause)
        var hasRearranged = false
        // Pages of the batch size contain slightly fewer new rows, because they overlap.
        while unshown * 2 < count, !(isAtEnd && unmatched.isEmpty) {
            if !isAtEnd {
                guard let step = try await reader.step(&reading, budget) else { continue }
                isAtEnd = step.end != nil
                hasRearranged = hasRearranged || step.hasRearranged
                unmatched += Array(step.new)
            }
            // A failed read is repeated by the next call.
            _ = try await reader.matching(unmatched, query, plan, budget, candidates, for: caller)
            unmatched = []
            if hasRearranged { candidates.order(as: Array(reading.pages.rows)) }
        }
        var rows = candidates.rows.filter { !returned.contains($0.knownObjectID) }
        if reader.hasReferencesToKinds { rows = try await reader.knowingKinds(rows, for: caller) }
        returned.formUnion(rows.map(\.knownObjectID))
        let gone = hasRearranged ? returned.filter { !reading.pages.contains($0) } : []
        returned.subtract(gone)
        return StorePage(rows: rows, gone: Array(gone), isLast: isAtEnd)
    }

    /// The number of results that were not returned yet.
    private var unshown: Int { candidates.rows.count - returned.count }
}

extension RemoteReader {
    /// Returns the pages of a query; nil if the results are sorted in memory, or come from several requests, or have only one page.
    func pages(of query: StoreQuery, for caller: StoreCaller) throws -> RemotePages? {
        let plan = try plan(query, for: caller)
        return plan.isScrollable ? RemotePages(self, query, plan, for: caller) : nil
    }
}

extension FetchPlan {
    /// Whether the results arrive in order, page by page.
    var isScrollable: Bool {
        requests.count == 1 && joins.isEmpty && isOrdered && !usesKeptAnswer && !isCountedByBackend && !isAggregatedByBackend
            && endpoints[0].paging.size != nil
    }
}
