public import Foundation
internal import Platform
internal import Predicates
public import RemoteStore

/// The network between clients and a ``SimulatedServer``: it delivers, loses, duplicates and holds messages, as a test requires.
///
/// ```swift
/// let network = SimulatedNetwork()
/// network.script { $0.isAnswer ? .lost : .delivered }
/// network.setConnected(false, "A")
/// ```
///
/// Its methods may be called on any thread.
public final class SimulatedNetwork: Sendable {
    /// A request that is sent to the server, or an answer that is sent back.
    public struct Message: Sendable, Hashable, Identifiable {
        /// The number of the message: later messages have higher numbers.
        public let id: Int
        /// The client that sends or receives it.
        public let client: String
        /// Whether it comes from the server.
        public let isAnswer: Bool
        /// Whether it is about a save.
        public let isSave: Bool
        /// The content, without identifiers that differ from run to run.
        public let text: String
    }

    /// The fate of a message.
    public enum Fate: Sendable, Hashable {
        /// It arrives.
        case delivered
        /// It does not arrive.
        case lost
        /// It arrives twice, if it is a request; the second answer is lost.
        case doubled
        /// The server answers the request with ``SimulatedNetwork/busy`` and does nothing, even if it has applied the change before. An answer is delivered.
        case refused
        /// It is delivered when a test decides so: see ``SimulatedNetwork/settle(_:_:)``.
        case held
    }

    private struct State {
        var script: @Sendable (Message) -> Fate
        var lastID = 0
        var held: [(message: Message, continuation: CheckedContinuation<Fate, Never>)] = []
        var disconnected: Set<String> = []
        var crashed: Set<String> = []
    }

    private let state: LockedBox<State>

    /// Creates a network.
    ///
    /// - Parameter isStepped: Whether every message waits until a test decides its fate; otherwise all messages are delivered, unless a script specifies
    ///   another fate.
    public init(isStepped: Bool = false) {
        state = LockedBox(State(script: { _ in isStepped ? .held : .delivered }))
    }

    /// Sets the fate of each message.
    public func script(_ fate: @escaping @Sendable (Message) -> Fate) { state.withLock { $0.script = fate } }

    // MARK: Held messages

    /// The held messages, sorted by client and content.
    public var messages: [Message] {
        state.withLock { $0.held.map(\.message) }.sorted { ($0.client, $0.text, $0.id) < ($1.client, $1.text, $1.id) }
    }

    /// Decides the fate of a held message.
    public func settle(_ message: Message, _ fate: Fate) {
        let held = state.withLock { state in
            state.held.firstIndex { $0.message.id == message.id }.map { state.held.remove(at: $0) }
        }
        held?.continuation.resume(returning: fate == .held ? .delivered : fate)
    }

    /// Delivers all held messages.
    public func deliverAll() { for message in messages { settle(message, .delivered) } }

    /// Suspends until a number of messages are held.
    public func untilHeld(_ count: Int = 1) async { while messages.count < count { await Task.yield() } }

    // MARK: Clients

    /// Whether a client reaches the server.
    public func isConnected(_ client: String) -> Bool { state.withLock { !$0.disconnected.contains(client) } }

    /// Disconnects or reconnects a client. Held messages of a disconnected client are lost.
    public func setConnected(_ isConnected: Bool, _ client: String) {
        if isConnected {
            state.withLock { _ = $0.disconnected.remove(client) }
            return
        }
        state.withLock { _ = $0.disconnected.insert(client) }
        for message in messages where message.client == client { settle(message, .lost) }
    }

    /// Simulates the crash of a client's process: its sent messages may still be delivered, its answers are lost, and it sends nothing more.
    public func crash(_ client: String) {
        state.withLock { _ = $0.crashed.insert(client) }
        for message in messages where message.client == client && message.isAnswer { settle(message, .lost) }
    }

    // MARK: Sending

    /// The error of a disconnected client.
    public static var notConnected: NSError {
        NSError(
            domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet,
            userInfo: [NSLocalizedDescriptionKey: "The simulated network is cut."])
    }
    /// The error of a server that is too busy for a request.
    public struct Busy: PassingError, LocalizedError, CustomStringConvertible {
        /// True.
        public var mayPass: Bool { true }
        /// A description of the error.
        public var description: String { "The simulated server is busy." }
        /// The same as ``description``.
        public var errorDescription: String? { description }
    }
    /// The error of a client whose request was refused temporarily.
    public static let busy = Busy()
    /// The error of a client whose request or answer was lost.
    public static var connectionLost: NSError {
        NSError(
            domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost,
            userInfo: [NSLocalizedDescriptionKey: "The simulated network has lost a message."])
    }

    /// Sends a message, and returns its fate: delivered, lost or doubled.
    func send(from client: String, isAnswer: Bool, isSave: Bool, _ text: String) async -> Fate {
        let (message, script) = state.withLock { state in
            state.lastID += 1
            return (Message(id: state.lastID, client: client, isAnswer: isAnswer, isSave: isSave, text: text), state.script)
        }
        let isGone = state.withLock { $0.disconnected.contains(client) || $0.crashed.contains(client) }
        if isGone { return .lost }
        let fate = script(message)
        if fate != .held { return fate }
        return await withCheckedContinuation { continuation in
            state.withLock { $0.held.append((message, continuation)) }
        }
    }
}
