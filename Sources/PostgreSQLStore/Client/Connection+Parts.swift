#if PostgreSQL
internal import Foundation
internal import SQLQueries

extension Connection {
    /// The number of rows of a part: about as many as a socket's buffers hold, so that the server continues while one is read.
    static let partSize = 1000
    /// The maximum number of parts that are requested individually.
    private static let partLimit = 1000

    /// Runs a query that is expected to find many rows, and passes them on in parts, each while the server sends the next ones.
    ///
    /// It uses a cursor in a transaction, in one round trip: libpq only passes on complete results.
    ///
    /// - Parameters:
    ///   - count: About how many rows are expected.
    ///   - take: Takes a part.
    /// - Throws: ``ServerError``; `CancellationError`; the errors of `take`.
    func query(_ sql: String, _ values: [BinaryValue], expecting count: Int, _ take: (QueryResult) throws -> Void) async throws {
        guard count > Self.partSize, !isInTransaction else { return try take(await query(sql, values)) }
        let start = ContinuousClock.now
        let parts = min(count / Self.partSize, Self.partLimit)
        let name = "coredata_rows"
        var calls = [Call("BEGIN")]
        if let prelude { calls.append(prelude) }
        // The plan that is best for all rows, not for the first ones.
        calls.append(Call("SELECT set_config('cursor_tuple_fraction', '1', true)"))
        // Not prepared: the result columns of a FETCH differ from cursor to cursor.
        func plain(_ sql: String, _ values: [BinaryValue] = []) -> Call {
            var call = Call(sql, values)
            call.isPrepared = false
            return call
        }
        calls.append(plain("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", values))
        let first = calls.count
        calls += Array(repeating: plain("FETCH \(Self.partSize) FROM \(name)"), count: parts)
        calls.append(plain("FETCH ALL FROM \(name)"))
        let end = calls.count
        calls.append(Call("COMMIT"))
        var found = 0
        _ = try await send(calls, true) { number, result in
            guard number >= first, number < end else { return false }
            found += result.rowCount
            try take(result)
            return true
        }
        SQLRecording.current?.add(sql, values: values.map(\.shown), rows: found, seconds: Self.seconds(since: start))
    }
}
#endif
