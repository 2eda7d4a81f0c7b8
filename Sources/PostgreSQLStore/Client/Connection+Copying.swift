#if PostgreSQL
internal import CPostgreSQL

extension Connection {
    /// Copies rows in PostgreSQL's binary format into a table.
    ///
    /// - Parameters:
    ///   - sql: The statement: `COPY … FROM STDIN (FORMAT binary)`.
    ///   - next: Returns the next bytes, of rows without the header and the end; nil at the end. The server takes in rows while more are made.
    func copy(_ sql: String, _ next: () throws -> [UInt8]?) async throws {
        roundTrips += 1
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        var task = Cancellation(isWatched: false)
        try await flush(&task)
        let begun = try await nextResult(&task)
        let status = begun.map { PQresultStatus($0) }
        if status != PGRES_COPY_IN {
            let failure = ServerError(begun, handle)
            PQclear(begun)
            while let rest = try await nextResult(&task) { PQclear(rest) }
            throw failure
        }
        PQclear(begun)
        // The signature, flags and the size of an extension.
        let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
        try await put(header, &task)
        do { while let rows = try next() { try await put(rows, &task) } } catch {
            // Either the program's values caused the error, or the connection is lost.
            if isUsable {
                try await endCopy(error: "The rows cannot be made.", &task)
                while let result = try await nextResult(&task) { PQclear(result) }
            }
            throw error
        }
        try await put([0xFF, 0xFF], &task)
        try await endCopy(error: nil, &task)
        try await finishResults(&task)
    }

    /// Copies rows that are there already.
    func copy(_ sql: String, _ rows: [UInt8]) async throws {
        var start = 0
        try await copy(sql) {
            if start >= rows.count { return nil }
            let end = min(start + 1 << 16, rows.count)
            defer { start = end }
            return Array(rows[start..<end])
        }
    }

    private func endCopy(error: String?, _ task: inout Cancellation) async throws {
        while true {
            let sent = PQputCopyEnd(handle, error)
            if sent == 1 { return try await flush(&task) }
            guard sent == 0 else { throw lost() }
            try await flush(&task)
        }
    }

    private func put(_ bytes: [UInt8], _ task: inout Cancellation) async throws {
        while true {
            let sent = bytes.withUnsafeBytes { buffer in
                PQputCopyData(handle, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
            }
            if sent == 1 { return try await flush(&task) }
            guard sent == 0 else { throw lost() }
            try await flush(&task)
        }
    }
}
#endif
