import Foundation
import Platform

@testable import WebTransport

/// A server on this computer, written with sockets by hand, so that it can do what no server should.
final class LoopbackServer: Sendable {
    /// A request as it came.
    struct Request: Sendable {
        var line: String
        var headers: WebHeaders
        var body: [UInt8]

        var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    /// A connection to a client, used by one thread.
    struct Connection: Sendable {
        let socket: Int32
        /// How many connections came before it.
        let number: Int

        /// Reads a request; nil where the client has closed the connection.
        func read() -> Request? {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            func more() -> Bool {
                let count = recv(socket, &chunk, chunk.count, 0)
                guard count > 0 else { return false }
                bytes += chunk[..<count]
                return true
            }
            var end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
            while end == nil {
                guard more() else { return nil }
                end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
            }
            guard let end else { return nil }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            var headers = WebHeaders()
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { headers.add(String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) }
            }
            let length = headers["Content-Length"].flatMap(Int.init) ?? 0
            while bytes.count - end.upperBound < length { guard more() else { return nil } }
            return Request(line: lines[0], headers: headers, body: Array(bytes[end.upperBound...]))
        }

        /// Writes bytes; returns whether the client takes them.
        @discardableResult func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, noSignal) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        @discardableResult func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        /// Writes a whole answer.
        @discardableResult func answer(_ status: Int = 200, headers: [String] = [], body: [UInt8] = []) -> Bool {
            write("HTTP/1.1 \(status) Status\r\n" + (headers + ["Content-Length: \(body.count)"]).joined(separator: "\r\n") + "\r\n\r\n")
                && write(body)
        }

        /// Waits until the client closes the connection, at most so long; returns whether it did.
        func isClosed(within milliseconds: Int32) -> Bool {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, milliseconds) > 0 else { return false }
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, 0) <= 0
        }
    }

    let port: Int
    private let socket: Int32
    private let count = LockedBox(0)

    /// How many connections have come.
    var connections: Int { count.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts a server; each connection has a thread, which closes it when the handler returns.
    init(_ handler: @escaping @Sendable (Connection) -> Void) throws {
        let listener = Foundation.socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 128) == 0 && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileWriteUnknown) }
        socket = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [count] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                let number = count.withLock { count in
                    count += 1
                    return count - 1
                }
                Thread.detachNewThread {
                    handler(Connection(socket: client, number: number))
                    close(client)
                }
            }
        }
    }

    /// Starts a server that answers each request by a closure.
    static func answering(_ answer: @escaping @Sendable (Request, Connection) -> Bool) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = connection.read(), answer(request, connection) {}
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }
}

#if canImport(Darwin)
private let streamType = SOCK_STREAM
private let noSignal: Int32 = 0
#else
private let streamType = Int32(SOCK_STREAM.rawValue)
private let noSignal = Int32(MSG_NOSIGNAL)
#endif
