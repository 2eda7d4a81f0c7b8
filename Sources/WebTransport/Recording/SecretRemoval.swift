internal import Foundation

/// The rules for removing secrets from a cassette.
///
/// The values of headers, query items and fields of bodies with these names become `REMOVED`, and so does each secret that a ``WebClient`` above the
/// transport has used, wherever it occurs. The same values are removed from requests before they are compared with those of a cassette.
public struct SecretRemoval: Hashable, Sendable {
    /// Further headers besides `Authorization`, `Cookie`, `Set-Cookie` and similar ones.
    public var headers: Set<String>
    /// Further query items besides `token`, `api_key` and similar ones.
    public var queryItems: Set<String>
    /// Further fields of bodies, which are JSON or forms, besides `access_token`, `password` and similar ones.
    public var fields: Set<String>
    /// Query items and fields that are kept, regardless of their names.
    public var kept: Set<String>

    /// Creates rules.
    public init(headers: Set<String> = [], queryItems: Set<String> = [], fields: Set<String> = [], kept: Set<String> = []) {
        self.headers = Self.lower(headers)
        self.queryItems = Self.lower(queryItems)
        self.fields = Self.lower(fields)
        self.kept = Self.lower(kept)
    }

    private static func lower(_ names: Set<String>) -> Set<String> { Set(names.map { $0.lowercased() }) }

    /// Fields of bodies whose values are secret.
    private static let usualFields: Set<String> = [
        "access_token", "accesstoken", "api_key", "apikey", "assertion", "auth_token", "client_assertion", "client_secret", "clientsecret",
        "csrf_token", "csrftoken", "csrfmiddlewaretoken", "device_code", "id_token", "idtoken", "jwt", "passwd", "password", "private_key",
        "refresh_token", "refreshtoken", "secret", "session_token", "sessiontoken", "token",
    ]

    /// Returns a request without secrets.
    func request(_ request: WebRequest, literally: (String) -> String) -> WebRequest {
        var result = request
        result.url = literally(WebRequest.withoutSecrets(request.url, names: queryItems, except: kept))
        result.headers = headers(request.headers, literally: literally)
        result.body = request.body.map { body($0, literally: literally) }
        return result
    }

    /// Returns an answer without secrets.
    func response(_ response: WebResponse, literally: (String) -> String) -> WebResponse {
        WebResponse(
            status: response.status, headers: headers(response.headers, literally: literally),
            body: body(response.body, literally: literally))
    }

    private func headers(_ headers: WebHeaders, literally: (String) -> String) -> WebHeaders {
        WebHeaders(
            headers.fields.map { field in
                let name = field.name.lowercased()
                guard WebHeaders.secretNames.contains(name) || self.headers.contains(name) else {
                    return WebHeaders.Field(field.name, literally(field.value))
                }
                // The name of a cookie is not secret, and a session needs it.
                guard name == "set-cookie", let equals = field.value.firstIndex(of: "=") else {
                    return WebHeaders.Field(field.name, WebRequest.removed)
                }
                let end = field.value[equals...].firstIndex(of: ";") ?? field.value.endIndex
                return WebHeaders.Field(field.name, literally(field.value[...equals] + WebRequest.removed + field.value[end...]))
            })
    }

    func body(_ body: [UInt8], literally: (String) -> String) -> [UInt8] {
        guard !body.isEmpty else { return body }
        // Bytes that are not text are searched as if they were, because most secrets are ASCII.
        guard let text = String(validating: body, as: UTF8.self) else {
            let characters = String(String.UnicodeScalarView(body.map { Unicode.Scalar($0) }))
            let result = literally(characters)
            return result == characters ? body : result.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        }
        var bytes = body
        switch body.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): bytes = withoutFields(json: body)
        default:
            if text.utf8.count < 65_536, text.contains("="), !text.contains(where: \.isWhitespace) { bytes = withoutFields(form: text) }
        }
        return Array(literally(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Returns the values of secret fields in a body that is JSON or a form.
    func secrets(in body: [UInt8]) -> [String] {
        var found: [String] = []
        func collect(_ value: Any, isSecret: Bool) {
            switch value {
            case let object as [String: Any]: for (name, value) in object { collect(value, isSecret: isSecret || self.isSecret(name)) }
            case let array as [Any]: for value in array { collect(value, isSecret: isSecret) }
            case let text as String: if isSecret { found.append(text) }
            case let number as NSNumber: if isSecret { found.append("\(number)") }
            default: break
            }
        }
        if let value = try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) {
            collect(value, isSecret: false)
        } else if let text = String(validating: body, as: UTF8.self), text.contains("="), !text.contains(where: \.isWhitespace) {
            for item in text.split(separator: "&") {
                guard let equals = item.firstIndex(of: "="), isSecret(WebRequest.decoded(item[..<equals])) else { continue }
                let value = item[item.index(after: equals)...]
                found += [String(value), WebRequest.decoded(value), WebRequest.decoded(Substring(value.replacing("+", with: "%20")))]
            }
        }
        return found
    }

    private func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return (Self.usualFields.contains(name) || fields.contains(name)) && !kept.contains(name)
    }

    private func withoutFields(form: String) -> [UInt8] {
        let items = form.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "="), isSecret(WebRequest.decoded(item[..<equals])) else { return String(item) }
            return item[...equals] + WebRequest.removed
        }
        return Array(items.joined(separator: "&").utf8)
    }

    /// Returns JSON with the strings in secret fields replaced. All other bytes stay the same.
    private func withoutFields(json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        let quote = UInt8(ascii: "\"")
        var index = 0
        /// Whether the next string is the value of a secret field.
        var isValueOfSecret = false
        while index < json.count {
            let byte = json[index]
            guard byte == quote else {
                result.append(byte)
                if isValueOfSecret, byte > 0x20, byte != UInt8(ascii: ":") { isValueOfSecret = false }
                index += 1
                continue
            }
            var end = index + 1
            while end < json.count, json[end] != quote { end += json[end] == UInt8(ascii: "\\") ? 2 : 1 }
            end = min(end, json.count)
            let content = json[(index + 1)..<max(index + 1, end)]
            result.append(quote)
            result += isValueOfSecret ? Array(WebRequest.removed.utf8)[...] : content
            if end < json.count { result.append(quote) }
            index = end + 1
            var next = index
            while next < json.count, json[next] <= 0x20 { next += 1 }
            let isName = next < json.count && json[next] == UInt8(ascii: ":")
            isValueOfSecret = isName && isSecret(String(decoding: content, as: UTF8.self))
        }
        return result
    }
}
