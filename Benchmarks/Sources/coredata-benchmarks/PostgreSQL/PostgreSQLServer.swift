#if PostgreSQL
import Foundation

/// A PostgreSQL server of the benchmarks' own, over a socket in its folder. It ends, and the folder is removed, with this process.
struct PostgreSQLServer {
    let folder: String
    private static let port = 5432
    private let shell = Process()
    private let input = Pipe()

    /// The database as libpq takes it.
    var url: String { "postgresql://bench@/postgres?host=\(folder)&port=\(Self.port)" }

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(in directory: String) throws {
        folder = directory + "/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let version = versions.compactMap(Int.init).max() else {
            throw Failure(description: "There is no PostgreSQL server. Install it: apt-get install postgresql")
        }
        // The shell waits for the end of its input, which comes with the end of this process; initdb refuses root.
        let script = """
            set -e
            mkdir -p "$1"
            cd /
            run=""
            if [ "$(id -u)" = 0 ]; then
                chown nobody "$1"
                chmod 755 "$(dirname "$1")"
                run="setpriv --reuid=nobody --regid=nogroup --clear-groups"
            fi
            $run "$2/initdb" -D "$1/data" -U bench -A trust -E UTF8 --locale=C >"$1/log" 2>&1
            printf "listen_addresses = ''\\nunix_socket_directories = '$1'\\nmax_connections = 200\\nshared_buffers = 256MB\\n" \
                >>"$1/data/postgresql.conf"
            $run "$2/postgres" -D "$1/data" >>"$1/log" 2>&1 </dev/null &
            server=$!
            trap 'kill -QUIT $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$1"' EXIT
            for attempt in $(seq 300); do
                if "$2/pg_isready" -q -h "$1"; then echo ready; break; fi
                kill -0 $server || { cat "$1/log" >&2; exit 1; }
                sleep 0.1
            done
            cat >/dev/null
            """
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", script, "bash", folder, "/usr/lib/postgresql/\(version)/bin"]
        let output = Pipe()
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
            throw Failure(description: "The PostgreSQL server did not start; see \(folder)/log.")
        }
    }

    /// Stops the server and removes its folder.
    func stop() throws {
        try input.fileHandleForWriting.close()
        shell.waitUntilExit()
    }
}
#endif
