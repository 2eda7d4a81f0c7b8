internal import Platform
internal import Predicates

/// The requests whose pages have shifted during their last read, at unknown places: `explain` reports them.
// Everything is in a `LockedBox`.
final class MovingPages: Sendable {
    private static let limit = 256
    private let requests = LockedBox<Set<BackendRequest>>([])

    /// Notes whether the pages of a request have shifted.
    func note(_ request: BackendRequest, hasMoved: Bool) {
        requests.withLock { requests in
            guard hasMoved else {
                if !requests.isEmpty { requests.remove(request) }
                return
            }
            if requests.count >= Self.limit { requests.removeAll() }
            requests.insert(request)
        }
    }

    func contains(_ request: BackendRequest) -> Bool { requests.withLock { $0.contains(request) } }
}

extension RemoteReader {
    /// Returns the reasons why the results of a plan may be incomplete without an error.
    func caveats(of plan: FetchPlan) -> [String] {
        var caveats: [String] = []
        func add(_ text: String) { if !caveats.contains(text) { caveats.append(text) } }
        for (request, endpoint) in zip(plan.requests, plan.endpoints) where !request.wantsCount {
            let (name, paging) = ("“\(request.entity).\(request.endpoint)”", endpoint.paging)
            guard paging.size != nil else { continue }
            if moving.contains(request) {
                add("the pages of \(name) have moved each time that they were last read, and the list of that time may lack resources")
            }
            if paging.stability == .offsets, !paging.overlaps, !endpoint.counts {
                add(
                    "the pages of \(name) move when others insert or delete, and their answers do not show it: a list that is read meanwhile may lack resources"
                )
            }
            if paging.isEndGuessed {
                add("a page of \(name) with fewer resources than others is taken for the last, for answers do not tell")
            }
        }
        return caveats
    }
}
