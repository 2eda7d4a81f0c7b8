internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Reads several objects of which some may not be readable: one refusal does not hide the others.
extension RemoteReader {
    typealias Failures = [NSManagedObjectID: UnreadObjects.Failure]

    /// The time for which an object is not requested again after a temporary failure, if the backend has not specified a time.
    private static let usualWait = Duration.seconds(5)
    /// The number of times that requests are halved to find the objects that a refusal is about: a backend that refuses everything is not asked for each
    /// object.
    private static let mostHalvings = 16
    /// The number of rounds without an answer after which a temporary failure is attributed to the backend: a request, its halves and its quarters, which fewer
    /// than four objects cannot all affect.
    private static let mostSilences = 3

    /// Runs a read for each number, as many concurrently as the options allow, and returns their results.
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

    /// Returns an error as the failure of some of the requested objects.
    ///
    /// - Throws: An error that is not about an object: the task is cancelled, or no request can be made.
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

    /// Reads the results of each request of a plan separately.
    ///
    /// - Parameter failures: The objects that could not be read; all missing ones of `ids`, if a request names no objects.
    func readEach(
        _ plan: FetchPlan, _ budget: FetchBudget, mayEndEarly: Bool = true, for ids: [NSManagedObjectID],
        _ failures: inout Failures, for caller: StoreCaller
    ) async throws -> Found {
        let known = Dictionary(ids.compactMap { id in decoding.resourceID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        let asked = zip(plan.requests, plan.endpoints).map { GroupRequest($0, at: $1, naming: $0.identityIndex) }
        try budget.expectRequests(asked.count)
        let (parts, refused) = try await answers(asked) { one in
            try await self.readAll(one.request, one.endpoint, budget, mayEndEarly, for: caller)
        }
        for (one, failure) in refused {
            for id in one.ids.isEmpty ? ids : one.ids.compactMap({ known[$0] }) { failures[id] = failure }
        }
        return Found(joining: parts)
    }

    /// Makes requests for several objects each. A refused request is repeated in halves, until the affected objects are known.
    ///
    /// A temporary failure is not investigated if the backend has specified a time or could not be reached, or after some rounds without an answer.
    ///
    /// - Returns: The answers, and the refused requests with the reasons. A refused request that names several objects may be about any of them.
    func answers<Value: Sendable>(
        _ requests: [GroupRequest], _ read: @escaping @Sendable (GroupRequest) async throws -> Value
    ) async throws -> (values: [Value], refused: [(request: GroupRequest, failure: UnreadObjects.Failure)]) {
        var open = requests
        var values: [Value] = []
        var refused: [(request: GroupRequest, failure: UnreadObjects.Failure)] = []
        var (halvings, silences) = (0, 0)
        while !open.isEmpty {
            let asked = open
            open = []
            let outcomes = try await outcomes(asked.count) { try await read(asked[$0]) }
            silences = outcomes.contains { if case .success = $0 { true } else { false } } ? 0 : silences + 1
            for (one, outcome) in zip(asked, outcomes) {
                switch outcome {
                case .success(let value): values.append(value)
                case .failure(let error):
                    let failure = try Self.failure(error)
                    if one.ids.count > 1, halvings < Self.mostHalvings, Self.isWorthHalving(error, silences) {
                        halvings += 1
                        open += one.halves
                    } else {
                        refused.append((one, failure))
                    }
                }
            }
        }
        return (values, refused)
    }

    /// Whether the refusal of several objects may be about some of them only.
    ///
    /// - Parameter silences: The number of rounds without an answer.
    private static func isWorthHalving(_ error: any Error, _ silences: Int) -> Bool {
        let prospect = Prospect(error)
        if prospect.retryAfter != nil { return false }
        if prospect.mayPass != true { return true }
        return !prospect.isOffline && !prospect.needsCredentials && silences < mostSilences
    }
}

/// A request that names several objects, or owners of objects.
struct GroupRequest: Sendable {
    let request: BackendRequest
    let endpoint: Endpoint
    /// The index of the filter that names them; nil if the request names no objects.
    private let index: Int?

    init(_ request: BackendRequest, at endpoint: Endpoint, naming index: Int?) {
        (self.request, self.endpoint, self.index) = (request, endpoint, index)
    }

    /// The identifiers that the request names; empty if it names none.
    var ids: [ResourceID] { index.map { request.filters[$0].ids } ?? [] }

    /// Two requests, for half of the objects each.
    var halves: [GroupRequest] {
        guard let index else { return [self] }
        let middle = ids.count / 2
        return [ids[..<middle], ids[middle...]].map { GroupRequest(request.naming(Array($0), at: index), at: endpoint, naming: index) }
    }
}

extension BackendRequest {
    /// The index of the filter by identifiers; nil if the request has none.
    fileprivate var identityIndex: Int? { filters.firstIndex { $0.keyPath == "SELF" && !$0.ids.isEmpty } }

    /// Returns the request with other identifiers in one of its filters.
    func naming(_ ids: [ResourceID], at index: Int) -> BackendRequest {
        var other = self
        let filter = filters[index]
        other.filters[index] = Filter(
            parameter: filter.parameter, keyPath: filter.keyPath, comparison: filter.comparison, values: [], ids: ids)
        return other
    }
}
