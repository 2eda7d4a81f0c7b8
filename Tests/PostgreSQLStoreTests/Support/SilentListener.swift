#if PostgreSQL
import Foundation

/// A port of the loopback where connections are taken, and nothing is ever said.
final class SilentListener: Sendable {
    private let listener: Int32
    let port: Int

    /// - Parameter place: The port; nil for any.
    init(at place: Int? = nil) throws {
        port = try place ?? TestServer.freePort()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        // Whoever had the port before may have left connections that are not quite over.
        var isOn: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = listener
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(descriptor, 64) == 0
            }
        }
        guard isListening else { throw TestServer.Failure(description: "Nobody can listen at the port \(port).") }
    }

    /// Returns whether there is another connection, which is then kept open.
    func hasConnection() -> Bool { accept(listener, nil, nil) >= 0 }

    /// Ends a connection, as a server that goes down does. Returns whether there was one.
    func refuse() -> Bool {
        let client = accept(listener, nil, nil)
        if client >= 0 { Glibc.close(client) }
        return client >= 0
    }

    func close() { Glibc.close(listener) }
}
#endif
