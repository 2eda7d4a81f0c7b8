internal import Foundation

/// The policy for redirects.
///
/// Credentials and cookies never follow a redirect to another origin than the one that they are meant for. Of the other headers, only those that
/// describe the wanted form of an answer do.
public struct RedirectPolicy: Hashable, Sendable, Codable {
    /// The maximum number of redirects for one request; exceeding it is an error.
    public var maximum: Int
    /// Whether a redirect from `https` to `http` is followed.
    public var allowsInsecure: Bool
    /// Whether a request with a body follows a redirect to another origin, with its body.
    public var sendsBodiesElsewhere: Bool

    /// Creates a policy.
    public init(maximum: Int = 10, allowsInsecure: Bool = false, sendsBodiesElsewhere: Bool = false) {
        self.maximum = maximum
        self.allowsInsecure = allowsInsecure
        self.sendsBodiesElsewhere = sendsBodiesElsewhere
    }

    /// Follows no redirects: an answer with the status 3xx is returned like any other.
    public static let never = RedirectPolicy(maximum: 0)

    /// The headers that may be sent to another origin, in lower case.
    static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-language", "content-type", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "prefer", "range", "user-agent",
    ]

    /// Returns the target of a redirect; nil if the answer is not one.
    func next(
        after response: WebResponse, to request: WebRequest, summary: @autoclosure () -> String
    ) throws(TransportError) -> WebRequest? {
        guard maximum > 0, [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else {
            return nil
        }
        func failure(_ detail: String) -> TransportError { TransportError(.redirected, request: summary(), detail: detail) }
        let here: WebAddress
        let there: WebAddress
        do {
            here = try WebAddress(request.url)
            there = try Self.resolve(location, at: request.url)
        } catch {
            throw failure("The address to which it leads cannot be read. \(error.rawValue)")
        }
        guard there.isSecure || !here.isSecure || allowsInsecure else {
            throw failure("It leads from https to http, to \(there.host).")
        }
        var next = request
        next.url = there.text
        let becomesGet =
            response.status == 303 ? request.method != .head : response.status <= 302 && request.method == .post
        if becomesGet {
            next.method = .get
            next.body = nil
            next.isIdempotent = true
            next.headers.fields.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if there.origin != here.origin {
            next.headers.fields.removeAll { !Self.harmlessHeaders.contains($0.name.lowercased()) }
            let isHarmless = next.body == nil && (next.method == .get || next.method == .head)
            guard isHarmless || sendsBodiesElsewhere else {
                throw failure("It leads with \(next.body == nil ? "a change" : "its body") to another origin, \(there.origin).")
            }
        }
        return next
    }

    /// Returns the address in a header, which is absolute or relative to that of the request.
    static func resolve(_ location: String, at base: String) throws(WebAddress.Problem) -> WebAddress {
        guard location.utf8.count <= WebAddress.maximumLength else { throw .long }
        var text = ""
        let bytes = Array(location.trimmingCharacters(in: .whitespaces).utf8)
        for (index, byte) in bytes.enumerated() {
            // Some services leave non-ASCII letters, blanks and single percent signs unencoded.
            if byte <= 0x20 || byte >= 0x7F || (byte == UInt8(ascii: "%") && !WebAddress.isEncoded(bytes, at: index)) {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        if let colon = text.firstIndex(of: ":"), text[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) }),
            text.first?.isLetter == true
        {
            return try WebAddress(text)
        }
        let here = try WebAddress(base)
        if text.hasPrefix("//") { return try WebAddress(here.scheme + ":" + text) }
        if let hash = text.firstIndex(of: "#") { text = String(text[..<hash]) }
        if text.isEmpty { return here }
        let question = text.firstIndex(of: "?")
        let query = question.map { String(text[text.index(after: $0)...]) }
        var path = String(text[..<(question ?? text.endIndex)])
        if path.isEmpty {
            path = here.path
        } else if !path.hasPrefix("/") {
            path = here.path[...(here.path.lastIndex(of: "/") ?? here.path.startIndex)] + path
        }
        // Parsed again, because a relative address may also contain invalid characters.
        return try WebAddress(WebAddress(here, path: withoutDots(path), query: query).text)
    }

    /// Returns a path without segments `.` and `..`.
    private static func withoutDots(_ path: String) -> String {
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch segment {
            case ".": if isLast { segments.append("") }
            case "..":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(segment)
            }
        }
        return "/" + segments.joined(separator: "/")
    }
}

extension RedirectPolicy {
    private enum CodingKeys: String, CodingKey {
        case maximum
        case allowsInsecure
        case sendsBodiesElsewhere
    }

    /// Decodes the values in a file; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let usual = RedirectPolicy()
        self.init(
            maximum: try container.decodeIfPresent(Int.self, forKey: .maximum) ?? usual.maximum,
            allowsInsecure: try container.decodeIfPresent(Bool.self, forKey: .allowsInsecure) ?? usual.allowsInsecure,
            sendsBodiesElsewhere: try container.decodeIfPresent(Bool.self, forKey: .sendsBodiesElsewhere) ?? usual.sendsBodiesElsewhere)
    }
}
