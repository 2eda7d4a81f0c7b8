internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Reads from a backend: it plans, sends requests page by page, and keeps embedded rows.
// Immutable; its parts guard themselves.
final class RemoteReader: Sendable {
    /// The location of the backend's resources.
    let location: URL
    let catalog: Catalog
    let decoding: AnswerDecoding
    let options: RemoteStoreOptions
    let runner: RequestRunner
    let parked: ParkedRows
    let kept: KeptAnswers
    let versions: VersionTable
    let earlier = EarlierRows()
    /// The requests whose total changed while their pages were last read.
    let moving = MovingPages()
    let unreadable: UnreadableTable
    /// A closure that receives the rows that were read to evaluate others, and that are not returned.
    let didComplete: (@Sendable ([Row]) -> Void)?
    /// Whether the model has relationships to entities with subentities.
    let hasReferencesToKinds: Bool

    /// - Parameters:
    ///   - didReceive: A closure that is called with each answer.
    ///   - didComplete: A closure that is called with rows that are read to evaluate others.
    init(
        _ backend: any Backend, _ catalog: Catalog, _ decoding: AnswerDecoding, _ options: RemoteStoreOptions,
        didReceive: (@Sendable (BackendAnswer) -> Void)? = nil, didComplete: (@Sendable ([Row]) -> Void)? = nil
    ) {
        self.didComplete = didComplete
        location = backend.location
        self.catalog = catalog
        self.decoding = decoding
        self.options = options
        let parked = ParkedRows(limit: options.keptRows)
        let versions = VersionTable()
        (self.parked, self.versions) = (parked, versions)
        kept = KeptAnswers(now: options.now)
        let hasReferencesToKinds = decoding.hasReferencesToKinds
        self.hasReferencesToKinds = hasReferencesToKinds
        let now = options.now
        let unreadable = UnreadableTable()
        self.unreadable = unreadable
        let report = options.didFindUnreadable
        runner = RequestRunner(backend, limit: options.concurrentRequests) { answer, time in
            versions.number(answer)
            unreadable.receive(answer)
            if let report {
                for error in answer.unreadable {
                    report(error as? UnreadableResource ?? UnreadableResource(answer.entity, id: nil, reason: error))
                }
            }
            // Only models with such references use the table.
            if hasReferencesToKinds {
                decoding.kinds.note(answer.rows)
                decoding.kinds.note(answer.embedded)
            }
            didReceive?(answer)
            if !answer.embedded.isEmpty { parked.park(answer.embedded, at: time) }
        } now: {
            now()
        }
    }

    /// Forgets answers that may be older than changes that were made or reported a moment ago.
    ///
    /// - Parameter time: The time at which the changes were requested; nil for changes that were made until now.
    func forgetEarlierAnswers(before time: AskTime? = nil) {
        runner.beginEpoch()
        parked.forgetAll(before: time ?? AskTime(options.now()))
    }

    // MARK: Plans

    /// Returns the planner for a caller.
    func planner(_ caller: StoreCaller) -> Planner {
        let epoch = runner.epoch
        return Planner(catalog: catalog, decoding: decoding) { [kept] request, endpoint in
            kept.answer(request, age: endpoint.freshness, maximumAge: caller.stalenessInterval, epoch: epoch) != nil
        }
    }

    /// Returns the fetch to plan for a query.
    ///
    /// - Throws: The error of a predicate that could not be parsed.
    func planned(_ query: StoreQuery) throws -> PlannedFetch {
        var fetch = PlannedFetch(entity: query.entity, includesSubentities: query.includesSubentities)
        if let tree = try query.predicateTree() { fetch.clauses = NormalForm(query.entity).clauses(tree) }
        fetch.sorts = query.sortDescriptors.isEmpty ? [] : try query.sorts()
        (fetch.limit, fetch.offset) = (query.fetchLimit, query.fetchOffset)
        fetch.mayJoin = true
        fetch.wantsCount = query.resultType == .countResultType
        fetch.prefetches = query.relationshipKeyPathsForPrefetching
        fetch.wantsOnlyNeeds = query.resultType == .dictionaryResultType || query.resultType == .managedObjectIDResultType
        if query.resultType == .dictionaryResultType {
            var reader = NeedsReader(query.entity)
            for column in query.columns + query.groupedBy { reader.add(column.expression) }
            if let having = try query.havingPredicate?.tree() { reader.add(having) }
            fetch.needs = reader.needs
            let grouped = BackendGroups(query)
            fetch.aggregates = grouped?.aggregates ?? []
            fetch.groups = grouped?.keys ?? []
            // The order applies to the dictionaries, regardless of its keys.
            if query.isGrouped || query.returnsDistinctResults { (fetch.limit, fetch.offset) = (0, 0) }
            if query.isGrouped {
                for descriptor in query.sortDescriptors { if let key = descriptor.key { reader.add(path: key) } }
                fetch.needs = reader.needs
                fetch.sorts = []
            }
        }
        return fetch
    }

    /// Returns the plan of a query.
    func plan(_ query: StoreQuery, for caller: StoreCaller) throws -> FetchPlan {
        var plan = try planner(caller).plan(planned(query))
        plan.caveats = caveats(of: plan)
        if query.fetchBatchSize > 0, query.fetchLimit == 0, query.fetchOffset == 0 { plan.scrolling = plan.isScrollable }
        return plan
    }
}
