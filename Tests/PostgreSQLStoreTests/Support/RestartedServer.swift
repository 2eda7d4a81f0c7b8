#if PostgreSQL
import Foundation
import Testing

@testable import PostgreSQLStore

/// A server that a test stops and starts again, at a port of the loopback. It ends when the process that runs the tests ends in any way.
final class RestartedServer: Sendable {
    let directory = URL(fileURLWithPath: "/tmp/pgtest-restarted-\(UUID().uuidString.prefix(8))")
    let port: Int

    var url: String { "postgresql://tester@127.0.0.1:\(port)/postgres" }

    init() throws {
        guard let programs = TestServer.programs else {
            throw TestServer.Failure(description: "There is no PostgreSQL server. Install it: apt-get install postgresql libpq-dev")
        }
        port = try TestServer.freePort()
        let script = """
            $run "$2/initdb" -D "$1/data" -U tester -A trust -E UTF8 --locale=C --no-sync >log 2>&1
            cat >>"$1/data/postgresql.conf" <<END
            listen_addresses = '127.0.0.1'
            port = $3
            unix_socket_directories = '$1'
            fsync = off
            jit = off
            # A server that follows another one, and is not one to read from, says that it is starting until it takes over.
            hot_standby = off
            authentication_timeout = 600
            shared_buffers = 16MB
            END
            # Starts the server again whenever it has ended, unless a file says that it stays down.
            serve() {
                while :; do
                    rm -f "$1/data/standby.signal"
                    [ ! -e starting ] || $run touch "$1/data/standby.signal"
                    $run "$2/postgres" -D "$1/data" >>log 2>&1 </dev/null || true
                    while [ -e down ]; do sleep 0.05; done
                done
            }
            serve "$1" "$2" &
            server=$!
            until [ -S "$1/.s.PGSQL.$3" ] && "$2/pg_isready" -q -h "$1" -p "$3"; do kill -0 $server; sleep 0.1; done
            # Whoever starts this shell may have blocked all signals but that one. The server ends by itself when its folder is gone.
            trap 'kill -KILL $server; kill -QUIT $(head -n 1 "$1/data/postmaster.pid") || true; sleep 0.5; rm -rf "$1"' EXIT
            """
        _ = try ServerProcess(
            "The server that is restarted", in: directory, script: script, signal: "KILL", arguments: [programs, String(port)])
    }

    private func file(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// Ends the server, which does not start until ``start(isHeld:)``.
    func stop() async throws {
        try Data().write(to: file("down"))
        let identity = file("data/postmaster.pid")
        let text = try String(contentsOf: identity, encoding: .utf8)
        kill(try #require(text.split(separator: "\n").first.flatMap { Int32($0) }), SIGINT)
        while FileManager.default.fileExists(atPath: identity.path) { await Task.yield() }
    }

    /// Starts the server.
    ///
    /// - Parameter isHeld: Whether it says that it is starting until ``finishStarting()``.
    func start(isHeld: Bool = false) throws {
        if isHeld { try Data().write(to: file("starting")) }
        try FileManager.default.removeItem(at: file("down"))
    }

    /// Lets the server take connections.
    func finishStarting() throws {
        try Data().write(to: file("data/promote"))
        let text = try String(contentsOf: file("data/postmaster.pid"), encoding: .utf8)
        kill(try #require(text.split(separator: "\n").first.flatMap { Int32($0) }), SIGUSR1)
    }

    /// Waits until the server has said something, some times since it was made.
    func wait(forLog text: String, times: Int = 1) async throws {
        while try String(contentsOf: file("log"), encoding: .utf8).ranges(of: text).count < times { await Task.yield() }
    }
}
#endif
