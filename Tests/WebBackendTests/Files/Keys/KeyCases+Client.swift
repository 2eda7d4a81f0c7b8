import CoreData
import Foundation
import RemoteStore
import WebTransport

extension KeyCase {
    // MARK: The client

    static func authentication(_ keys: String..., text: String, _ values: String...) -> KeyCase {
        KeyCase(
            keys: keys, text: #"{"address": "\#(base)", "authentication": {\#(text)}}"#, values: values, scenario: Scenario(kind: .client))
    }
    static let secret = #"{"environment": "PATH"}"#
    static let other = #"{"environment": "HOME"}"#

    static let clients: [KeyCase] = [
        client(
            "file.authentication", text: #""authentication": $"#, #""none""#, #"{"bearer": {"environment": "PATH"}}"#,
            #"{"all": [{"basic": {"user": "u", "password": {"environment": "HOME"}}}]}"#,
            #"{"basic": {"user": "u", "password": {"environment": "PATH"}}}"#,
            #"{"header": {"name": "X", "value": {"environment": "PATH"}}}"#,
            #"{"query": {"name": "k", "value": {"environment": "PATH"}}}"#,
            #"{"oauth2": {"tokenURL": "https://api.example.com/v1/token", "clientID": "c"}}"#,
            #"{"csrf": {"url": "https://api.example.com/v1/token", "source": "cookie:c"}}"#,
            #"{"session": {"url": "https://api.example.com/v1/token"}}"#),
        authentication(
            "authentication.bearer", "credential.environment", "credential.file", text: #""bearer": $"#, secret, other, #"{"file": "/a"}"#),
        authentication("authentication.all", text: #""all": $"#, "[]", #"[{"bearer": {"environment": "PATH"}}]"#),
        authentication("authentication.basic", "basic.user", text: #""basic": {"password": \#(secret), "user": $}"#, #""a""#, #""b""#),
        authentication("basic.password", text: #""basic": {"user": "a", "password": $}"#, secret, other),
        authentication(
            "authentication.header", "secretHeader.name", text: #""header": {"value": \#(secret), "name": $}"#, #""X""#, #""Y""#),
        authentication("secretHeader.value", text: #""header": {"name": "X", "value": $}"#, secret, other),
        authentication("secretHeader.prefix", text: #""header": {"name": "X", "value": \#(secret), "prefix": $}"#, #""""#, #""Token ""#),
        authentication(
            "authentication.query", "secretQueryItem.name", text: #""query": {"value": \#(secret), "name": $}"#, #""k""#, #""l""#),
        authentication("secretQueryItem.value", text: #""query": {"name": "k", "value": $}"#, secret, other),
        authentication(
            "authentication.oauth2", "oauth2.tokenURL", text: oauth(#""clientID": "c", "tokenURL": $"#),
            #""https://api.example.com/v1/token""#,
            #""https://api.example.com/v1/token/two""#),
        authentication("oauth2.clientID", text: oauth(#""tokenURL": "https://api.example.com/v1/token", "clientID": $"#), #""c""#, #""d""#),
        authentication("oauth2.clientSecret", text: granted(#""clientSecret": $"#), secret, other),
        authentication(
            "oauth2.grant", text: granted(#""grant": $"#), #""clientCredentials""#, #"{"refreshToken": {"environment": "PATH"}}"#),
        authentication(
            "oauth2.clientPlace", text: granted(#""clientSecret": {"environment": "PATH"}, "clientPlace": $"#), #""header""#, #""body""#),
        authentication("oauth2.scopes", text: granted(#""scopes": $"#), "[]", #"["read"]"#),
        authentication("oauth2.parameters", text: granted(#""parameters": $"#), "{}", #"{"audience": "x"}"#),
        authentication(
            "authentication.csrf", "csrf.url", text: #""csrf": {"source": "cookie:c", "url": $}"#, #""https://api.example.com/v1/token""#,
            #""https://api.example.com/v1/token/two""#),
        authentication(
            "csrf.source", text: #""csrf": {"url": "https://api.example.com/v1/token", "source": $}"#, #""cookie:c""#, #""header:h""#,
            #"{"json": ["key"]}"#),
        authentication("csrf.header", text: token(#""header": $"#), #""X-A""#, #""X-B""#),
        authentication("csrf.fetchHeaders", text: token(#""fetchHeaders": $"#), "{}", #"{"X-F": "Fetch"}"#),
        authentication("csrf.sendsReferer", text: token(#""sendsReferer": $"#), "true", "false"),
        authentication(
            "authentication.session", "session.url", text: #""session": {"url": $}"#, #""https://api.example.com/v1/token""#,
            #""https://api.example.com/v1/token/two""#),
        authentication("session.method", text: login(#""method": $"#), #""POST""#, #""PUT""#),
        authentication("session.fields", text: login(#""fields": $"#), "{}", #"{"user": "u"}"#),
        authentication("session.secretFields", text: login(#""secretFields": $"#), "{}", #"{"pass": {"environment": "PATH"}}"#),
        authentication("session.encoding", text: login(#""encoding": $"#), #""form""#, #""json""#),
        authentication("session.cookie", text: login(#""cookie": $"#), "null", #""c""#),
        authentication(
            "session.csrf", text: login(#""csrf": $"#), #"{"url": "https://api.example.com/v1/token", "source": "cookie:c"}"#,
            #"{"url": "https://api.example.com/v1/token", "source": "cookie:d"}"#),
        authentication("session.expiredStatuses", text: login(#""expiredStatuses": $"#), "[401]", "[401, 419]"),
        client(
            "file.origins", text: #""authentication": {"bearer": {"environment": "PATH"}}, "origins": $"#, "[]", #"["https://b.example"]"#),
        client("file.keepsCookies", text: #""keepsCookies": $"#, "true", "false"),
        client("file.secretHeaders", text: #""secretHeaders": $"#, "[]", #"["X-A"]"#),
        client("file.secretQueryItems", text: #""secretQueryItems": $"#, "[]", #"["k"]"#),
        client("file.limits", text: #""limits": $"#, "{}", #"{"requestSeconds": 3}"#),
        limit("limits.connectSeconds", #""connectSeconds": $"#, "1", "2"),
        limit("limits.requestSeconds", #""requestSeconds": $"#, "1", "2"), limit("limits.maximumBytes", #""maximumBytes": $"#, "1", "2"),
        limit("limits.requestsAtATime", #""requestsAtATime": $"#, "null", "2"), limit("limits.rate", #""rate": $"#, "1", "2"),
        limit("limits.retries", #""retries": $"#, "1", "2"), limit("limits.redirects", #""redirects": $"#, "{}", #"{"maximum": 1}"#),
        limit("rate.requests", #""rate": {"requests": $}"#, "1", "2"),
        limit("rate.seconds", #""rate": {"requests": 2, "seconds": $}"#, "3", "2"),
        limit("rate.obeysHeaders", #""rate": {"obeysHeaders": $}"#, "true", "false"),
        limit("retries.tries", #""retries": {"tries": $}"#, "1", "2"),
        limit("retries.firstDelay", #""retries": {"firstDelay": $}"#, "1", "2"),
        limit("retries.maximumDelay", #""retries": {"maximumDelay": $}"#, "1", "2"),
        limit("retries.totalSeconds", #""retries": {"totalSeconds": $}"#, "1", "2"),
        limit("retries.statuses", #""retries": {"statuses": $}"#, "[500]", "[502]"),
        limit("redirects.maximum", #""redirects": {"maximum": $}"#, "1", "2"),
        limit("redirects.allowsInsecure", #""redirects": {"allowsInsecure": $}"#, "true", "false"),
        limit("redirects.sendsBodiesElsewhere", #""redirects": {"sendsBodiesElsewhere": $}"#, "true", "false"),
    ]
    static func oauth(_ text: String) -> String { #""oauth2": {\#(text)}"# }
    static func granted(_ text: String) -> String { oauth(#""tokenURL": "https://api.example.com/v1/token", "clientID": "c", \#(text)"#) }
    static func token(_ text: String) -> String { #""csrf": {"url": "https://api.example.com/v1/token", "source": "cookie:c", \#(text)}"# }
    static func login(_ text: String) -> String { #""session": {"url": "https://api.example.com/v1/token", \#(text)}"# }
    static func limit(_ key: String, _ text: String, _ values: String...) -> KeyCase {
        KeyCase(keys: [key], text: #"{"address": "\#(base)", "limits": {\#(text)}}"#, values: values, scenario: Scenario(kind: .client))
    }
}
