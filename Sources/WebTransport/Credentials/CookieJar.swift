internal import Foundation
internal import Platform
internal import PropertyLists

/// The cookies of a session. They are sent only to the origin that has set them, whatever domain they name.
final class CookieJar: Sendable {
    struct Cookie: Sendable {
        var name: String
        var value: String
        var path: String
        var isSecure: Bool
        /// The time at which it expires, in the client's seconds; nil for never.
        var end: Double?
    }

    private struct State {
        var cookies: [String: [Cookie]] = [:]
        /// A counter of changes.
        var changes = 0
    }

    /// The maximum number of cookies of an origin, and the maximum size of each.
    private static let maximum = (cookies: 100, bytes: 8192)

    private let state = LockedBox(State())

    /// A number that changes with each change of a cookie.
    var changes: Int { state.withLock { $0.changes } }

    /// Adds the cookies of a request's origin to it.
    func add(to request: inout WebRequest, secondsNow: Double) {
        guard let address = try? WebAddress(request.url) else { return }
        let cookies = state.withLock { $0.cookies[address.origin] ?? [] }.filter { cookie in
            (cookie.end ?? .infinity) > secondsNow && (address.isSecure || !cookie.isSecure) && Self.matches(address.path, cookie.path)
        }
        guard !cookies.isEmpty else { return }
        let own = request.headers["Cookie"].map { [$0] } ?? []
        // Cookies with longer paths come first.
        let sorted = cookies.sorted { $0.path.utf8.count > $1.path.utf8.count }
        request.headers["Cookie"] = (own + sorted.map { "\($0.name)=\($0.value)" }).joined(separator: "; ")
    }

    /// Stores the cookies that an answer sets.
    ///
    /// - Parameters:
    ///   - secondsNow: The client's seconds.
    ///   - dateNow: The seconds since the beginning of 1970.
    func store(from response: WebResponse, to url: String, secrets: Secrets, secondsNow: Double, dateNow: Double) {
        let lines = response.headers.all("Set-Cookie")
        guard !lines.isEmpty, let address = try? WebAddress(url) else { return }
        for line in lines.prefix(Self.maximum.cookies) where line.utf8.count <= Self.maximum.bytes {
            guard var cookie = Self.cookie(line, at: address, secondsNow: secondsNow, dateNow: dateNow) else { continue }
            if cookie.value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) { continue }
            if cookie.isSecure, !address.isSecure { cookie.end = -.infinity }
            secrets.add(cookie.value)
            state.withLock { state in
                var kept = state.cookies[address.origin] ?? []
                let old = kept.firstIndex { $0.name == cookie.name && $0.path == cookie.path }
                if let old, kept[old].value == cookie.value, kept[old].end == cookie.end { return }
                state.changes += 1
                if let old { kept.remove(at: old) }
                if (cookie.end ?? .infinity) > secondsNow { kept.append(cookie) }
                if kept.count > Self.maximum.cookies { kept.removeFirst() }
                state.cookies[address.origin] = kept
            }
        }
    }

    /// Returns the value of a cookie for the origin of an address.
    func value(_ name: String, at url: String) -> String? {
        guard let address = try? WebAddress(url) else { return nil }
        return state.withLock { $0.cookies[address.origin] ?? [] }.last { $0.name == name }?.value
    }

    /// Returns whether a path is within that of a cookie.
    private static func matches(_ path: String, _ cookiePath: String) -> Bool {
        path == cookiePath || (path.hasPrefix(cookiePath) && (cookiePath.hasSuffix("/") || path.dropFirst(cookiePath.count).hasPrefix("/")))
    }

    /// Parses a header `Set-Cookie`.
    private static func cookie(_ line: String, at address: WebAddress, secondsNow: Double, dateNow: Double) -> Cookie? {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let pair = parts.first, let equals = pair.firstIndex(of: "="), equals > pair.startIndex else { return nil }
        let folder = address.path.lastIndex(of: "/").map { String(address.path[..<$0]) } ?? ""
        var cookie = Cookie(
            name: String(pair[..<equals]), value: String(pair[pair.index(after: equals)...]), path: folder.isEmpty ? "/" : folder,
            isSecure: false)
        var maximumAge: Double?
        for part in parts.dropFirst() {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let value = words.count > 1 ? words[1].trimmingCharacters(in: .whitespaces) : ""
            switch words[0].lowercased() {
            case "secure": cookie.isSecure = true
            case "path": if value.hasPrefix("/") { cookie.path = value }
            case "max-age": maximumAge = Double(value)
            case "expires":
                // An invalid date is ignored, as RFC 6265 demands.
                if let date = try? DateText.seconds(value, .cookie) {
                    cookie.end = secondsNow + DateCount.seconds1970.number(date) - dateNow
                }
            default: break
            }
        }
        if let maximumAge, maximumAge.isFinite { cookie.end = secondsNow + maximumAge }
        return cookie
    }
}
