/// The encoded form of an authentication names its kind: `"none"`, `{"bearer": {"environment": "TOKEN"}}`, `{"basic": {"user": "anna", "password":
/// {"file": "password"}}}`, `{"header": {"name": "X-Api-Key", "value": …, "prefix": ""}}`, `{"query": {"name": "api_key", "value": …}}`, `{"oauth2":
/// {…}}`, `{"csrf": {…}}`, `{"session": {…}}`, `{"all": […]}`.
///
/// It contains no secrets. A signing closure cannot be encoded.
extension Authentication: Codable {
    private enum CodingKeys: String, CodingKey {
        case bearer
        case basic
        case header
        case query
        case oauth2
        case csrf
        case session
        case all
    }

    private struct Basic: Codable {
        var user: String
        var password: Credential
    }

    private struct Named: Codable {
        var name: String
        var value: Credential
        var prefix: String?
    }

    /// Decodes an authentication.
    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self), name == "none" {
            self = .none
            return
        }
        guard let container = try? decoder.container(keyedBy: CodingKeys.self), container.allKeys.count == 1,
            let kind = container.allKeys.first
        else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription:
                        "An authentication is \"none\", or an object with one of bearer, basic, header, query, oauth2, csrf, session and all."
                ))
        }
        switch kind {
        case .bearer: self = .bearer(try container.decode(Credential.self, forKey: kind))
        case .basic:
            let basic = try container.decode(Basic.self, forKey: kind)
            self = .basic(user: basic.user, password: basic.password)
        case .header:
            let header = try container.decode(Named.self, forKey: kind)
            self = .header(name: header.name, value: header.value, prefix: header.prefix ?? "")
        case .query:
            let item = try container.decode(Named.self, forKey: kind)
            self = .query(name: item.name, value: item.value)
        case .oauth2: self = .oauth2(try container.decode(OAuth2.self, forKey: kind))
        case .csrf: self = .csrf(try container.decode(CSRFToken.self, forKey: kind))
        case .session: self = .session(try container.decode(LoginSession.self, forKey: kind))
        case .all: self = .all(try container.decode([Authentication].self, forKey: kind))
        }
    }

    /// Encodes an authentication. One with a literal secret or with a closure cannot be encoded.
    public func encode(to encoder: any Encoder) throws {
        if case .none = self {
            var container = encoder.singleValueContainer()
            return try container.encode("none")
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .none: break
        case .bearer(let token): try container.encode(token, forKey: .bearer)
        case .basic(let user, let password): try container.encode(Basic(user: user, password: password), forKey: .basic)
        case .header(let name, let value, let prefix):
            try container.encode(Named(name: name, value: value, prefix: prefix.isEmpty ? nil : prefix), forKey: .header)
        case .query(let name, let value): try container.encode(Named(name: name, value: value), forKey: .query)
        case .oauth2(let description): try container.encode(description, forKey: .oauth2)
        case .csrf(let description): try container.encode(description, forKey: .csrf)
        case .session(let description): try container.encode(description, forKey: .session)
        case .all(let all): try container.encode(all, forKey: .all)
        case .signing:
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "A closure that signs requests cannot be encoded."))
        }
    }
}
