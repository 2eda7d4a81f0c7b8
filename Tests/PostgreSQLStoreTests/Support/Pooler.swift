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
        let directory = "/tmp/pgtest-pooler-\(UUID().uuidString.prefix(8))"
        // The shell waits for the end of this process; PgBouncer ends with the shell.
        let script = """
            set -e
            mkdir -p "$1"
            cd "$1"
            trap 'rm -rf "$1"' EXIT
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
            run=""
            if [ "$(id -u)" = 0 ]; then
                chown -R nobody "$1"
                run="setpriv --reuid=nobody --regid=nogroup --clear-groups"
            fi
            $run "$5" -q settings.ini >log 2>&1 </dev/null &
            pooler=$!
            trap 'kill -KILL $pooler 2>/dev/null || true; wait $pooler 2>/dev/null || true; rm -rf "$1"' EXIT
            for attempt in $(seq 300); do
                if (exec 3<>/dev/tcp/127.0.0.1/$2) 2>/dev/null; then echo ready; break; fi
                kill -0 $pooler || { cat log >&2; exit 1; }
                sleep 0.1
            done
            while kill -0 "$6" 2>/dev/null; do sleep 0.2; done
            """
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = [
            "-c", script, "bash", directory, String(port), String(server.port), ignoring, Self.program,
            String(ProcessInfo.processInfo.processIdentifier),
        ]
        let (input, output) = (Pipe(), Pipe())
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        let answer = output.fileHandleForReading.availableData
        guard String(decoding: answer, as: UTF8.self).hasPrefix("ready") else {
            throw TestServer.Failure(description: "PgBouncer did not start.")
        }
        // Held until the process ends.
        Self.lock.withLock { Self.held.append((shell, input)) }
    }

    private static let lock = NSLock()
    // Guarded by the lock.
    nonisolated(unsafe) private static var held: [(Process, Pipe)] = []
}
#endif
