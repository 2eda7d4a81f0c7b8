internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Reads from a backend: plans, sends requests page by page, and keeps what came along.
// Immutable; its parts guard themselves.
final class RemoteReader: Sendable {
    /// Where the backend's resources are.
    let location: URL
    let catalog: Catalog
    let decoding: AnswerDecoding
    let options: RemoteStoreOptions
    let runner: RequestRunner
    let parked: ParkedRows
    let kept: KeptAnswers
    let versions: VersionTable

    init(_ backend: any Backend, _ catalog: Catalog, _ decoding: AnswerDecoding, _ options: RemoteStoreOptions) {
        location = backend.location
        self.catalog = catalog
        self.decoding = decoding
        self.options = options
        let parked = ParkedRows(limit: options.keptRows)
        let versions = VersionTable()
        (self.parked, self.versions) = (parked, versions)
        kept = KeptAnswers(now: options.now)
        let now = options.now
        runner = RequestRunner(backend, limit: options.concurrentRequests) { answer, time in
            versions.number(answer)
            if !answer.embedded.isEmpty { parked.park(answer.embedded, at: time) }
        } now: {
            now()
        }
    }

    /// Forgets what may be older than changes that were just made or heard of.
    func forgetEarlierAnswers() {
        runner.beginEpoch()
        parked.forgetAll()
    }

    // MARK: Plans

    /// Returns the planner for a caller.
    func planner(_ caller: StoreCaller) -> Planner {
        let epoch = runner.epoch
        return Planner(catalog: catalog, decoding: decoding) { [kept] request, endpoint in
            kept.answer(request, age: endpoint.freshness, maximumAge: caller.stalenessInterval, epoch: epoch) != nil
        }
    }

    /// Returns what is to be planned for a query.
    ///
    /// - Throws: The error of a predicate that did not parse.
    func planned(_ query: StoreQuery) throws -> PlannedFetch {
        var fetch = PlannedFetch(entity: query.entity, includesSubentities: query.includesSubentities)
        if let tree = try query.predicateTree() { fetch.clauses = NormalForm(query.entity).clauses(tree) }
        fetch.sorts = query.sortDescriptors.isEmpty ? [] : try query.sorts()
        (fetch.limit, fetch.offset) = (query.fetchLimit, query.fetchOffset)
        fetch.wantsCount = query.resultType == .countResultType
        fetch.prefetches = query.relationshipKeyPathsForPrefetching
        if query.resultType == .dictionaryResultType {
            var reader = NeedsReader(query.entity)
            for column in query.columns + query.groupedBy { reader.add(column.expression) }
            if let having = try query.havingPredicate?.tree() { reader.add(having) }
            fetch.needs = reader.needs
            fetch.aggregates = aggregates(of: query) ?? []
            // Whatever the order is made of, it is the order of dictionaries.
            if query.isGrouped || query.returnsDistinctResults { (fetch.limit, fetch.offset) = (0, 0) }
            if query.isGrouped {
                for descriptor in query.sortDescriptors { if let key = descriptor.key { reader.add(path: key) } }
                fetch.needs = reader.needs
                fetch.sorts = []
            }
        }
        return fetch
    }

    /// Returns the functions that a query consists of, where a backend could compute them: over all objects, without groups.
    private func aggregates(of query: StoreQuery) -> [Endpoint.Aggregate]? {
        guard query.isGrouped, query.groupedBy.isEmpty, query.havingPredicate == nil else { return nil }
        var aggregates: [Endpoint.Aggregate] = []
        for column in query.columns {
            guard let (name, argument) = column.expression.overRows, argument.keys.count == 1,
                let function = Endpoint.Aggregate.Function(rawValue: name)
            else { return nil }
            aggregates.append(Endpoint.Aggregate(function, of: argument.keys[0]))
        }
        return aggregates
    }

    /// Returns the plan of a query.
    func plan(_ query: StoreQuery, for caller: StoreCaller) throws -> FetchPlan { try planner(caller).plan(planned(query)) }

    // MARK: Pages

    /// How the reading of a request's pages has ended.
    enum End {
        /// No more is wanted.
        case stopped
        /// The last page was read.
        ///
        /// - Parameter isProven: Whether nothing can be missing that the request has asked for.
        case last(isProven: Bool)
    }

