public import Foundation
internal import Platform
internal import Predicates
public import RemoteStore

/// The network between clients and a ``SimulatedServer``: it delivers, loses, doubles and holds messages, as a test wants it.
///
/// ```swift
/// let network = SimulatedNetwork()
/// network.script { $0.isAnswer ? .lost : .delivered }
/// network.setConnected(false, "A")
/// ```
///
/// Its methods may be called on any thread.
public final class SimulatedNetwork: Sendable {
    /// A request on its way to the server, or an answer on its way back.
    public struct Message: Sendable, Hashable, Identifiable {
        /// The number of the message: later ones have higher numbers.
        public let id: Int
        /// The client that sends or receives it.
        public let client: String
        /// Whether it comes from the server.
        public let isAnswer: Bool
        /// Whether it is about a save.
        public let isSave: Bool
        /// What it says, without identifiers that differ from run to run.
        public let text: String
    }

    /// What becomes of a message.
    public enum Fate: Sendable, Hashable {
        /// It arrives.
        case delivered
        /// It does not arrive.
        case lost
        /// It arrives twice, if it is a request; the second answer is lost.
        case doubled
        /// The server answers the request with ``SimulatedNetwork/busy`` and does nothing, whatever it has done before. An answer arrives.
        case refused
        /// It arrives when a test says so: see ``SimulatedNetwork/settle(_:_:)``.
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
    /// - Parameter isStepped: Whether every message waits until a test decides what becomes of it; otherwise all are delivered, unless a script
    ///   says something else.
    public init(isStepped: Bool = false) {
        state = LockedBox(State(script: { _ in isStepped ? .held : .delivered }))
    }

    /// Sets what becomes of each message.
    public func script(_ fate: @escaping @Sendable (Message) -> Fate) { state.withLock { $0.script = fate } }

    // MARK: Messages that are held

    /// The messages that are held: by client, and by what they say.
    public var messages: [Message] {
        state.withLock { $0.held.map(\.message) }.sorted { ($0.client, $0.text, $0.id) < ($1.client, $1.text, $1.id) }
    }

    /// Decides what becomes of a message that is held.
    public func settle(_ message: Message, _ fate: Fate) {
        let held = state.withLock { state in
            state.held.firstIndex { $0.message.id == message.id }.map { state.held.remove(at: $0) }
        }
        held?.continuation.resume(returning: fate == .held ? .delivered : fate)
    }

    /// Delivers everything that is held.
    public func deliverAll() { for message in messages { settle(message, .delivered) } }

    /// Suspends until so many messages are held.
    public func untilHeld(_ count: Int = 1) async { while messages.count < count { await Task.yield() } }

    // MARK: Clients

    /// Whether a client reaches the server.
    public func isConnected(_ client: String) -> Bool { state.withLock { !$0.disconnected.contains(client) } }

    /// Cuts a client off, or brings it back. What is held of a client that is cut off is lost.
    public func setConnected(_ isConnected: Bool, _ client: String) {
        if isConnected {
            state.withLock { _ = $0.disconnected.remove(client) }
            return
        }
        state.withLock { _ = $0.disconnected.insert(client) }
        for message in messages where message.client == client { settle(message, .lost) }
    }

    /// Lets a client be gone, as a process that has died: what it has sent may still arrive, no answer does, and it sends nothing more.
    public func crash(_ client: String) {
        state.withLock { _ = $0.crashed.insert(client) }
        for message in messages where message.client == client && message.isAnswer { settle(message, .lost) }
    }

    // MARK: Sending

    /// The error of a client that is cut off.
    public static var notConnected: NSError {
        NSError(
            domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet,
            userInfo: [NSLocalizedDescriptionKey: "The simulated network is cut."])
    }
    /// A server that is too busy for a request.
    public struct Busy: PassingError, LocalizedError, CustomStringConvertible {
        /// True.
        public var mayPass: Bool { true }
        /// What it says.
        public var description: String { "The simulated server is busy." }
        /// The same.
        public var errorDescription: String? { description }
    }
    /// The error of a client whose request was refused for now.
    public static let busy = Busy()
    /// The error of a client whose request or answer was lost.
    public static var connectionLost: NSError {
        NSError(
            domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost,
            userInfo: [NSLocalizedDescriptionKey: "The simulated network has lost a message."])
    }

    /// Sends a message, and returns what has become of it: delivered, lost or doubled.
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
