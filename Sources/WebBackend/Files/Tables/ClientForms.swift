internal import Foundation
internal import JSONReading
internal import WebTransport

extension FileForms {
    /// A secret, given by the environment variable or the file that has it. The secret itself is never in a file.
    static let credential = FileForm<Credential>(
        expected: "{environment: NAME} or {file: PATH}", accepts: { _ in true },
        read: { value, context, _ in
            guard value.object != nil else {
                throw context.problem(
                    "A secret never stands in a description itself.",
                    next: "Write {environment: NAME} or {file: PATH}, with the name of the environment variable or the file that has it.")
            }
            return try credentialPlace.read(value, context, nil)
        }, write: { try credentialPlace.write($0, $1, $2) }, schema: { credentialPlace.schema(&$0) }
    ).named("credential")

    private static let credentialPlace = FileForm<Credential>.choice(
        "place of secrets",
        [
            .key("environment", variable, "The name of the environment variable that has the secret.", make: { .environment($0) }) {
                encoded($0, "environment")
            },
            .key("file", text, "The path of the file that has the secret.", make: { .file($0) }) { encoded($0, "file") },
        ])

    /// The name of an environment variable. Text of another form may be the secret itself.
    private static let variable = plain(
        "the name of an environment variable (letters, digits and _)", ["type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"],
        { value in
            value.string.flatMap { name in
                let isName = name.utf8.allSatisfy { (48...57).contains($0) || $0 == 95 || (97...122).contains($0 | 0x20) }
                return isName && name.utf8.first.map { !(48...57).contains($0) } == true ? name : nil
            }
        }, { .string($0) }, accepts: { $0.string != nil })

    /// Returns the location of a secret, as it is encoded; nil for another kind of location, and for a secret itself.
    private static func encoded(_ credential: Credential, _ key: String) -> String? {
        let data = try? JSONEncoder().encode(credential)
        return data.flatMap { try? JSONValue(parsing: Array($0)) }?[key]?.string
    }

    // MARK: Authentication

    private struct Basic: Sendable {
        var user = ""
        var password = Credential.environment("")
    }

    private static let basic = FileForm<Basic>.object(
        "basic", Basic(),
        with { keys in
            keys.key("user", \.user, text, isRequired: true, "The name.")
            keys.secret("password", \.password, "The password.")
        })

    private struct Named: Sendable {
        var name = ""
        var value = Credential.environment("")
        var prefix = ""
    }

    private static let header = FileForm<Named>.object(
        "secretHeader", Named(),
        with { keys in
            keys.key("name", \.name, text, isRequired: true, "The name of the header.")
            keys.secret("value", \.value, "The value.")
            keys.key("prefix", \.prefix, text, "What the value begins with: “Token ”.")
        })

    private static let queryItem = FileForm<Named>.object(
        "secretQueryItem", Named(),
        with { keys in
            keys.key("name", \.name, text, isRequired: true, "The name of the item.")
            keys.secret("value", \.value, "The value.")
        })

    private static let grant = FileForm<OAuth2.Grant>.choice(
        "grant",
        [
            .word("clientCredentials", .clientCredentials, "The client's own name and secret.") {
                if case .clientCredentials = $0 { true } else { false }
            },
            .key("refreshToken", credential, "A refresh token, which a user has granted.", make: { .refreshToken($0) }) {
                if case .refreshToken(let token) = $0 { token } else { nil }
            },
        ])

    private static let oauth2 = FileForm<OAuth2>.object(
        "oauth2", OAuth2(tokenURL: "", clientID: ""),
        with { keys in
            keys.key("tokenURL", \.tokenURL, text, isRequired: true, "The address at which tokens are given.")
            keys.key("clientID", \.clientID, text, isRequired: true, "The client's name.")
            keys.opaque("clientSecret", credential, "The client's secret.", read: { $0.clientSecret = $1 }, write: { $0.clientSecret })
            keys.opaque("grant", grant, "What the client gives for a token: clientCredentials, {refreshToken: …}.", read: { $0.grant = $1 })
            {
                if case .clientCredentials = $0.grant { nil } else { $0.grant }
            }
            keys.key(
                "clientPlace", \.clientPlace, words("place of the client", [("header", .header), ("body", .body)]),
                "Where the client's name and secret stand.")
            keys.key("scopes", \.scopes, list(text), "What the token should allow.")
            keys.key("parameters", \.parameters, publicValues(isHeader: false), "What the service wants to know besides.")
        })

    private static let csrfSource = FileForm<CSRFToken.Source>.choice(
        "place of the token",
        [
            .key("cookie", text, "In a cookie of this name.", isText: true, make: { .cookie($0) }) {
                if case .cookie(let name) = $0 { name } else { nil }
            },
            .key("header", text, "In a header of this name.", isText: true, make: { .header($0) }) {
                if case .header(let name) = $0 { name } else { nil }
            },
            .key("json", list(text), "In the body, under these keys.", make: { .json($0) }) {
                if case .json(let keys) = $0 { keys } else { nil }
            },
        ])

