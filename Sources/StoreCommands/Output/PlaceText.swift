internal import Foundation

/// Shows the places that users enter without their passwords: connection strings of databases, and addresses.
package enum PlaceText {
    /// The minimum length of a password that is searched for on its own: a shorter one may be part of any word.
    private static let shortestSecret = 4

    /// Returns a place without possible secrets: for an address with a user, its scheme; for keywords with values, those before the password.
    package static func shown(_ place: String) -> String {
        if let address = address(in: place) { return place[..<address.scheme.upperBound] + "…" }
        if let keyword = keyword(in: place) { return place[..<keyword.upperBound] + "…" }
        return place.replacing(userAndPassword) { match in "\(match.1):…@" }
    }

    /// Returns a message without possible secrets in the arguments of a command, or in parts of these.
    package static func withoutSecrets(_ message: String, of arguments: [String]) -> String {
        // A message may quote the value of an option without the option.
        let places = arguments.flatMap { argument -> [String] in
            guard argument.hasPrefix("--"), let end = argument.firstIndex(of: "=") else { return [argument] }
            return [argument, String(argument[argument.index(after: end)...])]
        }.filter { shown($0) != $0 }
        var message = message
        for place in places { message = message.replacing(place, with: shown(place)) }
        // Paths that were derived from them have other separators.
        for secret in places.flatMap(secrets) where secret.utf8.count >= shortestSecret { message = message.replacing(secret, with: "…") }
        return message
    }

    // MARK: Parts

    // A regular expression is not sendable, and quick to create.
    private static var userAndPassword: Regex<(Substring, Substring, Substring)> { #/([^\/\s:@]+):([^@\s]+)@/# }

    /// Returns whether a text begins like a URL that is not a file URL, such as `mysql://…` and `jdbc:postgresql://…`.
    static func isAddress(_ text: String) -> Bool { text.prefixMatch(of: #/(?!(?i:file):)[A-Za-z][\w+.:-]*:\/\//#) != nil }

    /// Returns the scheme of an address in a text, and the text after it; nil for one without possible secrets.
    private static func address(in text: String) -> (scheme: Range<String.Index>, rest: Substring)? {
        guard let scheme = text.firstMatch(of: #/[A-Za-z][\w+.:-]*:\/\//#), !scheme.0.lowercased().hasPrefix("file:") else { return nil }
        let rest = text[scheme.range.upperBound...]
        // A password may contain any character that ends a host, or be the whole user part.
        let isSecret = rest.contains("@") || keyword(in: String(rest)) != nil || rest.wholeMatch(of: #/[^\/]*:[^\/0-9\]].*/#) != nil
        return isSecret ? (scheme.range, rest) : nil
    }

    /// Returns the range of a password's keyword, up to the sign before its value.
    private static func keyword(in text: String) -> Range<String.Index>? {
        text.firstRange(of: #/(?i)[\w-]*(?:pass|pwd|secret|token)[\w-]*\s*=(?!=)/#)
    }

    /// Returns the passwords in a place.
    private static func secrets(in place: String) -> [String] {
        if let address = address(in: place) {
            var secrets: [String] = []
            if let end = address.rest.lastIndex(of: "@") {
                let user = address.rest[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                secrets += user.map(String.init).suffix(1)
            }
            if let keyword = keyword(in: String(address.rest)) {
                secrets += String(address.rest)[keyword.upperBound...].split(separator: "&").prefix(1).map(String.init)
            }
            return secrets
        }
        guard let keyword = keyword(in: place) else { return place.matches(of: userAndPassword).map { String($0.2) } }
        guard let value = place[keyword.upperBound...].firstMatch(of: #/'((?:\\.|[^'\\])*)'|(\S+)/#) else { return [] }
        return (value.1 ?? value.2).map { [String($0)] } ?? []
    }
}
