import RemoteStore
import WebTransport

@testable import WebBackend

/// Descriptions as people write them, and the same in Swift.
enum DescriptionExamples {
    /// A service of bands and albums with most of the short forms.
    static let bands = """
        {
          "$schema": "service.schema.json",
          "address": "https://api.example.com/v1",
          "style": {
            "like": "plain",
            "names": "snakeCase",
            "version": "tag:updated_at",
            "references": "object:id",
            "envelope": "results",
            "filters": {"equal": "{name}={value}", "<": "{name}_lt={value}", "isIn": "{name}={values}", "identifier": "id"},
            "sorting": "ordering",
            "paging": {"page": "page", "size": "per_page", "of": 50, "next": "link:next", "total": "body:meta.total"},
            "saving": {"update": "PUT {path}/{SELF}", "delete": "none", "precondition": "ifMatch", "constants": {"kind": "{type}"}}
          },
          "headers": {"X-Client": "example", "X-Version": 2},
          "resources": [
            "Label",
            {
              "entity": "Band", "path": "bands", "identity": "id", "identifier": "integer", "readOnly": true,
              "calls": ["list", "one", {"name": "named", "path": "search", "parameters": {"name": "q"}, "freshness": 60}]
            },
            {
              "entity": "Album",
              "properties": {
                "released": "release_date",
                "length": {"path": "duration.ms", "as": {"scaled": 0.001}, "readOnly": true},
                "day": {"as": "date:day"},
                "state": {"as": {"enumeration": {"1": "open", "2": "closed"}}, "query": "status"}
              },
              "ignored": ["rating"],
              "calls": [
                {"list": "bands/{band}/albums", "filters": ["title"]}, {"one": "albums/{SELF}"},
                {"name": "recent", "path": "recent", "paging": {"of": 10}, "sorting": [], "parameters": [
                  {"for": ["year", "since"], "greaterThanOrEqual": "min_year={value}", "required": true, "exact": false}
                ]}
              ],
              "saving": {"create": "POST bands/{band}/albums"}
            }
          ]
        }
        """

    /// The same in Swift.
    static var bandsInSwift: WebService {
        var style = ServiceStyle.plain
        style.names = .snakeCase
        style.version = .tag("updated_at")
        style.references = .object(id: "id")
        style.envelope = Envelope(items: "results")
        style.filters = FilterStyle(
            .parameters, [.equal: "{name}={value}", .lessThan: "{name}_lt={value}", .isIn: "{name}={values}"], identifier: "id")
        style.sorting = SortStyle("ordering")
        style.paging = .pages("page", size: "per_page", of: 50, next: .link("next"), total: .body("meta.total"))
        let saving = SavingStyle(
            update: .init(.put, "{path}/{SELF}"), delete: nil, precondition: .ifMatch, constants: ["kind": "\"{type}\""])
        style.saving = saving
        var albumSaving = saving
        albumSaving.create = .init(.post, "bands/{band}/albums")
        var recentPaging = style.paging
        recentPaging.size = 10
        return WebService(
            "https://api.example.com/v1", style: style, headers: ["X-Client": "example", "X-Version": "2"],
            resources: [
                WebResource("Label"),
                WebResource(
                    "Band", path: "bands", identity: ["id"], identifier: .integer,
                    calls: [.list(), .one, WebCall("named", path: "search", parameters: [.init("name", named: "q")], freshness: 60)],
                    isReadOnly: true),
                WebResource(
                    "Album",
                    properties: [
                        "released": "release_date", "length": .at("duration.ms", .scaled(by: 0.001), isReadOnly: true),
                        "day": PropertyMapping(.date(.day)),
                        "state": PropertyMapping(.enumeration(["1": "open", "2": "closed"]), queryName: "status"),
                    ], ignored: ["rating"],
                    calls: [
                        .list("bands/{band}/albums", filters: ["title"]), .one("albums/{SELF}"),
                        WebCall(
                            "recent", path: "recent",
                            parameters: [
                                WebParameter(
                                    "year", "since", templates: [.greaterThanOrEqual: "min_year={value}"], isRequired: true, isExact: false)
                            ], sorting: [], paging: recentPaging),
                    ], saving: albumSaving),
            ])
    }

    /// A service that follows a convention, with credentials and limits.
    static let kinto = """
        {
          "address": "https://kinto.example.com/v1/buckets/default/collections",
          "style": "kinto",
          "authentication": {"basic": {"user": "anna", "password": {"environment": "KINTO_PASSWORD"}}},
          "limits": {"requestSeconds": 20, "maximumBytes": 1000000, "requestsAtATime": 2, "rate": 5, "retries": 2, "redirects": {"maximum": 0}}
        }
        """

    /// Every kind of authentication, with everything that it may have.
    static let authentications = [
        #""none""#, #"{"bearer": {"environment": "TOKEN"}}"#, #"{"bearer": {"file": "/run/secrets/token"}}"#,
        #"{"basic": {"user": "anna", "password": {"environment": "PASSWORD"}}}"#,
        #"{"header": {"name": "X-Api-Key", "value": {"environment": "KEY"}, "prefix": "Token "}}"#,
        #"{"query": {"name": "api_key", "value": {"file": "key"}}}"#,
        #"""
        {"oauth2": {"tokenURL": "https://login.example.com", "clientID": "me", "clientSecret": {"environment": "SECRET"},
         "grant": {"refreshToken": {"file": "refresh"}}, "clientPlace": "body", "scopes": ["read"], "parameters": {"audience": "a"}}}
        """#, #"{"oauth2": {"tokenURL": "https://login.example.com", "clientID": "me", "grant": "clientCredentials"}}"#,
        #"{"csrf": {"url": "https://api.example.com/login", "source": "cookie:csrftoken", "header": "X-CSRF", "sendsReferer": false}}"#,
        #"""
        {"session": {"url": "https://api.example.com/login", "method": "PUT", "fields": {"user": "anna"},
         "secretFields": {"password": {"environment": "PASSWORD"}}, "encoding": "json", "cookie": "sid",
         "csrf": {"url": "https://api.example.com", "source": {"json": ["data", "token"]}}, "expiredStatuses": [401, 403]}}
        """#, #"{"all": [{"bearer": {"environment": "TOKEN"}}, {"csrf": {"url": "https://a.example.com", "source": "header:X"}}]}"#,
    ]

    /// Returns a description with an authentication.
    static func description(authentication: String) -> String {
        "{\"address\": \"https://api.example.com\", \"authentication\": \(authentication)}"
    }

    /// All whole descriptions.
    static var all: [String] { [bands, kinto] + authentications.map(description) }
}
