internal import Foundation
internal import Platform

/// The secrets that a client has used, so that they can be removed from all output.
final class Secrets: Sendable {
    private struct Known {
        /// The secrets in the forms in which they are sent, oldest first.
        var values: [String] = []
        var all: Set<String> = []
    }

    /// The maximum number of remembered secrets: a service that sets a new cookie with each answer must not exhaust the memory.
    private static let maximum = 4000

    private let known = LockedBox(Known())
    /// The names of query items with secrets, in lower case.
    let queryNames: Set<String>

    init(queryNames: Set<String> = []) { self.queryNames = Set(queryNames.map { $0.lowercased() }) }

    /// Remembers a secret, and its forms in addresses, forms and JSON.
    func add(_ secret: String) {
        guard !secret.isEmpty, known.withLock({ !$0.all.contains(secret) }) else { return }
        let forms = SecretForms.all(of: secret)
        known.withLock { known in
            for form in forms where !form.isEmpty && known.all.insert(form).inserted { known.values.append(form) }
            guard known.values.count > Self.maximum else { return }
            let old = known.values.prefix(known.values.count - Self.maximum)
            known.all.subtract(old)
            known.values.removeFirst(old.count)
        }
    }

    /// Remembers the secret values in a request's headers and query items, including those that the program itself has set.
    func add(of request: WebRequest, headers: Set<String>) {
        for field in request.headers.fields {
            let name = field.name.lowercased()
            guard name != "cookie", WebHeaders.secretNames.contains(name) || headers.contains(name) else { continue }
            let words = field.value.split(separator: " ", maxSplits: 1)
            add(String(words.count == 2 && name.hasSuffix("authorization") ? words[1] : Substring(field.value)))
        }
        guard !queryNames.isEmpty, let question = request.url.firstIndex(of: "?") else { return }
        for item in request.url[request.url.index(after: question)...].split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1)
            if pair.count == 2, queryNames.contains(WebRequest.decoded(pair[0]).lowercased()) {
                add(String(pair[1]))
                add(WebRequest.decoded(pair[1]))
            }
        }
    }

    /// Returns a text without the secrets.
    ///
    /// Secrets of fewer than four characters stay: they occur in any text, which would be useless without them. A text that still contains a secret
    /// when quotation marks and backslashes are ignored, because it was quoted several times, is withheld as a whole.
    func remove(from text: String) -> String {
        let values = known.withLock { $0.values }
        var result = text
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) where value.utf8.count >= 4 && result.contains(value) {
            result = result.replacing(value, with: WebRequest.removed)
        }
        if result.utf8.contains(UInt8(ascii: "%")) {
            // Some services mix upper-case and lower-case digits.
            let capital = SecretForms.withCapitalEscapes(result)
            let occurring = values.filter { $0.utf8.count >= 4 && $0.utf8.contains(UInt8(ascii: "%")) && capital.contains($0) }
            if !occurring.isEmpty {
                result = occurring.sorted { $0.utf8.count > $1.utf8.count }.reduce(capital) { $0.replacing($1, with: WebRequest.removed) }
            }
        }
        guard result.utf8.contains(UInt8(ascii: "\\")) else { return result }
        let loose = Self.withoutQuotes(result)
        for value in values where value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) {
            let looseValue = Self.withoutQuotes(value)
            if looseValue.utf8.count >= 4, loose.contains(looseValue) { return WebRequest.removed }
        }
        return result
    }

    private static func withoutQuotes(_ text: String) -> String { text.replacing("\\", with: "").replacing("\"", with: "") }

    /// Returns whether a text contains one of the secrets.
    func occur(in text: String) -> Bool { known.withLock { $0.values }.contains { $0.utf8.count >= 4 && text.contains($0) } }

    /// Returns an address without secrets.
    func remove(fromURL url: String) -> String { remove(from: WebRequest.withoutSecrets(url, names: queryNames)) }

    /// Returns the method and the address of a request, without secrets.
    func summary(_ request: WebRequest) -> String { "\(request.method.rawValue) \(remove(fromURL: request.url))" }
}

/// The encoding of forms, `name=value&name=value`.
enum FormEncoding {
    private static let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// Returns a text with all characters percent-encoded except letters, digits and `-._~`.
    static func encode(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }

    /// Returns the body of a form.
    static func body(_ items: [(name: String, value: String)]) -> [UInt8] {
        Array(items.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&").utf8)
    }
}

extension WebRequest {
    /// Returns whether the values of a header are secret in most services.
    package static func isSecret(header name: String) -> Bool { WebHeaders.secretNames.contains(name.lowercased()) }

    /// Returns whether the values of a query item are secret in most services.
    package static func isSecret(queryItem name: String) -> Bool { secretQueryNames.contains(name.lowercased()) }
}
