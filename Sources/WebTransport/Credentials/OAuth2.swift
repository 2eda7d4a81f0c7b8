internal import Foundation

/// Tokens of OAuth 2 (RFC 6749), which a client fetches from another address and renews.
///
/// Simultaneous requests share one token. It is renewed shortly before it expires. If the service no longer accepts it (the status 401), it is renewed,
/// and the request is sent again.
public struct OAuth2: Sendable, Codable {
    /// The grant that the client exchanges for a token.
    public enum Grant: Sendable, Codable {
        /// The client's own name and secret.
        case clientCredentials
        /// A refresh token that a user has granted. If the service issues a new one with each token, the new one is used the next time.
        case refreshToken(Credential)
    }

    /// The place of the client's name and secret in the request for a token.
    public enum ClientPlace: String, Sendable, Codable {
        /// In the header `Authorization`.
        case header
        /// In the body.
        case body
    }

    /// The address that issues tokens.
    public var tokenURL: String
    /// The grant that the client exchanges for a token.
    public var grant: Grant
    /// The client's name.
    public var clientID: String
    /// The client's secret; nil if it has none.
    public var clientSecret: Credential?
    /// The place of the client's name and secret.
    public var clientPlace: ClientPlace
    /// The permissions that the token should have.
    public var scopes: [String]
    /// Further parameters of the request for a token: `["audience": "https://api.example.com"]`.
    public var parameters: [String: String]
    /// Receives each new refresh token, to store it for the next launch of the program. It is neither encoded nor decoded.
    public var keepsRefreshToken: (@Sendable (String) async -> Void)?

    private enum CodingKeys: String, CodingKey {
        case tokenURL
        case grant
        case clientID
        case clientSecret
        case clientPlace
        case scopes
        case parameters
    }

    /// Creates a description of tokens.
    public init(
        tokenURL: String, grant: Grant = .clientCredentials, clientID: String, clientSecret: Credential? = nil,
        clientPlace: ClientPlace = .header, scopes: [String] = [], parameters: [String: String] = [:],
        keepsRefreshToken: (@Sendable (String) async -> Void)? = nil
    ) {
        self.tokenURL = tokenURL
        self.grant = grant
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.clientPlace = clientPlace
        self.scopes = scopes
        self.parameters = parameters
        self.keepsRefreshToken = keepsRefreshToken
    }

    /// Decodes a description. The place of the client, the scopes and the parameters are optional.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            tokenURL: try container.decode(String.self, forKey: .tokenURL),
            grant: try container.decodeIfPresent(Grant.self, forKey: .grant) ?? .clientCredentials,
            clientID: try container.decode(String.self, forKey: .clientID),
            clientSecret: try container.decodeIfPresent(Credential.self, forKey: .clientSecret),
            clientPlace: try container.decodeIfPresent(ClientPlace.self, forKey: .clientPlace) ?? .header,
            scopes: try container.decodeIfPresent([String].self, forKey: .scopes) ?? [],
            parameters: try container.decodeIfPresent([String: String].self, forKey: .parameters) ?? [:])
    }
}

extension OAuth2.Grant {
    private enum CodingKeys: String, CodingKey {
        case refreshToken
    }

    /// Decodes `"clientCredentials"` or `{"refreshToken": {"environment": …}}`.
    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self) {
            guard name == "clientCredentials" else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "A grant is \"clientCredentials\" or {\"refreshToken\": …}."))
            }
            self = .clientCredentials
        } else {
            self = .refreshToken(try decoder.container(keyedBy: CodingKeys.self).decode(Credential.self, forKey: .refreshToken))
        }
    }

    /// Encodes `"clientCredentials"` or `{"refreshToken": {"environment": …}}`.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .clientCredentials:
            var container = encoder.singleValueContainer()
            try container.encode("clientCredentials")
        case .refreshToken(let token):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(token, forKey: .refreshToken)
        }
    }
}
