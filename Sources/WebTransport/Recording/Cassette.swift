internal import Foundation

/// Requests and their answers, in a file that people can read.
///
/// The file is JSON. Headers are lines. A body that is text is an array of strings, whose concatenation is the body. Other bodies are in Base64. The
/// file has no secrets: ``RecordingTransport`` removes them.
public struct Cassette: Hashable, Sendable {
    /// A request and its answer.
    public struct Interaction: Hashable, Sendable {
        /// The request, without secrets.
        public var request: WebRequest
        /// The answer, without secrets.
        public var response: WebResponse

        /// Creates an interaction.
        public init(request: WebRequest, response: WebResponse) {
            self.request = request
            self.response = response
        }
    }

    /// The interactions, in the order of the answers.
    public var interactions: [Interaction]

    /// Creates a cassette.
    public init(_ interactions: [Interaction] = []) { self.interactions = interactions }

    /// Reads a cassette from a file.
    ///
    /// - Throws: A ``TransportError`` that names the file and the mistake in it.
    public init(contentsOfFile path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw Self.failure(path, "It cannot be read.") }
        do {
            try self.init(bytes: Array(data))
        } catch let error as TransportError {
            throw Self.failure(path, error.detail)
        }
    }

    /// Reads a cassette from the bytes of a file.
    ///
    /// - Throws: A ``TransportError`` that names the mistake in them.
    public init(bytes: [UInt8]) throws {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw Self.failure("bytes", Self.reason(error))
        }
        guard file.format == 1 else { throw Self.failure("bytes", "Its format is \(file.format); this version reads format 1.") }
        interactions = try file.interactions.enumerated().map { index, entry in
            guard let request = entry.request.request, let response = entry.response.response else {
                throw Self.failure("bytes", "The body of interactions[\(index)] is no base 64.")
            }
            return Interaction(request: request, response: response)
        }
    }

    /// Returns the bytes of a file with the cassette.
    public func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let entries = interactions.map { File.Entry(request: File.Request($0.request), response: File.Response($0.response)) }
        return Array(try encoder.encode(File(format: 1, interactions: entries))) + [UInt8(ascii: "\n")]
    }

    /// Writes the cassette to a file, atomically.
    public func write(toFile path: String) throws {
        try Data(bytes()).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func failure(_ path: String, _ detail: String) -> TransportError {
        TransportError(.notRecorded, request: "The reading of the cassette \(path)", detail: detail)
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context)) has no \(key.stringValue)."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(place(context)): \(context.debugDescription)"
        @unknown default: "It is no cassette."
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return path.isEmpty ? "The file" : String(path.drop { $0 == "." })
    }
}

/// The form of a cassette in a file.
private struct File: Codable {
    struct Entry: Codable {
        var request: Request
        var response: Response
    }

    struct Request: Codable {
        var method: WebRequest.Method
        var url: String
        var headers: [String]?
        var body: [String]?
        var bodyBase64: String?
        var label: String?
        var isIdempotent: Bool?

        init(_ request: WebRequest) {
            method = request.method
            url = request.url
            headers = request.headers.fields.isEmpty ? nil : File.lines(request.headers)
            label = request.label.isEmpty ? nil : request.label
            isIdempotent = WebRequest(request.method, "").isIdempotent == request.isIdempotent ? nil : request.isIdempotent
            (body, bodyBase64) = request.body.map(File.pieces) ?? (nil, nil)
        }

        var request: WebRequest? {
            guard let bytes = File.bytes(body, bodyBase64) else { return nil }
            let hasBody = body != nil || bodyBase64 != nil
            return WebRequest(
                method, url, headers: File.headers(headers ?? []), body: hasBody ? bytes : nil, isIdempotent: isIdempotent,
                label: label ?? "")
        }
    }

    struct Response: Codable {
        var status: Int
        var headers: [String]?
        var body: [String]?
        var bodyBase64: String?

        init(_ response: WebResponse) {
            status = response.status
            headers = response.headers.fields.isEmpty ? nil : File.lines(response.headers)
            if !response.body.isEmpty { (body, bodyBase64) = File.pieces(response.body) }
        }

        var response: WebResponse? {
            File.bytes(body, bodyBase64).map { WebResponse(status: status, headers: File.headers(headers ?? []), body: $0) }
        }
    }

    var format: Int
    var interactions: [Entry]

    static func lines(_ headers: WebHeaders) -> [String] { headers.fields.map { "\($0.name): \($0.value)" } }

    static func headers(_ lines: [String]) -> WebHeaders {
        WebHeaders(
            lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return WebHeaders.Field(
                    String(parts[0]), parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : "")
            })
    }

    /// Returns a body as strings, or in Base64 if it is not text.
    ///
    /// A string ends after a line, and in JSON also after a comma before an object or after some values, so that a change of one value changes one line
    /// of the file.
    static func pieces(_ body: [UInt8]) -> ([String]?, String?) {
        guard String(validating: body, as: UTF8.self) != nil else { return (nil, Data(body).base64EncodedString()) }
        let isJSON = body.first { $0 > 0x20 }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false
        var pieces: [String] = []
        var start = 0
        var isInString = false
        var isEscaped = false
        for (index, byte) in body.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isInString
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            }
            let isBetween = isJSON && !isInString && byte == UInt8(ascii: ",")
            let ends =
                byte == UInt8(ascii: "\n")
                || (isBetween && (index - start >= 60 || body[(index + 1)...].first { $0 > 0x20 } == UInt8(ascii: "{")))
            guard ends else { continue }
            pieces.append(String(decoding: body[start...index], as: UTF8.self))
            start = index + 1
        }
        if start < body.count { pieces.append(String(decoding: body[start...], as: UTF8.self)) }
        return (pieces, nil)
    }

    static func bytes(_ pieces: [String]?, _ base64: String?) -> [UInt8]? {
        if let base64 { return Data(base64Encoded: base64).map(Array.init) }
        return pieces.map { $0.flatMap { Array($0.utf8) } } ?? []
    }
}
