/// The parts of an absolute web address.
///
/// It accepts only addresses that all parsers read in the same way: the characters of RFC 3986, no name or password before the host, and a host of
/// letters, digits, dots, hyphens and underscores or in brackets. The ``origin`` decides whether a credential may go to an address. A backslash or a
/// blank, which only some parsers take for a part of the host, could make that decision wrong.
struct WebAddress: Hashable, Sendable {
    /// The maximum length of an address.
    static let maximumLength = 16_384

    /// `http` or `https`.
    var scheme: String
    /// The host in lower case; an IPv6 address is in brackets.
    var host: String
    /// The port; the default of the scheme if the address has none.
    var port: Int
    /// The path, percent-encoded, with a slash at its beginning.
    var path: String
    /// The text after the question mark, percent-encoded.
    var query: String?

    /// Whether the connection is encrypted.
    var isSecure: Bool { scheme == "https" }

    /// Returns the default port of a scheme.
    private static func usualPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// The origin, which must be equal for a credential to be sent.
    var origin: String { "\(scheme)://\(host):\(port)" }

    /// The whole address. Brackets are percent-encoded: services write them unencoded, and other parsers refuse them.
    var text: String {
        let rest = path + (query.map { "?" + $0 } ?? "")
        let hasBrackets = rest.utf8.contains { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
        return scheme + "://" + host + (port == Self.usualPort(scheme) ? "" : ":\(port)")
            + (hasBrackets ? rest.replacing("[", with: "%5B").replacing("]", with: "%5D") : rest)
    }

    /// The reasons why an address cannot be parsed.
    enum Problem: String, Error {
        case long = "It is too long."
        case scheme = "It must begin with http:// or https://."
        case user = "It has a name or a password before the host: give them as the client's authentication."
        case host = "Its host cannot be read."
        case characters = "It has characters that must be percent-encoded."
    }

    /// Parses an absolute address. The part from `#` on is dropped.
    init(_ text: String) throws(Problem) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumLength else { throw .long }
        let rest: Int
        if Self.begins(bytes, with: "https://") {
            (scheme, rest) = ("https", 8)
        } else if Self.begins(bytes, with: "http://") {
            (scheme, rest) = ("http", 7)
        } else {
            throw .scheme
        }
        guard bytes.indices.allSatisfy({ Self.isAllowed(bytes[$0]) && (bytes[$0] != UInt8(ascii: "%") || Self.isEncoded(bytes, at: $0)) })
        else { throw .characters }
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let authorityEnd = bytes[rest..<end].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
        let authority = bytes[rest..<authorityEnd]
        guard !authority.contains(UInt8(ascii: "@")) else { throw .user }
        var hostEnd = authority.endIndex
        port = Self.usualPort(scheme)
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) {
            hostEnd = colon
            let digits = authority[(colon + 1)...]
            guard digits.allSatisfy({ (48...57).contains($0) }) else { throw .host }
            if !digits.isEmpty {
                guard let number = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(number) else { throw .host }
                port = number
            }
        }
        host = String(decoding: authority[..<hostEnd], as: UTF8.self).lowercased()
        guard Self.isHost(Array(authority[..<hostEnd])) else { throw .host }
        let question = bytes[authorityEnd..<end].firstIndex(of: UInt8(ascii: "?"))
        path = String(decoding: bytes[authorityEnd..<(question ?? end)], as: UTF8.self)
        if path.isEmpty { path = "/" }
        query = question.map { String(decoding: bytes[($0 + 1)..<end], as: UTF8.self) }
    }

    /// Creates an address with another path and query.
    init(_ base: WebAddress, path: String, query: String?) {
        self = base
        self.path = path
        self.query = query
    }

    private static func begins(_ bytes: [UInt8], with prefix: String) -> Bool {
        bytes.count > prefix.utf8.count && zip(bytes, prefix.utf8).allSatisfy { $0 | (isLetter($0) ? 0x20 : 0) == $1 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// Returns whether an address may contain a character: those of RFC 3986, and the brackets and bars that services write.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
    }

    /// Returns whether two hexadecimal digits follow a percent sign.
    static func isEncoded(_ bytes: [UInt8], at index: Int) -> Bool {
        index + 2 < bytes.count && bytes[(index + 1)...(index + 2)].allSatisfy { isDigit($0) || (97...102).contains($0 | 0x20) }
    }

    private static func isHost(_ bytes: [UInt8]) -> Bool {
        if bytes.first == UInt8(ascii: "[") {
            return bytes.count > 3 && bytes.last == UInt8(ascii: "]")
                && bytes.dropFirst().dropLast().allSatisfy { isDigit($0) || (97...102).contains($0 | 0x20) || $0 == 58 || $0 == 46 }
        }
        return !bytes.isEmpty && bytes.count <= 255 && bytes.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
    }
}
