#if PostgreSQL
import Foundation

/// A shell that starts a server, and ends with the process that runs the tests, however that ends.
///
/// It reads its input, which ends with this process, rather than to ask whether this process is there: one that has ended is, until whoever
/// started it has read all that it and its children print. For the same reason it prints its errors into a file.
final class ServerProcess: Sendable {
    /// Starts a server, and returns when it is ready.
    ///
    /// - Parameters:
    ///   - name: The server's name, for the error.
    ///   - directory: A folder, which is made here, is the script's working directory, and is removed with the shell.
    ///   - script: Commands that start the server in the background, writing into the file `log`, set `server` to its process identifier, and
    ///     end when it answers; they fail if it does not. They run servers after `$run`, as a user of their own.
    ///   - signal: The signal that ends the server.
    ///   - arguments: The script's arguments, from `$2`; `$1` is the directory.
    init(_ name: String, in directory: URL, script: String, signal: String, arguments: [String]) throws {
        let whole = """
            set -e
            mkdir -p "$1"
            cd "$1"
            exec 2>errors
            ready=""
            server=""
            trap '[ -n "$ready" ] || cat errors log; kill -\(signal) $server || true; wait $server || true; rm -rf "$1"' EXIT
            # Servers do not run as root.
            run=""
            if [ "$(id -u)" = 0 ]; then
                chown nobody "$1"
                run="setpriv --reuid=nobody --regid=nogroup --clear-groups"
            fi
            \(script)
            ready=1
            echo ready
            cat >/dev/null
            """
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", whole, "bash", directory.path] + arguments
        let (input, output) = (Pipe(), Pipe())
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard answer.hasPrefix("ready") else {
            let rest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            throw TestServer.Failure(description: "\(name) did not start: \(answer)\(rest)")
        }
        // Held until the process ends.
        Self.lock.withLock { Self.held.append((shell, input)) }
    }

    private static let lock = NSLock()
    // Guarded by the lock.
    nonisolated(unsafe) private static var held: [(Process, Pipe)] = []
}
#endif
