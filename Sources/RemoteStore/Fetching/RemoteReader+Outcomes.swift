internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Reading several objects of which some may not be readable: one refusal does not hide the others.
extension RemoteReader {
    typealias Failures = [NSManagedObjectID: UnreadObjects.Failure]

    /// For how long an object is not asked for again where the failure may pass, and the backend has named no time.
    private static let usualWait = Duration.seconds(5)
    /// How often requests are halved to find out whom a refusal is about: a backend that refuses everything is not asked for each object.
    private static let mostHalvings = 16

    /// Runs a read for each number, so many side by side as the options allow, and returns what came of each.
    ///
    /// - Throws: `CancellationError`.
    func outcomes<Value: Sendable>(
        _ count: Int, _ read: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Result<Value, any Error>] {
        var results: [Result<Value, any Error>?] = Array(repeating: nil, count: count)
        try await withThrowingTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            var next = 0
            func add() {
                guard next < count else { return }
                let index = next
                next += 1
                group.addTask {
                    do { return (index, .success(try await read(index))) } catch { return (index, .failure(error)) }
                }
            }
            for _ in 0..<options.concurrentRequests { add() }
            while let (index, result) = try await group.next() {
                results[index] = result
                try Task.checkCancellation()
                add()
            }
        }
        return results.compactMap { $0 }
    }

    /// Returns an error as one of some of the objects that were asked for.
    ///
    /// - Throws: One that says nothing of an object: the task is cancelled, or no request can be made.
    static func failure(_ error: any Error) throws -> UnreadObjects.Failure {
        if error is CancellationError { throw error }
        let known = error as NSError
        if known.domain == NSCocoaErrorDomain {
            switch known.code {
            case NSPersistentStoreUnsupportedRequestTypeError, NSCoreDataError, NSPersistentStoreOpenError: throw error
            default: break
            }
        }
        let prospect = Prospect(error)
        return .init(error, retryAfter: prospect.retryAfter ?? (prospect.mayPass == true ? usualWait : nil))
    }

    /// Reads what the requests of a plan find, each by itself.
    ///
    /// A request for several objects that is refused is asked again in halves, until it is known whom the refusal is about.
    ///
    /// - Parameter failures: The objects that could not be read; all of `ids` that are missing, where a request names none.
    func readEach(
        _ plan: FetchPlan, _ budget: FetchBudget, mayEndEarly: Bool = true, for ids: [NSManagedObjectID],
        _ failures: inout Failures, for caller: StoreCaller
    ) async throws -> Found {
        let known = Dictionary(ids.compactMap { id in decoding.resourceID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        var open = zip(plan.requests, plan.endpoints).map { (request: $0, endpoint: $1) }
        var parts: [Found] = []
        var halvings = 0
        while !open.isEmpty {
            let asked = open
            open = []
            let outcomes = try await outcomes(asked.count) { index in
                try await self.readAll(asked[index].request, asked[index].endpoint, budget, mayEndEarly, for: caller)
            }
            for (one, outcome) in zip(asked, outcomes) {
                switch outcome {
                case .success(let part): parts.append(part)
                case .failure(let error):
                    let failure = try Self.failure(error)
                    let wanted = one.request.identities
                    if wanted.count > 1, failure.retryAfter == nil, halvings < Self.mostHalvings {
                        halvings += 1
                        let middle = wanted.count / 2
                        open.append((one.request.asking(for: Array(wanted[..<middle])), one.endpoint))
                        open.append((one.request.asking(for: Array(wanted[middle...])), one.endpoint))
                    } else if wanted.isEmpty {
                        for id in ids { failures[id] = failure }
                    } else {
                        for id in wanted.compactMap({ known[$0] }) { failures[id] = failure }
                    }
                }
            }
        }
        return Found(joining: parts)
    }
}

extension BackendRequest {
    private var identityIndex: Int? { filters.firstIndex { $0.keyPath == "SELF" && !$0.ids.isEmpty } }

    /// The identifiers of the objects that the request asks for; none where it asks by something else.
    var identities: [ResourceID] { identityIndex.map { filters[$0].ids } ?? [] }

    /// Returns the request for some of the objects.
    func asking(for ids: [ResourceID]) -> BackendRequest {
        guard let index = identityIndex else { return self }
        var part = self
        let filter = filters[index]
        part.filters[index] = Filter(
            parameter: filter.parameter, keyPath: filter.keyPath, comparison: filter.comparison, values: [], ids: ids)
        return part
    }
}
