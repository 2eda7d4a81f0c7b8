#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Lends connections, each to one task at a time.
// `state` is guarded by its lock: not by a `Mutex` of the system, which is handed to the thread that has waited longest, and fifty threads may save.
final class ConnectionPool: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Grant, any Error>
    }
    /// A connection, or the permission to open one.
    private enum Grant: Sendable {
        case connection(Connection)
        case permission
    }
    private struct State {
        var idle: [Connection] = []
        /// The number of connections that are lent, being opened or idle.
        var count = 0
        var waiters: [Waiter] = []
        var nextNumber = 0
        var isClosed = false
        /// The number of times that tables were found changed.
        var planEpoch = 0
        /// Whether connections to a host have sessions of their own on the server, from the first one on.
        var ownsSessions: [Int: Bool] = [:]
    }
    private let state = LockedBox(State())
    let settings: ConnectionSettings
    private let limit: Int
    private let timeout: Double
    /// Finds the primary among several hosts; nil for one.
    private let search: PrimarySearch?
    /// Waits for the server, if there is only one, which no other can replace.
    private let restart: RestartWait?
    /// The reads from replicas; nil if they are not enabled.
    let replicas: Replicas?
    /// The seconds after which the server is queried over an idle connection, to verify that it is alive.
    private static let idleLimit = 30.0
    private static let timers = DispatchQueue(label: "PostgreSQLStore.timers")

    /// - Parameters:
    ///   - limit: The maximum number of connections.
    ///   - timeout: The maximum number of seconds to wait for one, for a server that restarts, and for another server to take over.
    ///   - readsFromReplicas: Whether there are connections to replicas, too.
    ///   - isReplica: Whether the server is one of several that may answer.
    init(_ settings: ConnectionSettings, limit: Int, timeout: Double, readsFromReplicas: Bool = false, isReplica: Bool = false) {
        (self.settings, self.limit, self.timeout) = (settings, max(1, limit), timeout)
        let search =
            settings.hosts.isEmpty
            ? nil
            : PrimarySearch(settings.hosts.map(\.place), settings.place, countsDefault: settings.countsReadOnlyDefault, patience: timeout)
        self.search = search
        restart = search == nil && !isReplica ? RestartWait(settings, patience: timeout) : nil
        replicas = search.flatMap { search in
            guard readsFromReplicas else { return nil }
            return Replicas(settings.hosts.map { ConnectionPool($0, limit: limit, timeout: timeout, isReplica: true) }, search)
        }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.count } }

    /// Calls `body` with a connection. Afterwards the connection is returned outside of any transaction, or closed.
    ///
    /// - Parameters:
    ///   - settings: The settings that each transaction makes on the server.
    ///   - body: Uses the connection.
    /// - Throws: Code 134070 if no connection became free in time, the errors of connecting, and those of `body`.
    func with<Result: Sendable>(
        _ settings: DatabaseSettings, _ body: @Sendable (Connection) async throws -> Result
    ) async throws -> Result {
        let connection = try await take()
        connection.prelude = connection.ownsSession ? settings.prelude : self.settings.prelude(settings)
        do {
            let result = try await body(connection)
            await giveBack(connection)
            return result
        } catch {
            // If another server has taken over, new connections find it.
            let isOutdated = (error as? ServerError)?.isReadOnly ?? false
            if isOutdated {
                search?.forget()
                dropIdle()
            }
            // The other connections have prepared for the same tables.
            if (error as? ServerError)?.isOutdatedPlan ?? false { state.withLock { $0.planEpoch += 1 } }
            await giveBack(connection, isKept: !isOutdated)
            throw error
        }
    }

    /// Calls `body` with a connection, like ``with(_:_:)``, without settings.
    func with<Result: Sendable>(_ body: @Sendable (Connection) async throws -> Result) async throws -> Result {
        try await with(.none, body)
    }

    /// Closes the idle connections.
    private func dropIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.count -= state.idle.count
            return state.idle
        }
        withExtendedLifetime(idle) {}
    }

    /// Closes all connections; a lent one is closed when it is returned.
    func close() {
        replicas?.close()
        let (idle, waiters) = state.withLock { state in
            defer { (state.idle, state.waiters, state.isClosed) = ([], [], true) }
            state.count -= state.idle.count
            return (state.idle, state.waiters)
        }
        for waiter in waiters { waiter.continuation.resume(throwing: closed()) }
        withExtendedLifetime(idle) {}
    }

    private func closed() -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The store at \(settings.place) cannot be used.",
            reason: "It is not open: it was removed from its coordinator.", next: "Add it again.")
    }

    // MARK: Lending

    private func take() async throws -> Connection {
        while true {
            // Usually one is there.
            let grant = if !Task.isCancelled, let idle = takeIdle() { Grant.connection(idle) } else { try await grant() }
            switch grant {
            case .connection(let connection):
                // This takes the lock under which the connection was returned, so it happens after everything that its last user did with it.
                connection.usePlans(of: planEpoch)
                if isOfPrimary(connection), await isHealthy(connection) { return connection }
                // Another may be there, or be opened.
                discard()
            case .permission:
                do {
                    let connection = try await open()
                    connection.usePlans(of: planEpoch)
                    return connection
                } catch {
                    discard()
                    throw error
                }
            }
        }
    }

    private var planEpoch: Int { state.withLock { $0.planEpoch } }

    private func takeIdle() -> Connection? { state.withLock { $0.isClosed ? nil : $0.idle.popLast() } }

    private func checkOpen() throws { if state.withLock({ $0.isClosed }) { throw closed() } }

    /// Opens a connection: to the primary if there are several hosts, to a single server when it is back.
    func open() async throws -> Connection {
        guard let search else {
            guard let restart else { return try await open(settings, 0, nil) }
            return try await restart.connection(checkOpen) { try await open(settings, 0, nil) }
        }
        let hosts = settings.hosts
        return try await search.connection { try await self.open(hosts[$0], $0, $1) }
    }

    /// Opens a connection to a host. It has a session of its own, unless a proxy such as PgBouncer lends sessions for single transactions.
    private func open(_ settings: ConnectionSettings, _ host: Int, _ timeout: Double?) async throws -> Connection {
        func open(ownsSession: Bool) async throws -> Connection {
            let connection = try await Connection.open(settings, ownsSession: ownsSession, timeout: timeout)
            connection.host = host
            return connection
        }
        let known = state.withLock { $0.ownsSessions[host] }
        if let known { return try await open(ownsSession: known) }
        do {
            let connection = try await open(ownsSession: true)
            let isDirect = try await connection.isDirect()
            state.withLock { $0.ownsSessions[host] = isDirect }
            if isDirect { return connection }
        } catch let error as ServerError where error.isRefusedParameter { state.withLock { $0.ownsSessions[host] = false } }
        Log.store.debug("The connections to \(settings.place) have no sessions of their own: each transaction sets what it needs.")
        return try await open(ownsSession: false)
    }

    /// Returns whether a connection leads to the host that is known as the primary.
    private func isOfPrimary(_ connection: Connection) -> Bool { search.map { $0.primary == connection.host } ?? true }

    private func isHealthy(_ connection: Connection) async -> Bool {
        let health = connection.health()
        if health == .lost { return false }
        let idle = Double(DispatchTime.now().uptimeNanoseconds &- connection.lastUse) / 1e9
        if health == .open, idle < Self.idleLimit { return true }
        do {
            try await connection.execute("SELECT 1", isCancellable: false)
            return true
        } catch { return false }
    }

    private func grant() async throws -> Grant {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now: Result<Grant, any Error>? = state.withLock { state in
                    // A cancellation from here on finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.isClosed { return .failure(closed()) }
                    if let connection = state.idle.popLast() { return .success(.connection(connection)) }
                    if state.count < limit {
                        state.count += 1
                        return .success(.permission)
                    }
                    state.waiters.append(Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let now { return continuation.resume(with: now) }
                Self.timers.asyncAfter(deadline: .now() + timeout) { [weak self] in self?.giveUp(number) }
            }
        } onCancel: {
            stopWaiting(number)
        }
    }

    private func giveUp(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(
            throwing: CoreDataError.make(
                NSPersistentStoreTimeoutError, "The store at \(settings.place) has no free connection.",
                reason: "All \(limit) were in use for \(timeout) s.",
                next: "Raise connectionLimit or connectionTimeout in the store's options, or do less at once."))
    }

    private func stopWaiting(_ number: Int) {
        let waiter = state.withLock { state -> Waiter? in
            if let index = state.waiters.firstIndex(where: { $0.number == number }) { return state.waiters.remove(at: index) }
            return nil
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func giveBack(_ connection: Connection, isKept: Bool = true) async {
        connection.prelude = nil
        if connection.isUsable, connection.isInTransaction {
            do { try await connection.execute("ROLLBACK", isCancellable: false) } catch {
                Log.store.debug("A connection to \(settings.place) is given up: its transaction cannot be ended. \(error)")
            }
        }
        guard isKept, connection.isUsable, !connection.isInTransaction else {
            // If a server has vanished from the network, each connection to it would cause a wait.
            if search != nil, !connection.isUsable { dropIdle() }
            return discard()
        }
        connection.lastUse = DispatchTime.now().uptimeNanoseconds
        let waiter = state.withLock { state -> Waiter? in
            if state.isClosed {
                state.count -= 1
                return nil
            }
            if state.waiters.isEmpty {
                state.idle.append(connection)
                return nil
            }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: .connection(connection))
    }

    /// Makes room for another connection.
    private func discard() {
        let waiter = state.withLock { state -> Waiter? in
            if state.isClosed || state.waiters.isEmpty {
                state.count -= 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: .permission)
    }
}
#endif