    /// Reads the pages of a request, in order.
    ///
    /// - Parameters:
    ///   - mayEndEarly: Whether the caller asks again for what has not come.
    ///   - body: Receives each answer, and returns whether to read on.
    /// - Throws: Code 134070 for answers that end before the number of resources has come that the backend has told; the backend's error.
    func readPages(
        _ request: BackendRequest, _ endpoint: Endpoint, _ budget: FetchBudget, mayEndEarly: Bool = false,
        _ body: (BackendAnswer) async throws -> Bool
    ) async throws -> End {
        var request = request
        var count = 0
        var totals: (first: Int?, last: Int?) = (nil, nil)
        var seen: Set<PageToken> = []
        while true {
            try Task.checkCancellation()
            try budget.noteRequest()
            let answer = try await runner.answer(request)
            try budget.noteRows(answer.count)
            count += answer.count
            totals = (request.page == nil ? answer.total : totals.first, answer.total)
            guard try await body(answer) else { return .stopped }
            guard let next = answer.next else {
                // Others may have added or removed some meanwhile: then the number is another one.
                if !mayEndEarly, let total = totals.last, total == totals.first {
                    let expected = min(request.limit ?? .max, total - request.offset)
                    if count < expected { throw RemoteStoreError.endedEarly(request, count, expected) }
                }
                let isShort = endpoint.paging.size.map { answer.count < $0 } ?? false
                return .last(isProven: answer.isComplete || isShort)
            }
            guard seen.insert(next).inserted else { throw RemoteStoreError.endlessPages(request) }
            request.page = next
        }
    }

    /// The rows that a plan has found, each object once.
    struct Found: Sendable {
        var rows: [Row] = []
        /// Whether each request was read to an end that proves that nothing is missing.
        var isProven = true
    }

    /// Reads everything that the requests of a plan find, side by side.
    ///
    /// - Parameter mayEndEarly: Whether the caller asks again for what has not come.
    func readAll(
        _ plan: FetchPlan, _ budget: FetchBudget, mayEndEarly: Bool = false, for caller: StoreCaller
    ) async throws -> Found {
        var parts: [Found]
        if plan.requests.count == 1 {
            parts = [try await readAll(plan.requests[0], plan.endpoints[0], budget, mayEndEarly, for: caller)]
        } else {
            parts = try await withThrowingTaskGroup(of: (Int, Found).self) { group in
                var parts = Array(repeating: Found(), count: plan.requests.count)
                var next = 0
                func add() {
                    guard next < plan.requests.count else { return }
                    let index = next
                    next += 1
                    let (request, endpoint) = (plan.requests[index], plan.endpoints[index])
                    group.addTask { (index, try await self.readAll(request, endpoint, budget, mayEndEarly, for: caller)) }
                }
                for _ in 0..<options.concurrentRequests { add() }
                while let (index, part) = try await group.next() {
                    parts[index] = part
                    add()
                }
                return parts
            }
        }
        if parts.count == 1 { return parts[0] }
        var found = Found()
        var seen: Set<NSManagedObjectID> = []
        for part in parts {
            found.isProven = found.isProven && part.isProven
            for row in part.rows where seen.insert(row.knownObjectID).inserted { found.rows.append(row) }
        }
        return found
    }

    private func readAll(
        _ request: BackendRequest, _ endpoint: Endpoint, _ budget: FetchBudget, _ mayEndEarly: Bool, for caller: StoreCaller
    ) async throws -> Found {
        let epoch = runner.epoch
        if let answer = kept.answer(request, age: endpoint.freshness, maximumAge: caller.stalenessInterval, epoch: epoch) {
            return Found(rows: Array(answer.rows))
        }
        let time = options.now()
        var found = Found()
        var seen: Set<NSManagedObjectID> = []
        let end = try await readPages(request, endpoint, budget, mayEndEarly: mayEndEarly) { answer in
            if answer.next == nil, found.rows.isEmpty {
                // One page: its rows need not be counted.
                seen = []
                found.rows = Array(answer.rows)
                if !Self.hasDoubles(found.rows) { return true }
                found.rows = []
            }
            for row in answer.rows where seen.insert(row.knownObjectID).inserted { found.rows.append(row) }
            return true
        }
        if case .last(let isProven) = end { found.isProven = isProven }
        if endpoint.freshness != nil { kept.keep(RowList(found.rows), request, askedAt: time, epoch: epoch) }
        return found
    }

    private static func hasDoubles(_ rows: [Row]) -> Bool {
        var seen: Set<NSManagedObjectID> = []
        return rows.contains { !seen.insert($0.knownObjectID).inserted }
    }
}
