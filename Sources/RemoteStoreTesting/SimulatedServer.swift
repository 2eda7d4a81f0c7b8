internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore

/// A server in memory that several clients share, with the misbehaviours of real servers, each of which an option enables.
///
/// Each client has its own ``connection(_:)``, which is a `Backend`. A ``SimulatedNetwork`` connects it to the server.
///
/// ```swift
/// let server = SimulatedServer(model, [Resource("Note", endpoints: [Endpoint("all")], saving: .init(isIdempotent: true))])
/// server.options.replicaLag = .seconds(5)
/// try coordinator.addCachedStore(server.connection("A"), at: file)
/// server.network.setConnected(false, "A")
/// ```
///
/// Its methods may be called on any thread.
public final class SimulatedServer: Sendable {
    /// The behaviour of the server. By default it is well-behaved.
    public struct Options: Sendable {
        /// The kind of version marks: increasing revisions, tags such as ETags, or none.
        public var versions = ScriptedBackend.Versions.numbers
        /// Whether it has a change feed, including deletions.
        public var hasChangeFeed = true
        /// Whether the feed reports the removal of a resource whose identifier another one has received since.
        public var tellsReplacements = true
        /// The number of changes in one answer of the feed.
        public var changesPerAnswer = Int.max
        /// Whether a new resource may receive the identifier of a deleted one.
        public var reusesIdentifiers = false
        /// The lag of the replica, which answers some of the reads.
        public var replicaLag = Duration.zero
        /// The share of reads that the replica answers, from 0 to 1.
        public var staleReads = 0.0
        /// Whether a read may be answered by the replica.
        public var mayBeStale: @Sendable (BackendRequest) -> Bool = { _ in true }
        /// The share of saves of several changes whose answers lack outcomes, from 0 to 1. The changes are applied.
        public var missingOutcomes = 0.0
        /// The share of reads that are cut off without indication, from 0 to 1.
        public var cappedAnswers = 0.0
        /// Whether a read may be cut off.
        public var mayBeCapped: @Sendable (BackendRequest) -> Bool = { _ in true }
        /// A function that returns the reason why a change is refused; nil for a change that is saved.
        public var refusal: @Sendable (BackendChange) -> (any Error)? = { _ in nil }

        /// Creates options of a well-behaved server.
        public init() {}
    }

    /// A change that the server has applied.
    public struct Applied: Sendable {
        /// The change as it was received.
        public let change: BackendChange
        /// The client that has sent it.
        public let client: String
        /// The identifier of the resource.
        public let id: ResourceID
        /// The revision that it made.
        public let revision: Int64
        /// The number of the call that contained it, among those of all clients.
        public let call: Int
    }

    struct Contents {
        var state = ScriptedBackend.State()
        var options = Options()
        var random: SeededGenerator
        /// The past states that the replica may still have, with the times until which they were current.
        var past: [(until: Duration, state: ScriptedBackend.State)] = []
        var applied: [Applied] = []
        /// The number of calls that saved something, or tried to.
        var saveCalls = 0
        /// The null values of a new resource for properties that were not given, by entity.
        var nulls: [String: [String: ResourceValue]] = [:]
    }

    /// The network between the server and its clients.
    public let network: SimulatedNetwork
    let contents: LockedBox<Contents>
    let clock: any CacheClock
    let resources: [Resource]
    let location: URL
    // Models do not change once they are in use.
    let entities: [String: NSEntityDescription]
    let toMany: [String: Set<String>]

