internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The calls that execute batch requests, each checked against the model like the calls that read.
struct BulkCalls: Sendable {
    private let updates: Catalog
    private let deletes: Catalog

    /// Checks the descriptions.
    ///
    /// - Throws: Code 134080 for a name that the model does not have.
    init(_ resources: [Resource], _ model: NSManagedObjectModel) throws {
        func catalog(_ endpoint: (Resource.Saving.Bulk) -> Endpoint?) throws -> Catalog {
            try Catalog(
                resources.compactMap { resource in
                    resource.saving?.bulk.flatMap(endpoint).map { Resource(resource.entity, endpoints: [$0]) }
                }, model)
        }
        updates = try catalog(\.update)
        deletes = try catalog(\.delete)
    }

    /// Returns the calls that do exactly what a batch request specifies.
    ///
    /// - Throws: Code 134091, naming the clause that they cannot apply.
    func targets(
        of fetch: PlannedFetch, _ kind: Resource.Saving.Kind, for request: String, _ decoding: AnswerDecoding
    ) throws -> [BackendRequest] {
        let name = fetch.entity.name ?? "?"
        let next = "Let the call take it, narrow the predicate to what it takes, or change objects of a context and save."
        func refuse(_ reason: String, cause: (any Error)? = nil) -> NSError {
            RemoteStoreError.batch(request, name, reason, next: next, cause: cause)
        }
        let catalog = kind == .update ? updates : deletes
        guard !catalog.entries(for: fetch.entity, includingSubentities: fetch.includesSubentities).isEmpty else {
            let isForOne = !catalog.entries(for: fetch.entity, includingSubentities: false).isEmpty
            throw refuse(
                isForOne ? "The call does not reach the entities that inherit from “\(name)”." : "The backend has declared no call for it.")
        }
        let plan: FetchPlan
        do { plan = try Planner(catalog: catalog, decoding: decoding, isKept: { _, _ in false }).plan(fetch) } catch {
            throw refuse((error as NSError).localizedFailureReason ?? error.localizedDescription, cause: error)
        }
        if let clause = plan.predicateInMemory { throw refuse("The backend's call cannot do “\(clause)”.") }
        if plan.filtersKinds { throw refuse("The backend's call reaches other entities than “\(name)” too.") }
        let isPaged = fetch.limit > 0 || fetch.offset > 0
        if isPaged {
            let isPushed = plan.requests.allSatisfy { $0.offset == fetch.offset && ($0.limit ?? 0) == fetch.limit }
            if !plan.sortsInMemory.isEmpty {
                throw refuse("The backend's call cannot sort by \(plan.sortsInMemory.joined(separator: ", ")).")
            }
            if !isPushed || plan.requests.count > 1 {
                throw refuse("The backend's call cannot apply limit \(fetch.limit), offset \(fetch.offset).")
            }
        }
        guard plan.requests.count < 2 || Self.areDisjoint(plan.requests) else {
            throw refuse("It would take \(plan.requests.count) calls, which may find the same resources.")
        }
        return plan.requests
    }

    /// Whether no resource matches two of the requests, because they ask for different values of one parameter.
    private static func areDisjoint(_ requests: [BackendRequest]) -> Bool {
        guard let first = requests.first else { return true }
        var varied: Int?
        for request in requests.dropFirst() {
            guard request.endpoint == first.endpoint, request.entity == first.entity, request.predicate == first.predicate,
                request.filters.count == first.filters.count
            else { return false }
            for index in request.filters.indices where request.filters[index] != first.filters[index] {
                if let varied, varied != index { return false }
                varied = index
            }
        }
        guard let varied else { return false }
        var values: Set<PropertyValue> = []
        var ids: Set<ResourceID> = []
        for filter in requests.map({ $0.filters[varied] }) {
            guard filter.parameter == first.filters[varied].parameter, filter.keyPath == first.filters[varied].keyPath,
                !filter.keyPath.hasPrefix("ANY "), filter.comparison == .equal || filter.comparison == .isIn
            else { return false }
            for value in filter.values where !values.insert(value).inserted { return false }
            for id in filter.ids where !ids.insert(id).inserted { return false }
        }
        return true
    }
}
