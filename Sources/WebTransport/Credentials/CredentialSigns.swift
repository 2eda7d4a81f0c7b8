internal import Foundation

/// Recognises answers about the credentials of their requests.
extension WebResponse {
    /// Returns whether the answer refuses the credentials, or says that they have expired. The sign is its status, an error code or phrase with another
    /// status, or a login page, which it may also redirect to.
    ///
    /// - Parameter isError: Whether the answer is known to be an error, regardless of its status.
    package func refusesCredentials(isError: Bool = false) -> Bool {
        // 419 and 440 end sessions, in Laravel and IIS; 498 is an invalid token of ArcGIS.
        if [401, 407, 419, 440, 498].contains(status) || leadsToSignIn || isSignInPage { return true }
        guard isError || (400..<500).contains(status) else { return false }
        // RFC 6750: a token that has expired, was revoked, or is malformed.
        if headers.all("WWW-Authenticate").contains(where: { $0.contains("invalid_token") }) { return true }
        guard body.count < 65_536, let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else { return false }
        let inner = object["error"] as? [String: Any] ?? [:]
        let texts = ["error", "code", "error_code", "errorCode", "type", "status", "reason"].flatMap { [object[$0], inner[$0]] }
        if texts.contains(where: { ($0 as? String).map(Self.isReason) ?? false }) { return true }
        // Services without error codes have only a phrase. 403 alone may also mean that the user lacks a permission.
        guard isError || status == 403 else { return false }
        return ["message", "detail", "error", "error_description", "title"].flatMap { [object[$0], inner[$0]] }.contains {
            guard let text = ($0 as? String)?.lowercased() else { return false }
            return Self.phrases.contains { text.contains($0) }
        }
    }

    /// Whether the answer refuses a token. The status 407 does not: a proxy asks for other credentials.
    var refusesToken: Bool { status != 407 && refusesCredentials() }

    /// The error codes of services for invalid credentials, without the characters between their words.
    private static let reasons: Set<String> = [
        "invalidtoken", "invalidgrant", "expiredtoken", "tokenexpired", "tokenrevoked", "tokennotvalid", "invalidaccesstoken",
        "accesstokenexpired", "expiredaccesstoken", "sessionexpired", "expiredsession", "loginrequired", "notauthenticated",
        "unauthenticated", "notauthed", "invalidauth", "credentialsexpired",
    ]
    /// The phrases of services for invalid credentials; the last two are those of Django REST framework.
    private static let phrases = [
        "token expired", "token has expired", "token is expired", "session expired", "session has expired",
        "authentication credentials were not provided", "invalid token",
    ]

    private static func isReason(_ text: String) -> Bool {
        text.utf8.count < 64 && reasons.contains(text.lowercased().filter { $0.isLetter })
    }

    // MARK: Pages

    /// Whether the body is a page for people: HTML, or another markup language.
    package var isPage: Bool {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return body[start...].first { $0 > 0x20 } == UInt8(ascii: "<")
    }

    /// Whether the body is a login page: it asks for a password, or its title says so.
    package var isSignInPage: Bool {
        guard isPage else { return false }
        let text = String(decoding: body.prefix(65_536), as: UTF8.self).lowercased()
        if text.contains("type=\"password\"") || text.contains("type='password'") || text.contains("type=password") { return true }
        guard let start = text.range(of: "<title"), let end = text.range(of: "</title", range: start.upperBound..<text.endIndex) else {
            return false
        }
        let title = text[start.upperBound..<end.lowerBound]
        return ["sign in", "signin", "log in", "login"].contains { title.contains($0) }
    }

    /// Whether the answer is a redirect to a login page.
    package var leadsToSignIn: Bool {
        guard [301, 302, 303, 307, 308].contains(status), let location = headers["Location"] else { return false }
        return SignInAddress.isOne(location)
    }
}

/// Recognises the addresses of login pages by their names.
enum SignInAddress {
    private static let words: Set<String> = ["login", "logon", "signin", "signon", "sso", "saml", "saml2"]
    /// The names of hosts that only have login pages.
    private static let hosts: Set<String> = ["auth", "idp", "accounts", "id"]

    /// The endings of addresses of login pages.
    private static let ends: Set<String> = ["session/new", "sessions/new", "oauth/authorize", "oauth2/authorize"]

    /// Returns whether an absolute or relative address is that of a login page.
    static func isOne(_ location: String) -> Bool {
        var rest = location.prefix { $0 != "?" && $0 != "#" }.lowercased()[...]
        var host = Substring()
        if let scheme = rest.range(of: "://") {
            let tail = rest[scheme.upperBound...]
            host = tail.prefix { $0 != "/" }
            rest = tail.dropFirst(host.count)
        }
        func word(_ text: Substring) -> String { String(text.prefix { $0 != "." }).filter { $0.isLetter || $0.isNumber } }
        if let first = host.split(separator: ".").first, host.contains("."), words.contains(word(first)) || hosts.contains(String(first)) {
            return true
        }
        let segments = rest.split(separator: "/")
        if segments.contains(where: { words.contains(word($0)) || $0.prefix { $0 != "." }.hasSuffix("-login") }) { return true }
        return ends.contains(segments.suffix(2).joined(separator: "/"))
    }
}

extension TransportError {
    /// Whether the network or the service was not available.
    package var isOfNetwork: Bool { [.cannotConnect, .timedOut, .lost, .rateLimited].contains(kind) }
}
