internal import Foundation

extension WebRequest {
    /// The names of query items whose values are secret in most services, in lower case.
    static let secretQueryNames: Set<String> = [
        "access_token", "accesskey", "access_key", "api-key", "api_key", "apikey", "appid", "app_key", "auth", "auth_token",
        "authorization",
        "client_secret", "code", "csrf_token", "csrfmiddlewaretoken", "id_token", "jwt", "key", "passwd", "password", "refresh_token",
        "secret", "session", "session_id", "sessionid", "sid", "sig", "signature", "token", "x-amz-credential", "x-amz-security-token",
        "x-amz-signature",
    ]

    /// The method and the address, for errors and logs. The values of query items with names such as `token` are removed.
    var summary: String { "\(method.rawValue) \(Self.withoutSecrets(url))" }

    /// Returns an address without a password before the host, and without the values of query items that have one of these names, or a name that is
    /// secret in most services.
    static func withoutSecrets(_ url: String, names: Set<String> = [], except kept: Set<String> = []) -> String {
        var text = Substring(url)
        if let hash = text.firstIndex(of: "#") { text = text[..<hash] }
        let question = text.firstIndex(of: "?") ?? text.endIndex
        var head = String(text[..<question])
        if let slashes = head.range(of: "://") {
            let end = head[slashes.upperBound...].firstIndex(of: "/") ?? head.endIndex
            if let at = head[slashes.upperBound..<end].lastIndex(of: "@") { head.removeSubrange(slashes.upperBound...at) }
        }
        guard question < text.endIndex else { return head }
        let items = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            let name = decoded(item[..<equals]).lowercased()
            return (secretQueryNames.contains(name) || names.contains(name)) && !kept.contains(name)
                ? item[..<equals] + "=" + removed : String(item)
        }
        return head + "?" + items.joined(separator: "&")
    }

    /// The replacement for a secret.
    static let removed = "REMOVED"

    /// Returns the name of a query item, percent-decoded.
    static func decoded(_ text: Substring) -> String {
        text.contains("%") ? String(text).removingPercentEncoding ?? String(text) : String(text)
    }
}
