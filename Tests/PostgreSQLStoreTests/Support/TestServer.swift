#if PostgreSQL
import Foundation
import Testing

@testable import PostgreSQLStore

/// A PostgreSQL server of the tests' own: a cluster in a temporary folder, with a socket there and a port of the loopback. It ends, and the folder is
/// removed, when the process that runs the tests ends in any way.
final class TestServer: Sendable {
    /// The server of this run, started when it is first needed.
    static let shared = Result { try TestServer() }

    let directory: URL
    let port: Int

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The URL of the database, over the loopback.
    var url: String { "postgresql://tester@127.0.0.1:\(port)/postgres" }
    /// The URL over a port that leads here.
    func url(port: Int) -> String { "postgresql://tester@127.0.0.1:\(port)/postgres" }
    /// The URL over the socket in the file system.
    var socketURL: String { "postgresql://tester@/postgres?host=\(directory.path)&port=\(port)" }

    /// Creates a database of a test's own, in which no transaction of others is open.
    ///
    /// - Returns: Its URL.
    func database() async throws -> String {
        let name = "test_" + UUID().uuidString.replacing("-", with: "").prefix(12).lowercased()
        let pool = ConnectionPool(
            try ConnectionSettings(try #require(URL(string: url)), schema: "public", statementTimeout: nil, password: nil), limit: 1,
            timeout: 60)
        defer { pool.close() }
        try await pool.with { try await $0.execute("CREATE DATABASE \(name)") }
        return "postgresql://tester@127.0.0.1:\(port)/\(name)"
    }

    /// - Parameter material: A folder with the files of a server that asks for a password over TLS: `password`, `server.crt`, `server.key`,
    ///   `pg_hba.conf`, and `extra.conf`; nil for a server that trusts everybody.
    init(material: URL? = nil) throws {
        guard let programs = Self.programs else {
            throw Failure(description: "There is no PostgreSQL server. Install it: apt-get install postgresql libpq-dev")
        }
        directory = URL(fileURLWithPath: "/tmp/pgtest-\(UUID().uuidString.prefix(8))")
        port = try Self.freePort()
        let script = """
            $run "$2/initdb" -D "$1/data" -U tester -A trust -E UTF8 --locale=C --no-sync ${4:+--pwfile="$4/password"} >log 2>&1
            cat >>"$1/data/postgresql.conf" <<END
            listen_addresses = '127.0.0.1'
            port = $3
            unix_socket_directories = '$1'
            fsync = off
            # The planner overestimates queries of short tables. To compile them took longer than everything else that the server did.
            jit = off
            max_connections = 400
            # Beside tests that compute for minutes, a connection may wait long for its turn.
            authentication_timeout = 600
            shared_buffers = 32MB
            END
            if [ -n "$4" ]; then
                cat "$4/extra.conf" >>"$1/data/postgresql.conf"
                for name in server.crt server.key pg_hba.conf; do $run install -m 600 "$4/$name" "$1/data/$name"; done
            fi
            $run "$2/postgres" -D "$1/data" >>log 2>&1 </dev/null &
            server=$!
            until [ -S "$1/.s.PGSQL.$3" ] && "$2/pg_isready" -q -h "$1" -p "$3"; do kill -0 $server; sleep 0.1; done
            """
        _ = try ServerProcess(
            "The PostgreSQL server", in: directory, script: script, signal: "QUIT",
            arguments: [programs, String(port), material?.path ?? ""])
    }

    /// The folder of the server's programs; nil where there is none.
    static var programs: String? {
        let files = FileManager.default
        let versions = ((try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []).compactMap(Int.init).sorted(by: >)
        return versions.map { "/usr/lib/postgresql/\($0)/bin" }.first { files.isExecutableFile(atPath: $0 + "/initdb") }
    }

    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var length = size
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &length) == 0
                    ? Int(pointer.pointee.sin_port.bigEndian) : 0
            }
        }
        guard port > 0 else { throw Failure(description: "There is no free port.") }
        return port
    }
}

/// Returns the server of this run.
func server() throws -> TestServer { try TestServer.shared.get() }

/// Returns options with a schema of its own.
func freshOptions() -> PostgreSQLStoreOptions {
    var options = PostgreSQLStoreOptions()
    options.schema = "test_" + UUID().uuidString.replacing("-", with: "").prefix(12).lowercased()
    return options
}
#endif