    /// Creates a server without resources.
    ///
    /// - Parameters:
    ///   - model: The model with the entities of the resources.
    ///   - resources: The capabilities of the server.
    ///   - network: The network between the server and its clients.
    ///   - clock: The clock for the lag of the replica.
    ///   - seed: The seed of the random decisions for the shares of ``Options``.
    public init(
        _ model: NSManagedObjectModel, _ resources: [Resource], network: SimulatedNetwork = SimulatedNetwork(),
        clock: any CacheClock = .system, seed: UInt64 = 0
    ) {
        entities = model.entitiesByName
        toMany = entities.mapValues { Set($0.relationshipsByName.filter { $1.isToMany }.keys) }
        (self.network, self.clock, self.resources) = (network, clock, resources)
        location = URL(string: "simulated:server") ?? URL(fileURLWithPath: "/")
        var contents = Contents(random: SeededGenerator(seed: seed))
        contents.state.versions = contents.options.versions
        contents.state.log = []
        contents.nulls = entities.mapValues { entity in
            let attributes = entity.attributesByName.mapValues { _ in ResourceValue.value(.null) }
            return attributes.merging(entity.relationshipsByName.filter { !$1.isToMany }.mapValues { _ in .one(nil) }) { first, _ in first }
        }
        self.contents = LockedBox(contents)
    }

    /// The behaviour of the server from now on.
    public var options: Options {
        get { contents.withLock { $0.options } }
        set {
            contents.withLock { contents in
                contents.options = newValue
                contents.state.versions = newValue.versions
                contents.state.tellsReplacements = newValue.tellsReplacements
                contents.state.changePage = max(1, newValue.changesPerAnswer)
                contents.state.freeIDs = newValue.reusesIdentifiers ? contents.state.freeIDs ?? [:] : nil
            }
        }
    }

    /// Returns a client's connection to the server.
    ///
    /// - Parameter client: The name of the client in ``network``.
    public func connection(_ client: String) -> SimulatedConnection { SimulatedConnection(self, client) }

    // MARK: Contents

    /// Adds a resource, or replaces its values, as a client without faults would.
    public func put(_ entity: String, _ id: some ResourceIdentifier, _ values: [String: ResourceValue]) {
        let id = id.resourceID
        let nulls = contents.withLock { $0.nulls[entity] ?? [:] }
        write { $0.put(entity, id, values.merging(nulls) { known, _ in known }) }
    }

    /// Changes values of a resource, as a client without faults would.
    public func change(_ entity: String, _ id: some ResourceIdentifier, _ values: [String: ResourceValue]) {
        let id = id.resourceID
        write { $0.change(entity, id, values) }
    }

    /// Removes a resource, as a client without faults would.
    public func remove(_ entity: String, _ id: some ResourceIdentifier) {
        let id = id.resourceID
        write { $0.remove(entity, id) }
    }

    /// Returns the values of a resource; nil if there is none.
    public func values(_ entity: String, _ id: some ResourceIdentifier) -> [String: ResourceValue]? {
        contents.withLock { $0.state.records[entity]?[id.resourceID]?.values }
    }

    /// Returns the identifiers of all resources of an entity, in the order of insertion.
    public func ids(_ entity: String) -> [ResourceID] { contents.withLock { $0.state.order[entity] ?? [] } }

    /// Makes all previous tokens of the change feed expire.
    public func expireChangeTokens() {
        contents.withLock { contents in
            contents.state.log?.append(.init(entity: "", id: 0))
            contents.state.firstToken = contents.state.log?.count ?? 0
        }
    }

    /// The changes that clients have made, in order. A change that was sent again with its idempotency key was applied once.
    public var applied: [Applied] { contents.withLock { $0.applied } }

    /// The number of the last change.
    public var revision: Int64 { contents.withLock { $0.state.clock } }

    private func write(_ body: (inout ScriptedBackend.State) -> Void) {
        let time = clock.uptime
        contents.withLock { contents in
            contents.keepPast(time)
            body(&contents.state)
        }
    }
}

extension SimulatedServer.Contents {
    /// Keeps the current state for the replica, before a change.
    mutating func keepPast(_ time: Duration) {
        guard options.replicaLag > .zero else { return }
        past.append((time, state))
        let lag = options.replicaLag
        past.removeAll { $0.until + lag < time }
    }

    /// Returns the state of the replica.
    func replica(at time: Duration) -> ScriptedBackend.State {
        let lag = options.replicaLag
        return past.first { $0.until + lag > time }?.state ?? state
    }
}
