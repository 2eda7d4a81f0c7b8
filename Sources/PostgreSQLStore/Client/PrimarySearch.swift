#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Finds the primary among the servers of a cluster.
// `state` is guarded by its lock.
final class PrimarySearch: Sendable {
    private struct State {
        /// The number of the host that was the primary last.
        var primary: Int?
        /// Whether there has ever been one.
        var wasFound = false
    }
    private let state = LockedBox(State())
    /// The names of the hosts.
    private let names: [String]
    private let place: String
    private let countsDefault: Bool
    /// The seconds for which another server may need to take over.
    private let patience: Double
    /// The seconds to wait for the known primary before the other hosts are queried, too.
    private static let firstTimeout = 2.0
    private static let longestPause = 1.0

    /// - Parameters:
    ///   - names: The names of the hosts.
    ///   - place: The name of the cluster, for messages.
    ///   - countsDefault: Whether a server whose sessions are read-only by default does not count as the primary.
    ///   - patience: The seconds that a search may take where there has been a primary.
    init(_ names: [String], _ place: String, countsDefault: Bool, patience: Double) {
        (self.names, self.place, self.countsDefault, self.patience) = (names, place, countsDefault, patience)
    }

    /// The number of the host that is known as the primary.
    var primary: Int? { state.withLock { $0.primary } }

    /// Called if a server has turned out not to be the primary.
    func forget() { state.withLock { $0.primary = nil } }

    /// Returns a connection to the primary. The last known primary is tried first, then all hosts concurrently, repeatedly while a failover may be
    /// under way. A host that does not answer delays none of the others.
    ///
    /// - Parameter open: Connects to a host, by its number, within some seconds; nil for the limit of the settings.
    /// - Throws: ``ServerError`` if no primary is found; `CancellationError`.
    func connection(
        _ open: @escaping @Sendable (_ host: Int, _ timeout: Double?) async throws -> Connection
    ) async throws -> Connection {
        let end = ContinuousClock.now + .seconds(state.withLock { $0.wasFound } ? patience : 0)
        if let primary, case .primary(let connection) = await ask(primary, Self.firstTimeout, open) { return connection }
        let answers = await answers(until: end, open)
        try Task.checkCancellation()
        for case (let host, .primary(let connection)) in answers {
            let former = state.withLock { state in
                defer { (state.primary, state.wasFound) = (host, true) }
                return state.primary
            }
            if former != host { Log.store.notice("The primary of \(place) is \(names[host]).") }
            return connection
        }
        throw failure(answers)
    }

    /// The role of a host.
    private enum Answer: Sendable {
        case primary(Connection)
        /// A server that takes no changes.
        case other
        case failure(any Error)
    }

    private func ask(
        _ host: Int, _ timeout: Double?, _ open: @escaping @Sendable (Int, Double?) async throws -> Connection
    ) async -> Answer {
        do {
            let connection = try await open(host, timeout)
            return try await connection.takesChanges(countsDefault: countsDefault) ? .primary(connection) : .other
        } catch { return .failure(error) }
    }

    /// Queries a host repeatedly, until it is the primary or the time is over.
    private func ask(
        _ host: Int, until end: ContinuousClock.Instant, _ open: @escaping @Sendable (Int, Double?) async throws -> Connection
    ) async -> Answer {
        var pause = 0.05
        while true {
            let answer = await ask(host, nil, open)
            if case .primary = answer { return answer }
            if ContinuousClock.now + .seconds(pause) > end { return answer }
            // Ends at once if another host is the primary.
            do { try await Pause.wait(pause) } catch { return answer }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Queries all hosts concurrently, until one is the primary.
    private func answers(
        until end: ContinuousClock.Instant, _ open: @escaping @Sendable (Int, Double?) async throws -> Connection
    ) async -> [(host: Int, answer: Answer)] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            for host in names.indices { group.addTask { (host, await self.ask(host, until: end, open)) } }
            var answers: [(host: Int, answer: Answer)] = []
            for await answer in group {
                answers.append(answer)
                if case .primary = answer.1 { group.cancelAll() }
            }
            return answers.sorted { $0.host < $1.host }
        }
    }

    /// Returns the error of a search, of every host.
    private func failure(_ answers: [(host: Int, answer: Answer)]) -> ServerError {
        let reasons = answers.map { host, answer in
            switch answer {
            case .primary, .other: "\(names[host]) takes no changes"
            case .failure(let error): "\(names[host]): \(error)"
            }
        }
        return ServerError(code: "", message: "No server takes changes: \(reasons.joined(separator: "; ")).", isConnectionLost: true)
    }
}
#endif
