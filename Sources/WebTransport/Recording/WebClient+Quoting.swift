internal import Foundation

/// Removes secrets from parts of answers that errors quote, because services may repeat parts of requests.
extension WebClient {
    /// Returns a text without the secrets that the client has used, and without those of a request: the values of its headers, query items and body
    /// fields that are secret by their names, in the forms in which services repeat them.
    package func removingSecrets(from text: String, of request: WebRequest) -> String {
        let own = Secrets(queryNames: secrets.queryNames.union(WebRequest.secretQueryNames))
        own.add(of: request, headers: secretHeaders)
        for field in request.headers.fields {
            switch field.name.lowercased() {
            case "cookie":
                for cookie in field.value.split(separator: ";") {
                    if let equals = cookie.firstIndex(of: "=") { own.add(String(cookie[cookie.index(after: equals)...])) }
                }
            case "authorization", "proxy-authorization":
                // A name and a password.
                let words = field.value.split(separator: " ")
                guard words.count == 2, words[0].lowercased() == "basic", let data = Data(base64Encoded: String(words[1])) else { continue }
                let pair = String(decoding: data, as: UTF8.self)
                own.add(pair)
                if let colon = pair.firstIndex(of: ":") { own.add(String(pair[pair.index(after: colon)...])) }
            default: continue
            }
        }
        if let body = request.body { for secret in removal.secrets(in: body) { own.add(secret) } }
        return secrets.remove(from: own.remove(from: text))
    }

    /// Returns the beginning of an answer's body as text, without secrets, and without the values of fields that are secret by their names, which the
    /// service itself may have issued. For a body that is not text, it returns the size.
    package func excerpt(of body: [UInt8], answering request: WebRequest, maximumBytes: Int = 2048) -> String {
        guard String(validating: body, as: UTF8.self) != nil else { return body.isEmpty ? "" : "\(body.count) bytes that are no text" }
        let clean = removal.body(body) { removingSecrets(from: $0, of: request) }
        let text = String(decoding: clean, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count > maximumBytes else { return text }
        var (end, count) = (text.startIndex, 0)
        while end < text.endIndex, count + text[end].utf8.count <= maximumBytes - 3 {
            count += text[end].utf8.count
            end = text.index(after: end)
        }
        return text[..<end] + "…"
    }

    private var removal: SecretRemoval { SecretRemoval(headers: secretHeaders, queryItems: secrets.queryNames, fields: secrets.queryNames) }
}
