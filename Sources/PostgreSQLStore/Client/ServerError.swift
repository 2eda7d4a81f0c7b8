#if PostgreSQL
internal import CPostgreSQL
internal import Foundation

/// An error that a PostgreSQL server reports for a statement, or the loss of the connection to it.
struct ServerError: Error, CustomStringConvertible {
    /// The five characters of the SQL standard's code; empty if the connection was lost.
    let code: String
    let message: String
    let detail: String?
    let constraint: String?
    /// Whether the connection cannot be used any more.
    let isConnectionLost: Bool
    /// Whether the store waited for the server until its timeout.
    let wasAwaited: Bool

    init(code: String, message: String, isConnectionLost: Bool, wasAwaited: Bool = false) {
        (self.code, self.message, self.isConnectionLost, self.wasAwaited) = (code, message, isConnectionLost, wasAwaited)
        (detail, constraint) = (nil, nil)
    }

    /// - Parameters:
    ///   - result: The failed result, which the caller frees.
    ///   - connection: The connection that gave it.
    init(_ result: OpaquePointer?, _ connection: OpaquePointer) {
        func field(_ code: Character) -> String? {
            result.flatMap { PQresultErrorField($0, Int32(code.asciiValue!)) }.map { String(cString: $0) }
        }
        let state = field("C") ?? ""
        code = state
        message =
            field("M")
            ?? String(cString: PQerrorMessage(connection)).trimmingCharacters(in: .whitespacesAndNewlines)
        detail = field("D")
        constraint = field("n")
        // 57P01 to 57P03: the server is shutting down, or was stopped.
        isConnectionLost = PQstatus(connection) == CONNECTION_BAD || state.hasPrefix("57P0")
        wasAwaited = false
    }

    /// Returns the error of a server that was waited for in vain.
    func awaited(for seconds: Double) -> ServerError {
        ServerError(
            code: code, message: "The server was waited for during \(seconds) s. \(message)", isConnectionLost: true, wasAwaited: true)
    }

    var description: String {
        [code.isEmpty ? message : "\(message) (\(code))", detail].compactMap { $0 }.joined(separator: " ")
    }

    /// Whether the same may be tried again over another connection.
    var isOfConnection: Bool { isConnectionLost && !wasAwaited }
    /// Whether the transaction may be retried: it conflicted with concurrent ones.
    var isSerialization: Bool { code == "40001" || code == "40P01" }
    /// Whether a uniqueness constraint is violated.
    var isUniqueness: Bool { code == "23505" || code == "23P01" }
    /// Whether a reference leads to a missing row.
    var isMissingReference: Bool { code == "23503" }
    /// Whether a prepared statement is of an earlier definition of its tables.
    var isOutdatedPlan: Bool { code == "0A000" && message.contains("cached plan") || code == "26000" }
    /// Whether the server takes no changes: it has become, or always was, a standby of another.
    var isReadOnly: Bool { code == "25006" }
    /// Whether a program between, such as PgBouncer, does not take the options of a connection.
    var isRefusedParameter: Bool { message.contains("unsupported startup parameter") }
    /// Whether a statement has written another number of rows than was expected (``Call/expecting(_:)``): it has divided by zero then.
    var isUnexpectedCount: Bool { code == "22012" }
    /// The error that is thrown when the count itself shows the failure.
    static var unexpectedCount: ServerError {
        ServerError(code: "22012", message: "A statement has written another number of rows.", isConnectionLost: false)
    }
    /// Whether PostgreSQL rejects the request: distinct or grouped results are ordered or selected by an expression that is not among their own.
    var isRefusal: Bool { code == "42P10" || code == "42803" }
    /// Whether a lock was not granted within `lock_timeout`.
    var isLockTimeout: Bool { code == "55P03" }
    /// Whether the statement was cancelled.
    var isCancellation: Bool { code == "57014" }
}
#endif
