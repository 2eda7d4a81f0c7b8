#if PostgreSQL
import CoreData
import PostgreSQLStore
import StoreConformance
import TestSupport
import Testing

/// Connections to a server that has a certificate of the test's own authority, and asks for a password.
@Suite("Encrypted connections to PostgreSQL") struct SecurityTests {
    private struct Secured {
        let server: TestServer
        let material: URL
        let password: String

        /// Makes an authority, another one, and the server's certificate, for the name localhost.
        init() throws {
            material = URL(fileURLWithPath: "/tmp/pgtest-tls-\(UUID().uuidString.prefix(8))")
            password = "geheim-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                at: material, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            let script = """
                set -e
                cd "$1"
                new="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
                openssl req -x509 $new -keyout ca.key -out ca.crt -subj /CN=tests
                openssl req -x509 $new -keyout other.key -out other.crt -subj /CN=others
                openssl req $new -keyout server.key -out server.csr -subj /CN=localhost
                echo subjectAltName=DNS:localhost >names
                openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
                printf 'local all all trust\\nhostssl all all 127.0.0.1/32 scram-sha-256\\n' >pg_hba.conf
                printf 'ssl = on\\nlog_statement = all\\nlog_connections = on\\nlog_min_messages = debug1\\n' >extra.conf
                chmod 644 *
                """
            try Data(password.utf8).write(to: material.appendingPathComponent("password"))
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/bash")
            shell.arguments = ["-c", script, "bash", material.path]
            shell.standardError = FileHandle.nullDevice
            try shell.run()
            shell.waitUntilExit()
            try #require(shell.terminationStatus == 0, "openssl has failed")
            server = try TestServer(material: material)
        }

        func url(_ host: String, _ authority: String, password: String? = nil) -> String {
            let secret = password.map { ":\($0)" } ?? ""
            return "postgresql://tester\(secret)@\(host):\(server.port)/postgres?hostaddr=127.0.0.1&sslmode=verify-full"
                + "&sslrootcert=\(material.path)/\(authority).crt"
        }
    }

    @Test("A server is accepted by its authority and its name, refused without either; no password is in its log")
    func verification() async throws {
        let secured = try Secured()
        defer { try? FileManager.default.removeItem(at: secured.material) }
        func open(_ url: String, _ password: String? = nil) async throws -> NSPersistentStoreCoordinator {
            var options = freshOptions()
            if let password { options.password = { password } }
            return try await coordinator(options, url: url)
        }
        let context = context(try await open(secured.url("localhost", "ca", password: secured.password)))
        try await context.perform {
            try ServerHistoryTests.insertTag("a", context)
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")), equals: 1)
        }
        _ = try await open(secured.url("localhost", "ca"), secured.password)
        for (url, password) in [
            // Another authority, another name, another password.
            (secured.url("localhost", "other"), secured.password), (secured.url("db.example.com", "ca"), secured.password),
            (secured.url("localhost", "ca"), secured.password + "x"),
        ] {
            let error = await #expect(throws: NSError.self, "\(url)") { _ = try await open(url, password) }
            expect(error?.code, equals: NSPersistentStoreOpenError)
            #expect(error.map { !"\($0) \($0.userInfo)".contains(secured.password) } ?? false)
        }
        let log = try String(contentsOf: secured.server.directory.appendingPathComponent("log"), encoding: .utf8)
        #expect(log.contains("password authentication failed") && log.contains("INSERT INTO"))
        #expect(!log.contains(secured.password))
    }
}
#endif
