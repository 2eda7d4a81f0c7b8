public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore

/// A backend in memory, with any capabilities and any misbehaviour, that records its requests: for tests of applications and of code that uses backends.
///
/// It has exactly the capabilities that its resources declare, and evaluates requests itself.
///
/// ```swift
/// let backend = ScriptedBackend(model, [Resource("Album", endpoints: [Endpoint("all")])])
/// backend.put("Album", 1, ["title": "Help!"])
/// try coordinator.addRemoteStore(backend)
/// try await backend.expectRequests(atMost: 1) { _ = try await context.fetchAsynchronously(request) }
/// ```
public final class ScriptedBackend: Backend {
    /// The backend's reaction to a request or a save.
    public enum Behaviour: Sendable {
        /// It answers.
        case answer
        /// It answers after a time.
        case delay(Duration)
        /// It answers when ``ScriptedBackend/release()`` is called, with its contents at that time.
        case hold
        /// It answers when ``ScriptedBackend/release()`` is called, with its contents at the time of the request.
        case holdAnswer
        /// It fails.
        case fail(any Error)
        /// It does nothing and refuses each change, even one with a known key, as a busy service does.
        case refuse(any Error)
        /// It executes the request, and the answer is lost.
        case loseAnswer(any Error)
        /// It does nothing, and the caller does not learn that: the request is lost.
        case loseRequest(any Error)
        /// It answers after a later request, with its contents at the time of its own request. If there is no other request, it answers at once.
        case overtaken
        /// It answers with the first half of the resources, without indicating that there are others.
        case half
    }

    /// The kind of version marks.
    public enum Versions: Sendable {
        /// No versions.
        case none
        /// Increasing numbers.
        case numbers
        /// Tags without an order.
        case tags
    }

    /// The location of the backend.
    public let location: URL
    /// The capabilities of the backend.
    public let resources: [Resource]

    // The mutable state is in here; models do not change once they are in use.
    let state = LockedBox(State())
    private let model: NSManagedObjectModel
    let entities: [String: NSEntityDescription]
    /// The names of the to-many relationships, by entity.
    let toMany: [String: Set<String>]

    /// Creates a backend without resources.
    ///
    /// - Parameters:
    ///   - model: The model with the entities of the resources.
    ///   - resources: The capabilities of the backend.
    ///   - location: The location of the backend.
    public init(_ model: NSManagedObjectModel, _ resources: [Resource], at location: URL? = nil) {
        self.model = model
        entities = model.entitiesByName
        toMany = entities.mapValues { Set($0.relationshipsByName.filter { $1.isToMany }.keys) }
        self.resources = resources
        self.location = location ?? URL(string: "scripted:backend") ?? URL(fileURLWithPath: "/")
    }

    // MARK: Contents

    /// Adds a resource, or replaces its values.
    public func put(_ entity: String, _ id: some ResourceIdentifier, _ values: [String: ResourceValue]) {
        let id = id.resourceID
        state.withLock { $0.put(entity, id, values) }
    }

    /// Changes values of a resource, as another client would.
    public func change(_ entity: String, _ id: some ResourceIdentifier, _ values: [String: ResourceValue]) {
        let id = id.resourceID
        state.withLock { $0.change(entity, id, values) }
    }

    /// Removes a resource, as another client would.
    public func remove(_ entity: String, _ id: some ResourceIdentifier) {
        let id = id.resourceID
        state.withLock { $0.remove(entity, id) }
    }

    /// Returns the values of a resource; nil if there is none.
    public func values(_ entity: String, _ id: some ResourceIdentifier) -> [String: ResourceValue]? {
        state.withLock { $0.records[entity]?[id.resourceID]?.values }
    }

    /// Returns the identifiers of all resources of an entity, in the order of insertion.
    public func ids(_ entity: String) -> [ResourceID] { state.withLock { $0.order[entity] ?? [] } }

    // MARK: The script

    /// Sets the backend's reaction to each request.
    public func script(_ behaviour: @escaping @Sendable (BackendRequest) -> Behaviour) { state.withLock { $0.behaviour = behaviour } }

    /// Sets the backend's reaction to each call that saves.
    public func scriptSaves(_ behaviour: @escaping @Sendable ([BackendChange]) -> Behaviour) {
        state.withLock { $0.saveBehaviour = behaviour }
    }

    /// Sets the outcome of changes; those for which the function returns nil are saved.
    public func scriptOutcomes(_ outcome: @escaping @Sendable (BackendChange) -> BackendOutcome?) {
        state.withLock { $0.outcome = outcome }
    }

    /// The current user; nil at first. Changes of other users are refused.
    public var principal: String? { state.withLock { $0.principal } }

    /// Sets the current user; nil for none.
    public func signIn(_ principal: String?) { state.withLock { $0.principal = principal } }

    /// Sets the kind of version marks.
    public func setVersions(_ versions: Versions) { state.withLock { $0.versions = versions } }

    /// Sets the number of resources after which answers are cut off without indication.
    public func setSilentLimit(_ limit: Int?) { state.withLock { $0.silentLimit = limit } }

    /// Forgets keys of saved changes, as a service does after a while: a change that is sent again with such a key is saved again.
    public func forgetKeys(_ keys: Set<UUID>) {
        state.withLock { state in for key in keys { state.answeredKeys[key] = nil } }
    }

    /// Releases the requests that are held.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Suspends until a number of requests are held.
    public func untilHeld(_ count: Int = 1) async {
        while state.withLock({ $0.held.count }) < count { await Task.yield() }
    }

    // MARK: Recorded requests

    /// The requests so far, in order.
    public var requests: [BackendRequest] { state.withLock { $0.requests } }
    /// The calls that saved, in order, each with its changes.
    public var saves: [[BackendChange]] { state.withLock { $0.saves } }
    /// The bulk calls, in order.
    public var bulkRequests: [BulkRequest] { state.withLock { $0.bulkRequests } }
    /// The largest number of requests that ran at the same time.
    public var mostConcurrentRequests: Int { state.withLock { $0.mostRunning } }

    /// Forgets the recorded requests.
    public func forgetRequests() {
        state.withLock { state in
            state.requests = []
            state.saves = []
            state.bulkRequests = []
            state.mostRunning = 0
        }
    }

    /// Runs `body`, and throws an error if it has made more requests than expected.
    ///
    /// - Throws: ``UnexpectedRequests`` with the requests; the errors of `body`.
    @discardableResult
    public func expectRequests<Result>(atMost limit: Int, _ body: () throws -> Result) throws -> Result {
        let before = requests.count
        let result = try body()
        try check(before, limit)
        return result
    }

    /// Runs `body`, and throws an error if it has made more requests than expected.
    ///
    /// - Throws: ``UnexpectedRequests`` with the requests; the errors of `body`.
    @discardableResult
    public func expectRequests<Result>(
        atMost limit: Int, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let before = requests.count
        let result = try await body()
        try check(before, limit)
        return result
    }

    private func check(_ before: Int, _ limit: Int) throws {
        let made = requests.dropFirst(before)
        guard made.count > limit else { return }
        let lines = made.prefix(50).map { "\n  \($0)" }.joined()
        throw UnexpectedRequests(description: "At most \(limit) requests were expected, \(made.count) were made:\(lines)")
    }
}

/// The error of an unmet expectation of ``ScriptedBackend``.
public struct UnexpectedRequests: LocalizedError, CustomStringConvertible {
    /// The same as ``description``.
    public var errorDescription: String? { description }
    /// The expectation, and the requests that were made.
    public let description: String
}
