import Foundation
import Testing

/// A Redis server for the tests, on a free port of the loopback interface, with nothing on disk.
///
/// A shell watches this process, and stops the server when it has ended, however that was.
// Unchecked: the processes are started before the server is shared, and stopped by its only owner.
final class RedisServer: @unchecked Sendable {
    static let shared = Result { try RedisServer() }

    let port: Int
    private let server = Process()
    private let watcher = Process()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init() throws {
        port = try Self.freePort()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        server.arguments = [
            "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp",
        ]
        // Nothing of the tests' own output: `swift test` waits until nobody has it any more.
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        try server.run()
        watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
        let tests = ProcessInfo.processInfo.processIdentifier
        watcher.arguments = [
            "-c", "while kill -0 \(tests) 2>/dev/null; do sleep 0.2; done; kill -9 \(server.processIdentifier) 2>/dev/null",
        ]
        watcher.standardOutput = FileHandle.nullDevice
        watcher.standardError = FileHandle.nullDevice
        try watcher.run()
        // The server is up when it accepts connections.
        for _ in 0..<1000 {
            if Self.accepts(port) { return }
            usleep(10_000)
        }
        throw Failure(description: "redis-server does not start; is it installed (apt install redis-server)?")
    }

    /// Stops the server, and waits until it is gone.
    func stop() {
        // Other signals are blocked in processes that tests start.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) | getsockname(socket, $0, &length) }
        }
        guard status == 0 else { throw Failure(description: "There is no free port.") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func accepts(_ port: Int) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        }
    }
}
