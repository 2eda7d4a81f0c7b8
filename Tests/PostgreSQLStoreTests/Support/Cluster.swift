#if PostgreSQL
import Foundation
import Testing

@testable import PostgreSQLStore

/// A primary and a replica that follows it, on ports of the loopback. They end when the process that runs the tests ends in any way.
final class Cluster: Sendable {
    let directory = URL(fileURLWithPath: "/tmp/pgtest-cluster-\(UUID().uuidString.prefix(8))")
    let primaryPort: Int
    let replicaPort: Int

    /// - Parameter isSynchronous: Whether a commit on the primary waits until the replica has it on its disk.
    init(isSynchronous: Bool = false) throws {
        guard let programs = TestServer.programs else {
            throw TestServer.Failure(description: "There is no PostgreSQL server. Install it: apt-get install postgresql libpq-dev")
        }
        (primaryPort, replicaPort) = (try TestServer.freePort(), try TestServer.freePort())
        let script = """
            $run "$2/initdb" -D "$1/primary" -U tester -A trust -E UTF8 --locale=C --no-sync >log 2>&1
            cat >>"$1/primary/postgresql.conf" <<END
            listen_addresses = '127.0.0.1'
            unix_socket_directories = '$1'
            fsync = off
            jit = off
            authentication_timeout = 600
            shared_buffers = 16MB
            END
            start() {
                name=$1 port=$2
                shift 2
                $run "$bin/postgres" -D "$folder/$name" -p "$port" "$@" >>log 2>&1 </dev/null &
                pid=$!
                server="$server $pid"
                until "$bin/pg_isready" -q -h "$folder" -p "$port"; do kill -0 $pid; sleep 0.1; done
            }
            folder=$1 bin=$2
            start primary "$3" ${5:+-c "synchronous_standby_names=*"}
            $run "$2/pg_basebackup" -h "$1" -p "$3" -U tester -D "$1/replica" -R --checkpoint=fast --no-sync >>log 2>&1
            start replica "$4"
            """
        _ = try ServerProcess(
            "The cluster", in: directory, script: script, signal: "QUIT",
            arguments: [programs, String(primaryPort), String(replicaPort), isSynchronous ? "yes" : ""])
    }

    /// The URL of the database, with hosts for the ports.
    func url(_ ports: [Int]) -> String { "postgresql://tester@\(ports.map { "127.0.0.1:\($0)" }.joined(separator: ","))/postgres" }

    /// Connections of the test's own to one of the servers.
    func pool(_ port: Int, _ options: PostgreSQLStoreOptions) throws -> ConnectionPool {
        let settings = try ConnectionSettings(
            try #require(ConnectionSettings.url(url([port]))), schema: options.schema, statementTimeout: nil, password: nil)
        return ConnectionPool(settings, limit: 2, timeout: 30)
    }

    /// Ends the primary at once, as if its machine had failed.
    func stopPrimary() throws {
        let file = try String(contentsOf: directory.appendingPathComponent("primary/postmaster.pid"), encoding: .utf8)
        let pid = try #require(file.split(separator: "\n").first.flatMap { Int32($0) })
        kill(pid, SIGQUIT)
    }
}
#endif