    private static let csrf = FileForm<CSRFToken>.object(
        "csrf", CSRFToken(url: "", source: .json([])),
        with { keys in
            keys.key("url", \.url, text, isRequired: true, "The address that gives the token.")
            keys.key("source", \.source, csrfSource, isRequired: true, "Where the token stands in its answer: cookie:csrftoken.")
            keys.key("header", \.header, text, "The header by which requests send the token.")
            keys.key("fetchHeaders", \.fetchHeaders, publicValues(isHeader: true), "Headers of the request that fetches the token.")
            keys.key("sendsReferer", \.sendsReferer, flag, "Whether requests name the service in the header Referer.")
        })

    private static let session = FileForm<LoginSession>.object(
        "session", LoginSession(url: "", secretFields: [:]),
        with { keys in
            keys.key("url", \.url, text, isRequired: true, "The address at which the client logs in.")
            keys.key("method", \.method, method, "The method with which it does.")
            keys.key("fields", \.fields, publicValues(isHeader: false), "The fields that are no secrets.")
            keys.opaque("secretFields", map(credential), "The secret fields.", read: { $0.secretFields = $1 }) {
                $0.secretFields.isEmpty ? nil : $0.secretFields
            }
            keys.key("encoding", \.encoding, words("form of the body", [("form", .form), ("json", .json)]), "The form of the body.")
            keys.optional("cookie", \.cookie, text, "The cookie without which the client is not logged in.")
            keys.opaque("csrf", csrf, "The token that the service wants for logging in.", read: { $0.csrf = $1 }, write: { $0.csrf })
            keys.key("expiredStatuses", \.expiredStatuses, set(integer(from: 100, to: 599)), "The statuses after which it logs in again.")
        })

    /// The authentication of a client.
    static let authentication: FileForm<Authentication> = FileForm<Authentication>.choice(
        "kind of authentication",
        [
            .word("none", .none, "Not at all.") { if case .none = $0 { true } else { false } },
            .key("bearer", credential, "A token.", make: { .bearer($0) }) { if case .bearer(let token) = $0 { token } else { nil } },
            .key("basic", basic, "A name and a password.", make: { .basic(user: $0.user, password: $0.password) }) {
                if case .basic(let user, let password) = $0 { Basic(user: user, password: password) } else { nil }
            },
            .key("header", header, "A header.", make: { .header(name: $0.name, value: $0.value, prefix: $0.prefix) }) {
                if case .header(let name, let value, let prefix) = $0 { Named(name: name, value: value, prefix: prefix) } else { nil }
            },
            .key("query", queryItem, "An item of the query.", make: { .query(name: $0.name, value: $0.value) }) {
                if case .query(let name, let value) = $0 { Named(name: name, value: value) } else { nil }
            },
            .key("oauth2", oauth2, "A token that another service gives.", make: { .oauth2($0) }) {
                if case .oauth2(let tokens) = $0 { tokens } else { nil }
            },
            .key("csrf", csrf, "A token against forged requests.", make: { .csrf($0) }) {
                if case .csrf(let token) = $0 { token } else { nil }
            },
            .key("session", session, "The cookies of a session.", make: { .session($0) }) {
                if case .session(let session) = $0 { session } else { nil }
            },
            .key("all", list(.deferred("an authentication", { authentication })), "Several of these.", make: { .all($0) }) {
                if case .all(let several) = $0 { several } else { nil }
            },
        ]
    ).named("authentication")

    /// Returns the keys that a closure adds.
    static func with<Root>(_ build: (inout FileKeys<Root>) -> Void) -> FileKeys<Root> {
        var keys = FileKeys<Root>()
        build(&keys)
        return keys
    }
}

extension FileKeys {
    /// Adds a required key with a secret.
    mutating func secret(_ name: String, _ path: any WritableKeyPath<Root, Credential> & Sendable, _ summary: String) {
        keys.append(
            FileKey(
                name: name, aliases: [], summary: summary, isRequired: true,
                read: { $0[keyPath: path] = try FileForms.credential.read($1, $2, nil) },
                write: { root, _, context in try FileForms.credential.write(root[keyPath: path], context, nil) },
                schema: FileForms.credential.schema))
    }

    /// Adds a key whose values cannot be compared.
    ///
    /// - Parameter write: Returns the value; nil if it is not written.
    mutating func opaque<Value: Sendable>(
        _ name: String, _ form: FileForm<Value>, _ summary: String, read: @escaping @Sendable (inout Root, Value) -> Void,
        write: @escaping @Sendable (Root) -> Value?
    ) {
        keys.append(
            FileKey(
                name: name, aliases: [], summary: summary, isRequired: false,
                read: { read(&$0, try form.read($1, $2, nil)) },
                write: { root, _, context in try write(root).map { try form.write($0, context, nil) } }, schema: form.schema))
    }
}
