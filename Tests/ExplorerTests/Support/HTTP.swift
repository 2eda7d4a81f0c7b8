import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An answer over HTTP.
struct Answer {
    let status: Int
    /// By their names in lower case.
    let headers: [String: String]
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The members of a JSON object.
    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:] }
    }
}

/// A client that sends each header as it is told to, as browsers and attackers do.
enum HTTP {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func request(
        _ method: String = "GET", _ path: String, host: String = "127.0.0.1", port: Int, headers: [String: String] = [:],
        body: Data? = nil
    ) throws -> Answer {
        let descriptor = try connect(host, port)
        defer { close(descriptor) }
        try write(method, path, host: host, port: port, headers: headers, body: body, to: descriptor)
        return try received(descriptor)
    }

    /// Asks, and reads nothing; returns the connection.
    static func silent(_ path: String, port: Int, headers: [String: String]) throws -> Int32 {
        let descriptor = try connect("127.0.0.1", port)
        try write("GET", path, host: "127.0.0.1", port: port, headers: headers, body: nil, to: descriptor)
        return descriptor
    }

    /// Closes a connection.
    static func end(_ descriptor: Int32) { close(descriptor) }

    private static func write(
        _ method: String, _ path: String, host: String, port: Int, headers: [String: String], body: Data?, to descriptor: Int32
    ) throws {
        var lines = ["\(method) \(path) HTTP/1.1", "Connection: close"]
        if headers["Host"] == nil { lines.append("Host: \(host):\(port)") }
        lines += headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        if let body { lines.append("Content-Length: \(body.count)") }
        var request = Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        if let body { request.append(body) }
        try request.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { throw Failure(description: "The request could not be sent: errno \(errno).") }
                sent += count
            }
        }
    }

    private static func connect(_ host: String, _ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A server that does not answer is an error of the test, not its end.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                systemConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure(description: "No connection to \(host):\(port): errno \(errno).")
        }
        return descriptor
    }

    /// Reads one answer: a server may leave the connection open after it.
    private static func received(_ descriptor: Int32) throws -> Answer {
        var reader = Reader(descriptor: descriptor)
        let lines = String(decoding: try reader.take(through: "\r\n\r\n"), as: UTF8.self).components(separatedBy: "\r\n")
        let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        let headers = lines.dropFirst().reduce(into: [String: String]()) { result, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { result[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        return Answer(status: status, headers: headers, body: try body(&reader, status, headers))
    }

    private static func body(_ reader: inout Reader, _ status: Int, _ headers: [String: String]) throws -> Data {
        if status == 204 || status == 304 { return Data() }
        if headers["transfer-encoding"]?.lowercased() == "chunked" {
            var body = Data()
            while true {
                let line = String(decoding: try reader.take(through: "\r\n"), as: UTF8.self)
                guard let size = Int(line, radix: 16) else { throw Failure(description: "“\(line)” is no size of a part.") }
                let part = try reader.take(size)
                _ = try reader.take(through: "\r\n")
                if size == 0 { return body }
                body.append(part)
            }
        }
        guard let length = headers["content-length"] else { return try reader.takeAll() }
        guard let count = Int(length) else { throw Failure(description: "“\(length)” is no length.") }
        return try reader.take(count)
    }

    /// What a connection brings, in parts.
    private struct Reader {
        let descriptor: Int32
        private var data = Data()

        init(descriptor: Int32) { self.descriptor = descriptor }

        /// Reads more; returns whether there was some.
        private mutating func more() throws -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(description: "The answer could not be read: errno \(errno).") }
            data.append(contentsOf: buffer[..<count])
            return count > 0
        }

        mutating func take(_ count: Int) throws -> Data {
            while data.count < count {
                guard try more() else { throw Failure(description: "The answer ended after \(data.count) of \(count) bytes.") }
            }
            defer { data = Data(data.dropFirst(count)) }
            return Data(data.prefix(count))
        }

        /// Returns what is before an end, and drops that too.
        mutating func take(through end: String) throws -> Data {
            while true {
                if let range = data.range(of: Data(end.utf8)) {
                    defer { data = Data(data[range.upperBound...]) }
                    return Data(data[..<range.lowerBound])
                }
                guard try more() else { throw Failure(description: "The answer ended within its headers.") }
            }
        }

        mutating func takeAll() throws -> Data {
            while try more() {}
            return data
        }
    }
}

/// `connect` of the system, whose name a member hides.
private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
