extension WebHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Headers whose values are secret, in lower case.
    static let secretNames: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token",
        "x-csrf-token", "x-csrftoken", "x-xsrf-token", "x-amz-security-token", "x-session-token", "x-session-id", "x-signature",
        "signature",
    ]

    /// The headers, with secret values replaced: `[Accept: text/plain, Authorization: REMOVED]`.
    public var description: String { "[\(fields.map(\.description).joined(separator: ", "))]" }

    /// The headers, with secret values replaced.
    public var debugDescription: String { description }

    /// The headers, with secret values replaced.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields.map(\.description), displayStyle: .collection) }
}

extension WebHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The header, with its value replaced if that is a credential: `Authorization: REMOVED`.
    public var description: String {
        "\(name): \(WebHeaders.secretNames.contains(name.lowercased()) ? WebRequest.removed : value)"
    }

    /// The header, with its value replaced if that is a credential.
    public var debugDescription: String { description }

    /// The header, with its value replaced if that is a credential.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

extension WebRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The request on one line, without credentials: `GET https://api.example.com/albums [Accept: text/plain] [Album.list]`.
    public var description: String {
        "\(summary) \(headers)" + (body.map { " \($0.count) bytes" } ?? "") + (label.isEmpty ? "" : " [\(label)]")
    }

    /// The request on one line, without credentials.
    public var debugDescription: String { description }

    /// The request on one line, without credentials.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}
