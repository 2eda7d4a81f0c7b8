#if PostgreSQL
import Foundation
import Synchronization

/// Forwards connections to a server on the loopback, and cuts one of them when the client commits, or sends another statement.
// `state` is guarded by its mutex.
final class CuttingProxy: Sendable {
    enum Cut: Sendable {
        /// The server never gets the statement.
        case before
        /// The server does it, and the client does not get its answer.
        case after
    }
    private struct State {
        /// What is cut next, and at which statements.
        var plan: [(cut: Cut, statement: String)] = []
        var cuts = 0
        var isClosed = false
    }
    private let state = Mutex(State())
    private let listener: Int32
    private let target: Int
    let port: Int

    init(to target: Int) throws {
        self.target = target
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var length = size
        let descriptor = listener
        port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, size) == 0 && listen(descriptor, 16) == 0 && getsockname(descriptor, generic, &length) == 0
                    ? Int(pointer.pointee.sin_port.bigEndian) : 0
            }
        }
        Thread { [self] in accept() }.start()
    }

    /// Cuts the next connection that commits, or sends another statement which has some text; after those that were to be cut before.
    func cutNext(_ cut: Cut, at statement: String = "COMMIT") { state.withLock { $0.plan.append((cut, statement)) } }

    /// The number of connections that were cut.
    var cuts: Int { state.withLock { $0.cuts } }

    func close() {
        state.withLock { $0.isClosed = true }
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0 { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(target)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                Glibc.close(client)
                Glibc.close(server)
                continue
            }
            Thread { [self] in forward(client, server) }.start()
        }
    }

    /// Forwards in both directions until one of them ends.
    private func forward(_ client: Int32, _ server: Int32) {
        defer {
            Glibc.close(client)
            Glibc.close(server)
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // The texts of the prepared statements by their names, by which they are asked for later.
        var prepared: [String: String] = [:]
        func statements(_ bytes: ArraySlice<UInt8>) -> [String] {
            let text = String(decoding: bytes.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            for found in text.matches(of: /(s[0-9]+)\0([^\0]+)\0/) { prepared[String(found.1)] = String(found.2) }
            return prepared.filter { text.contains("\0\($0.key)\0") }.map(\.value)
        }
        while true {
            var both = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0)]
            if poll(&both, 2, -1) < 0 { return }
            for (index, (from, to)) in [(client, server), (server, client)].enumerated() where both[index].revents != 0 {
                let count = read(from, &buffer, buffer.count)
                if count <= 0 { return }
                let bytes = buffer[0..<count]
                if from == client, let cut = takeCut(at: statements(bytes)) {
                    if cut == .before { return }
                    guard Self.write(bytes, to) else { return }
                    // Its answer comes when it is done.
                    _ = read(server, &buffer, buffer.count)
                    return
                }
                guard Self.write(bytes, to) else { return }
            }
        }
    }

    private func takeCut(at statements: [String]) -> Cut? {
        state.withLock { state in
            guard let next = state.plan.first, statements.contains(where: { $0.contains(next.statement) }) else { return nil }
            state.plan.removeFirst()
            state.cuts += 1
            return next.cut
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, _ to: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
#endif
