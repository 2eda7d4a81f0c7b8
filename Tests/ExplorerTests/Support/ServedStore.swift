import Foundation
import TestSupport

/// The command `coredata serve` as a process of its own, which ends with the test.
final class ServedStore {
    let process = Process()
    /// The address that it printed.
    let address: String
    let port: Int
    let token: String
    private let output = Pipe()

    /// Starts it, and waits until it listens.
    init(_ store: URL, _ arguments: [String] = []) throws {
        try process.run(BuiltProgram.command, ["serve", store.path] + arguments, output: output)
        var printed = ""
        while !printed.contains("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw HTTP.Failure(description: "“coredata serve” ended: \(printed)") }
            printed += String(decoding: data, as: UTF8.self)
        }
        guard let start = printed.range(of: "http://"), let end = printed[start.lowerBound...].firstIndex(of: "\n") else {
            throw HTTP.Failure(description: "“coredata serve” printed no address: \(printed)")
        }
        address = String(printed[start.lowerBound..<end])
        let parts = URLComponents(string: address)
        port = parts?.port ?? 0
        token = parts?.queryItems?.first { $0.name == "token" }?.value ?? ""
    }

    deinit { end() }

    /// Ends it, as an interrupt does.
    func end() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    var cookie: String { "coredata-\(port)=\(token)" }
    var origin: String { "http://127.0.0.1:\(port)" }

    /// Asks as a page of the session does.
    func get(_ path: String, _ parameters: KeyValuePairs<String, String> = [:]) throws -> Answer {
        let allowed = CharacterSet.alphanumerics
        let query = parameters.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }.joined(separator: "&")
        return try HTTP.request("GET", query.isEmpty ? path : "\(path)?\(query)", port: port, headers: ["Cookie": cookie])
    }

    /// Changes as a page of the session does.
    func edit(_ edit: [String: Any]) throws -> Answer {
        try HTTP.request(
            "POST", "/api/edit", port: port, headers: ["Cookie": cookie, "Origin": origin, "Content-Type": "application/json"],
            body: try JSONSerialization.data(withJSONObject: edit))
    }
}

extension Answer {
    /// The statements of a store that the answer took.
    var statements: [[String: Any]] {
        get throws { ((try json["asked"] as? [String: Any])?["statements"] as? [[String: Any]]) ?? [] }
    }

    /// The rows that the fetches of the answer read.
    var rowsRead: Int {
        get throws { try statements.compactMap { $0["rows"] as? Int }.reduce(0, +) }
    }

    var error: [String: Any] {
        get throws { try json["error"] as? [String: Any] ?? [:] }
    }
}
