#if PostgreSQL
import Foundation
import Testing

/// PgBouncer between the tests and their server, lending sessions for a transaction. It ends when the process that runs the tests ends in any way.
final class Pooler: Sendable {
    let port: Int

    /// Whether the program is there.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/sbin/pgbouncer"
    static let shared = Result { try Pooler(ignoring: "") }

    var url: String { "postgresql://tester@127.0.0.1:\(port)/postgres" }

    /// - Parameter ignoring: The parameters of connections that it neither takes nor refuses, separated by commas.
    init(ignoring: String) throws {
        let server = try server()
        port = try TestServer.freePort()
        let script = """
            cat >settings.ini <<END
            [databases]
            * = host=127.0.0.1 port=$3
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = $2
            unix_socket_dir =
            auth_type = trust
            auth_file = $1/users
            pool_mode = transaction
            # Few, so that transactions of one client meet sessions of others.
            default_pool_size = 3
            max_client_conn = 500
            # Beside tests that compute for minutes, a connection may wait long for its turn.
            client_login_timeout = 600
            ignore_startup_parameters = $4
            END
            echo '"tester" ""' >users
            $run "$5" -q settings.ini >log 2>&1 </dev/null &
            server=$!
            until (exec 3<>/dev/tcp/127.0.0.1/$2); do kill -0 $server; sleep 0.1; done
            """
        _ = try ServerProcess(
            "PgBouncer", in: URL(fileURLWithPath: "/tmp/pgtest-pooler-\(UUID().uuidString.prefix(8))"), script: script, signal: "KILL",
            arguments: [String(port), String(server.port), ignoring, Self.program])
    }
}
#endif
