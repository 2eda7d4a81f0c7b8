#if PostgreSQL
internal import CPostgreSQL
internal import Dispatch
internal import Foundation
internal import ObjectGraph
internal import SQLQueries

/// A connection to a PostgreSQL server, over libpq's non-blocking calls.
// Used by one task at a time, to which the pool has lent it.
final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    private struct StatementKey: Hashable {
        let sql: String
        let types: [UInt32]
    }
    /// The names of the prepared statements.
    private var prepared: [StatementKey: String] = [:]
    /// The number of the last name. Names are not used again: the server may still have the statement.
    private var lastName = 0
    /// Whether the server has statements that are given up.
    private var isOutdated = false
    private var planEpoch = 0
    /// Whether the session on the server is the connection's own, and is not lent for single transactions by a proxy such as PgBouncer.
    let ownsSession: Bool
    /// The number of prepared statements, beyond which all are given up.
    private static let preparedLimit = 256
    /// The statement that begins each transaction of the task that the connection is lent to; nil for none.
    var prelude: Call?
    /// The index of the host in the settings.
    var host = 0
    /// When the connection was last given back, in nanoseconds of the system's uptime.
    var lastUse = DispatchTime.now().uptimeNanoseconds
    /// The number of round trips, for tests.
    var roundTrips = 0

    private init(_ handle: OpaquePointer, ownsSession: Bool) { (self.handle, self.ownsSession) = (handle, ownsSession) }

    deinit { PQfinish(handle) }

    /// Whether the network has failed in a way that libpq does not count as the loss of the connection.
    private var isBroken = false
    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && !isBroken }
    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }
    var socket: Int32 { PQsocket(handle) }
    var serverVersion: Int { Int(PQserverVersion(handle)) }
    var backendNumber: Int32 { PQbackendPID(handle) }

    // MARK: Opening

    /// Connects. Host names are resolved on a thread of their own, because libpq has no other way.
    ///
    /// - Parameter timeout: The seconds within which the server must answer, if they differ from the settings' own limit.
    /// - Throws: ``ServerError`` with libpq's message, which never contains the password.
    static func open(_ settings: ConnectionSettings, ownsSession: Bool, timeout: Double? = nil) async throws -> Connection {
        let parameters = try await settings.resolved(ownsSession: ownsSession)
        let connection: Connection? = await withCheckedContinuation { continuation in
            DispatchQueue(label: "PostgreSQLStore.calls").async {
                let handle = parameters.withPointers { PQconnectStartParams($0, $1, 0) }
                continuation.resume(returning: handle.map { Connection($0, ownsSession: ownsSession) })
            }
        }
        guard let connection else { throw ServerError(code: "", message: "There is no memory for a connection.", isConnectionLost: true) }
        try await connection.finishOpening(
            timeout: timeout ?? parameters.first { $0.keyword == "connect_timeout" }.flatMap { Double($0.value) })
        return connection
    }

    private func finishOpening(timeout: Double?) async throws {
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // As libpq itself: no limit below two seconds.
        let timeout = timeout.flatMap { $0 > 0 ? max(2, $0) : nil }
        var status = PGRES_POLLING_WRITING
        if PQstatus(handle) == CONNECTION_BAD { status = PGRES_POLLING_FAILED }
        while status != PGRES_POLLING_OK {
            guard status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING else { throw ServerError(nil, handle) }
            let outcome = await SocketReadiness.wait(
                PQsocket(handle), reads: status == PGRES_POLLING_READING, writes: status == PGRES_POLLING_WRITING, timeout: timeout,
                isCancellable: true)
            switch outcome {
            case .ready: status = PQconnectPoll(handle)
            case .cancelled: throw CancellationError()
            case .refused: throw broken()
            case .timedOut:
                throw ServerError(code: "", message: "The server did not answer within \(Int(timeout ?? 0)) s.", isConnectionLost: true)
            }
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw ServerError(nil, handle) }
    }

    // MARK: Statements

    /// Runs one statement, prepared, with results in the binary format.
    func query(_ sql: String, _ values: [BinaryValue] = [], isCancellable: Bool = true) async throws -> QueryResult {
        guard SQLRecording.isEnabled, let recording = SQLRecording.current else {
            return try await perform([Call(sql, values)], isCancellable)[0]
        }
        let start = ContinuousClock.now
        let result = try await perform([Call(sql, values)], isCancellable)[0]
        recording.add(sql, values: values.map(\.shown), rows: result.rowCount, seconds: Self.seconds(since: start))
        return result
    }

    static func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

    /// Runs statements in one round trip. Outside of a transaction, they form one of their own, which begins with the ``prelude``.
    ///
    /// - Throws: ``ServerError`` of the first statement that fails, after which none is run; `CancellationError` if the task was cancelled and the
    ///   server has given the statement up.
    @discardableResult
    func run(_ calls: [Call], isCancellable: Bool = true) async throws -> [QueryResult] {
        guard SQLRecording.isEnabled, let recording = SQLRecording.current else { return try await perform(calls, isCancellable) }
        let start = ContinuousClock.now
        let results = try await perform(calls, isCancellable)
        // They were one round trip.
        let seconds = Self.seconds(since: start) / Double(max(1, calls.count))
        for call in calls { recording.add(call.sql, seconds: seconds) }
        return results
    }

    private func perform(_ calls: [Call], _ isCancellable: Bool) async throws -> [QueryResult] {
        if calls.isEmpty { return [] }
        guard let prelude, !isInTransaction else { return try await send(calls, isCancellable) }
        if calls[0].sql.hasPrefix("BEGIN") {
            var results = try await send([calls[0], prelude] + calls.dropFirst(), isCancellable)
            results.remove(at: 1)
            return results
        }
        do { return Array(try await send([Call("BEGIN"), prelude] + calls + [Call("COMMIT")], isCancellable)[2...].dropLast()) } catch {
            // Statements that are one fail as one.
            if isUsable, isInTransaction { try await execute("ROLLBACK", isCancellable: false) }
            throw error
        }
    }

    /// Sends statements in one round trip.
    ///
    /// - Parameter take: Receives each result with the number of its statement as it arrives, while the server continues. Returns whether it has
    ///   taken the result.
    /// - Returns: The results that were not taken.
    func send(
        _ calls: [Call], _ isCancellable: Bool, _ take: (Int, QueryResult) throws -> Bool = { _, _ in false }
    ) async throws -> [QueryResult] {
        roundTrips += 1
        if isOutdated || prepared.count > Self.preparedLimit { try await forgetStatements() }
        guard PQenterPipelineMode(handle) == 1 else { throw ServerError(nil, handle) }
        var expected: [StatementKey?] = []
        for call in calls {
            if !ownsSession || !call.isPrepared {
                // Another session may lack the statements that were prepared in this one.
                expected.append(nil)
                let isSent = call.parameters.withPointers { count, values, lengths, formats in
                    PQsendQueryParams(handle, call.sql, count, call.parameters.types, values, lengths, formats, 1)
                }
                guard isSent == 1 else { throw lost() }
                continue
            }
            let key = StatementKey(sql: call.sql, types: call.parameters.types)
            let name: String
            if let known = prepared[key] {
                name = known
            } else {
                lastName += 1
                name = "s\(lastName)"
                prepared[key] = name
                expected.append(key)
                guard PQsendPrepare(handle, name, call.sql, Int32(key.types.count), key.types) == 1 else { throw lost() }
            }
            expected.append(nil)
            let isSent = call.parameters.withPointers { count, values, lengths, formats in
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
            guard isSent == 1 else { throw lost() }
        }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        var task = Cancellation(isWatched: isCancellable)
        try await flush(&task)
        var results: [QueryResult] = []
        var number = 0
        var failure: ServerError?
        var refusal: (any Error)?
        for key in expected {
            let result = try await nextResult(&task)
            defer { _ = key }
            switch result.map({ PQresultStatus($0) }) {
            case PGRES_TUPLES_OK?, PGRES_COMMAND_OK?:
                let kept = result.map(QueryResult.init)
                guard key == nil, let kept else { break }
                // Results after an error are read, but not taken.
                if refusal == nil { do { if try !take(number, kept) { results.append(kept) } } catch { refusal = error } }
                number += 1
            default:
                // The server does not know a statement whose preparation failed.
                if let key { prepared[key] = nil }
                if failure == nil, let result, PQresultStatus(result) != PGRES_PIPELINE_ABORTED { failure = ServerError(result, handle) }
                PQclear(result)
            }
            while let rest = try await nextResult(&task) { PQclear(rest) }
        }
        // The end of the pipeline, which is the commit of statements that are a transaction of their own: it may fail.
        var gaps = 0
        while true {
            guard let result = try await nextResult(&task) else {
                // Nil comes between an error and the end, and endlessly from a lost connection.
                gaps += 1
                if isUsable, gaps <= 2 { continue }
                throw lost()
            }
            let status = PQresultStatus(result)
            if status == PGRES_FATAL_ERROR, failure == nil { failure = ServerError(result, handle) }
            PQclear(result)
            if status == PGRES_PIPELINE_SYNC { break }
        }
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        await task.finish()
        if task.isRequested { throw CancellationError() }
        if let failure {
            if failure.isOutdatedPlan { isOutdated = true }
            throw failure
        }
        if let refusal { throw refusal }
        return results
    }

    /// Runs statements that are separated by semicolons, without parameters and results.
    func execute(_ script: String, isCancellable: Bool = true) async throws {
        roundTrips += 1
        guard PQsendQuery(handle, script) == 1 else { throw lost() }
        var task = Cancellation(isWatched: isCancellable)
        try await flush(&task)
        try await finishResults(&task)
    }

    func finishResults(_ task: inout Cancellation) async throws {
        var failure: ServerError?
        while let result = try await nextResult(&task) {
            if PQresultStatus(result) == PGRES_FATAL_ERROR, failure == nil { failure = ServerError(result, handle) }
            PQclear(result)
        }
        await task.finish()
        if task.isRequested { throw CancellationError() }
        if let failure { throw failure }
    }

    private func forgetStatements() async throws {
        prepared = [:]
        // A failed transaction accepts no statements: they are deallocated later.
        isOutdated = PQtransactionStatus(handle) == PQTRANS_INERROR
        if !isOutdated { try await execute("DEALLOCATE ALL", isCancellable: false) }
    }

    /// Prepares statements again if tables have changed since the connection was last used.
    func usePlans(of epoch: Int) {
        if epoch != planEpoch, !prepared.isEmpty { isOutdated = true }
        planEpoch = epoch
    }

    /// Returns whether the server itself has answered, and not a proxy, which gives the session a number of its own.
    func isDirect() async throws -> Bool {
        roundTrips += 1
        guard PQsendQuery(handle, "SELECT pg_backend_pid()") == 1 else { throw lost() }
        var task = Cancellation(isWatched: false)
        try await flush(&task)
        var number: String?
        while let result = try await nextResult(&task) {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw ServerError(result, handle) }
            if PQntuples(result) == 1 { number = String(cString: PQgetvalue(result, 0, 0)) }
        }
        return number == String(backendNumber)
    }

    func lost() -> ServerError { ServerError(nil, handle) }

    /// Returns the error of a broken connection, whatever the system's reason.
    private func broken() -> ServerError {
        isBroken = true
        let message = String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
        return ServerError(code: "", message: message, isConnectionLost: true)
    }

    /// Returns whether the server takes changes: it is the primary of its cluster.
    ///
    /// - Parameter countsDefault: Whether a server whose sessions are read-only by default does not count as taking changes.
    func takesChanges(countsDefault: Bool) async throws -> Bool {
        // Since version 14, a server reports both on its own; a proxy may repeat an outdated report.
        if ownsSession, let recovers = PQparameterStatus(handle, "in_hot_standby"),
            let isReadOnly = PQparameterStatus(handle, "default_transaction_read_only")
        {
            return String(cString: recovers) == "off" && (!countsDefault || String(cString: isReadOnly) == "off")
        }
        let found = try await query("SELECT NOT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'off'")
        return found.integer(0, 0) != 0 && (!countsDefault || found.integer(0, 1) != 0)
    }

    // MARK: Waiting

    /// Whether the statement is being cancelled, because the task was.
    struct Cancellation {
        var isWatched: Bool
        var isRequested = false
        var request: Task<Void, Never>?

        /// Waits until the request was sent: it must not meet the next statement.
        func finish() async { await request?.value }
    }

    /// Sends the remaining data, and reads what arrives meanwhile: the server may not read further before that.
    func flush(_ task: inout Cancellation) async throws {
        while true {
            let left = PQflush(handle)
            if left == 0 { return }
            guard left == 1 else { throw broken() }
            try await wait(reads: true, writes: true, &task)
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
    }

    /// Returns the next result, which the caller frees; nil at the end of a statement's results.
    func nextResult(_ task: inout Cancellation) async throws -> OpaquePointer? {
        var hasBegun = false
        while PQisBusy(handle) == 1 {
            // The next part of a large result arrives almost at once: giving the thread back takes longer than waiting.
            let isCancelled = task.isWatched && Task.isCancelled
            if !hasBegun || isCancelled || !comesAtOnce() { try await wait(reads: true, writes: false, &task) }
            guard PQconsumeInput(handle) == 1 else { throw broken() }
            hasBegun = true
        }
        return PQgetResult(handle)
    }

    /// Returns whether the socket becomes readable within a millisecond.
    private func comesAtOnce() -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 1) > 0
    }

    private func wait(reads: Bool, writes: Bool, _ task: inout Cancellation) async throws {
        let socket = socket
        guard socket >= 0 else { throw lost() }
        let outcome = await SocketReadiness.wait(socket, reads: reads, writes: writes, isCancellable: task.isWatched)
        if outcome == .refused { throw broken() }
        guard outcome == .cancelled else { return }
        task.isWatched = false
        task.isRequested = true
        task.request = requestCancellation()
    }

    /// Asks the server to cancel the running statement, over a separate connection.
    private func requestCancellation() -> Task<Void, Never>? {
        guard let cancel = PQgetCancel(handle) else { return nil }
        // libpq allows this call on any thread.
        let request = CancelRequest(handle: cancel)
        return Task.detached(executorPreference: BlockingCall.executor) {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "PostgreSQLStore.calls").async {
                    request.send()
                    continuation.resume()
                }
            }
        }
    }

    // The handle is used once, by the thread that sends the request.
    private struct CancelRequest: @unchecked Sendable {
        let handle: OpaquePointer

        func send() {
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(handle, &message, Int32(message.count))
            PQfreeCancel(handle)
        }
    }

    /// The state of an unused connection, judged by its socket.
    enum Health {
        case open
        /// Unrequested data has arrived: a notice, or the last message of the server.
        case doubtful
        case lost
    }

    /// Returns whether an unused connection is still open, judged by its socket.
    func health() -> Health {
        guard isUsable, !isInTransaction else { return .lost }
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return .open }
        return PQconsumeInput(handle) == 1 && isUsable ? .doubtful : .lost
    }
}
#endif
