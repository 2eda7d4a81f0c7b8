#if PostgreSQL
import CoreData
import Logging
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Connections") struct ClientTests {
    private func pool(_ url: String? = nil, limit: Int = 2, timeout: Double = 5) throws -> ConnectionPool {
        let settings = try ConnectionSettings(
            try #require(URL(string: url ?? server().url)), schema: "public", statementTimeout: nil, password: nil)
        return ConnectionPool(settings, limit: limit, timeout: timeout)
    }

    @Test("Values of every type go to the server and back in the binary format") func values() async throws {
        let pool = try pool()
        defer { pool.close() }
        let numbers = [
            "0", "1", "-1", "0.1", "-12.5", "10000", "123456789.987654321", "0.00000001", "99999999999999999999999999999999999999",
        ]
        let decimals = numbers.compactMap { Decimal(string: $0) }
        let text = "ą\u{0}b\u{1}😀"
        let result = try await pool.with { connection in
            try await connection.query(
                "SELECT $1, $2, $3, $4, unnest($5)",
                [
                    .integer(.min), .double(0.1), .text(text), .bytes(Data([0, 255])),
                    .array(decimals.map(BinaryValue.numeric), of: PostgreSQLType.numeric),
                ])
        }
        expect(result.integer(0, 0), equals: .min)
        expect(result.text(0, 2), equals: text)
        expect(result.data(0, 3), equals: Data([0, 255]))
        expect((0..<result.rowCount).map { BinaryNumeric.decimal(result.bytes($0, 4)) }, equals: decimals)
    }

    @Test("Statements are prepared once, and many are sent in one round trip") func pipeline() async throws {
        let pool = try pool()
        defer { pool.close() }
        let (sum, trips) = try await pool.with { connection in
            let before = connection.roundTrips
            let results = try await connection.run((0..<5000).map { Call("SELECT $1 + 1", [.integer($0)]) })
            return (results.reduce(0) { $0 + $1.integer(0, 0) }, connection.roundTrips - before)
        }
        expect(sum, equals: 5000 * 5001 / 2)
        expect(trips, equals: 1)
    }

    @Test("An error in a pipeline leaves the connection usable") func failure() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        await #expect(throws: ServerError.self) {
            try await pool.with { try await $0.run([Call("SELECT 1"), Call("SELECT 1 / 0"), Call("SELECT 2")]) }
        }
        let number = try await pool.with { try await $0.query("SELECT 3") }
        expect(number.integer(0, 0), equals: 3)
        expect(pool.count, equals: 1)
    }

    @Test("Rows are copied into a table") func copy() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        let count = try await pool.with { connection in
            try await connection.execute("CREATE TEMPORARY TABLE copied (number bigint, word text)")
            var bytes: [UInt8] = []
            for number in 0..<20_000 {
                bytes.append(bigEndian: UInt16(2))
                BinaryValue.integer(Int64(number)).appendField(to: &bytes)
                BinaryValue.text("word \(number)").appendField(to: &bytes)
            }
            try await connection.copy("COPY copied FROM STDIN (FORMAT binary)", bytes)
            return try await connection.query("SELECT count(DISTINCT word) FROM copied").integer(0, 0)
        }
        expect(count, equals: 20_000)
    }

    @Test("Rows that cannot be made end their copy, of which nothing is kept, and leave the connection usable", arguments: [1, 2, 60])
    func failedCopy(parts: Int) async throws {
        struct Unmakeable: Error {}
        let pool = try pool(limit: 1)
        defer { pool.close() }
        let count = try await pool.with { connection in
            try await connection.execute("CREATE TEMPORARY TABLE copied (number bigint, word text)")
            var row: [UInt8] = []
            row.append(bigEndian: UInt16(2))
            BinaryValue.integer(1).appendField(to: &row)
            BinaryValue.text(String(repeating: "w", count: 1 << 16)).appendField(to: &row)
            var made = 0
            await #expect(throws: Unmakeable.self) {
                try await connection.copy("COPY copied FROM STDIN (FORMAT binary)") {
                    if made == parts { throw Unmakeable() }
                    made += 1
                    return row
                }
            }
            return try await connection.query("SELECT count(*) FROM copied").integer(0, 0)
        }
        expect(count, equals: 0)
        expect(pool.count, equals: 1)
    }

    @Test("Cancelling a task cancels its statement on the server, and keeps the connection") func cancellation() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        let backend = try await pool.with { $0.backendNumber }
        let watcher = try self.pool()
        defer { watcher.close() }
        func isSleeping() async throws -> Bool {
            try await watcher.with { connection in
                try await connection.query(
                    "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE '%pg_sleep(3600)%'",
                    [.integer(Int64(backend))]
                ).rowCount == 1
            }
        }
        let task = Task { _ = try await pool.with { try await $0.query("SELECT pg_sleep(3600)") } }
        while try await !isSleeping() { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await !isSleeping())
        #expect(try await pool.with { $0.backendNumber } == backend)
    }

    @Test("Who waits too long for a connection is told so; the next one gets it") func limit() async throws {
        let pool = try pool(limit: 1, timeout: 0.2)
        defer { pool.close() }
        let (entered, leave) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let holder = Task {
            try await pool.with { _ in
                entered.continuation.finish()
                for await _ in leave.stream {}
            }
        }
        for await _ in entered.stream {}
        let error = await #expect(throws: NSError.self) { try await pool.with { _ in } }
        expect(error?.code, equals: NSPersistentStoreTimeoutError)
        leave.continuation.finish()
        try await holder.value
        try await pool.with { _ in }
        expect(pool.count, equals: 1)
    }

    @Test("A connection whose socket fails in a way that libpq does not know is lost, and replaced") func brokenSocket() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        let error = await #expect(throws: ServerError.self) {
            try await pool.with { connection in
                var ends: [Int32] = [0, 0]
                try #require(pipe(&ends) == 0)
                // In place of the socket there is what nobody writes to, and what cannot be sent to.
                try #require(dup2(ends[0], connection.socket) == connection.socket)
                for end in ends { close(end) }
                _ = try await connection.query("SELECT 1")
            }
        }
        expect(error?.isConnectionLost, equals: true)
        #expect(try await pool.with { try await $0.query("SELECT 3").integer(0, 0) } == 3)
    }

    @Test("A connection that the server has ended is replaced") func health() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        let backend = try await pool.with { $0.backendNumber }
        let other = try self.pool()
        defer { other.close() }
        _ = try await other.with { try await $0.query("SELECT pg_terminate_backend($1::int)", [.integer(Int64(backend))]) }
        while try await other.with({
            try await $0.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [.integer(Int64(backend))]).rowCount
        }) > 0 {}
        let number = try await pool.with { try await $0.query("SELECT 7") }
        expect(number.integer(0, 0), equals: 7)
    }

    @Test("A statement whose table has changed is prepared anew") func changedTable() async throws {
        let pool = try pool(limit: 1)
        defer { pool.close() }
        try await pool.with { connection in
            try await connection.execute("CREATE TEMPORARY TABLE changing (a integer); INSERT INTO changing VALUES (1)")
            _ = try await connection.query("SELECT * FROM changing")
            try await connection.execute("ALTER TABLE changing ADD b integer")
            await #expect(throws: ServerError.self) { _ = try await connection.query("SELECT * FROM changing") }
            #expect(try await connection.query("SELECT * FROM changing").columnCount == 2)
        }
    }

    // MARK: Security

    @Test(
        "Connections to other machines verify the server, unless the URL says otherwise",
        arguments: [
            ("postgresql://db.example.com/shop", "verify-full"), ("postgresql://10.0.0.1/shop", "verify-full"),
            ("postgresql://db.example.com/shop?sslmode=require", "require"), ("postgresql://localhost/shop", nil),
            ("postgresql://127.0.0.1:5433/shop", nil), ("postgresql:///shop?host=/var/run", nil),
            ("postgresql://localhost,db.example.com/shop", "verify-full"), ("postgresql:///shop?service=work", "verify-full"),
        ] as [(String, String?)])
    func security(_ url: String, _ mode: String?) throws {
        let settings = try ConnectionSettings(
            try #require(URL(string: url)), schema: "public", statementTimeout: nil, password: nil)
        expect(settings.securityMode, equals: mode)
    }

    @Test(
        "Keywords with values are taken as a URL",
        arguments: [
            ("host=127.0.0.1 port=5 user=a dbname=shop", "postgresql://a@127.0.0.1:5/shop"),
            ("dbname='my shop' host=/var/run port=7 password='a b'", "postgresql://:a%20b@/my%20shop?host=/var/run&port=7"),
            ("host=a,b port=5,6 dbname=shop", "postgresql:///shop?host=a,b&port=5,6"),
        ])
    func keywords(_ text: String, _ url: String) throws { expect(ConnectionSettings.url(text)?.absoluteString, equals: url) }

    @Test("A password is in no error, no log, no URI and no description") func secrets() async throws {
        let secret = "geheim-\(UUID().uuidString.prefix(8))"
        let server = try server()
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Thing")])
        var texts: [String] = []
        for url in [
            "postgresql://tester:\(secret)@127.0.0.1:1/postgres", "postgresql://nobody:\(secret)@127.0.0.1:\(server.port)/none",
            "postgresql://tester:\(secret)@127.0.0.1:\(server.port)x/postgres",
            "postgresql://tester@127.0.0.1:1/postgres?password=\(secret)",
            "postgresql://tester@127.0.0.1:\(server.port)/none?password=\(secret)&unknown=1",
            "host=127.0.0.1 port=1 password=\(secret)", "host=127.0.0.1 port=1 password=\(secret) unknown=1", "password=\(secret)x host",
            "postgresql:host=127.0.0.1 password=\(secret)", "password=\(secret) dbname=postgres host=127.0.0.1 port=1 user='a b'",
            "mysql://tester:\(secret)@127.0.0.1/shop", "//tester:\(secret)@127.0.0.1/shop", "postgresql:///a=b/password=\(secret)",
        ] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let error = await #expect(throws: NSError.self, "\(url)") { try await coordinator.addPostgreSQLStore(at: url) }
            texts += [error.map { "\($0) \($0.userInfo)" } ?? ""]
        }
        var options = freshOptions()
        options.password = { secret }
        let url = "postgresql://tester:\(secret)@127.0.0.1:\(server.port)/postgres"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try await coordinator.addPostgreSQLStore(at: url, options: options)
        let description = NSPersistentStoreDescription(postgreSQL: try #require(URL(string: url)), options: options)
        texts += ["\(store)", "\(String(describing: store.url))", "\(description)", "\(String(describing: store.metadata))"]
        let settings = try ConnectionSettings(
            try #require(URL(string: url)), schema: "public", statementTimeout: nil, password: nil)
        var dumped = ""
        dump(settings, to: &dumped)
        texts += ["\(settings)", String(reflecting: settings), dumped]
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let uri = try await context.perform {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            try context.save()
            return thing.objectID.uriRepresentation().absoluteString
        }
        texts.append(uri)
        for text in texts { #expect(!text.contains(secret), "\(text)") }
        #expect(texts.allSatisfy { !$0.isEmpty })
    }
}
#endif
