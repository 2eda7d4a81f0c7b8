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
        return try answer(try received(descriptor))
    }

    private static func connect(_ host: String, _ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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

    private static func received(_ descriptor: Int32) throws -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return data }
            guard count > 0 else { throw Failure(description: "The answer could not be read: errno \(errno).") }
            data.append(contentsOf: buffer[..<count])
        }
    }

    private static func answer(_ data: Data) throws -> Answer {
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { throw Failure(description: "The answer has no end of its headers.") }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        let headers = lines.dropFirst().reduce(into: [String: String]()) { result, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { result[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        let body = Data(data[end.upperBound...])
        return Answer(status: status, headers: headers, body: headers["transfer-encoding"] == "chunked" ? joined(body) : body)
    }

    private static func joined(_ chunks: Data) -> Data {
        var (rest, body) = (chunks[...], Data())
        while let line = rest.range(of: Data("\r\n".utf8)) {
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) ?? 0
            if size == 0 { break }
            body.append(rest[line.upperBound..<(line.upperBound + size)])
            rest = rest[(line.upperBound + size + 2)...]
        }
        return body
    }
}

/// `connect` of the system, whose name a member hides.
private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
