import CoreData
import Foundation
import TestSupport
import Testing

/// Who may ask the explorer.
@Suite("The explorer: who may ask", .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct SecurityTests {
    private static func served(_ arguments: [String] = []) throws -> (Folder, ServedStore) {
        let folder = try Folder()
        try Library.make(folder.store)
        return (folder, try ServedStore(folder.store, arguments))
    }

    @Test("The token moves from the address to a cookie that no script reads") func token()
        throws
    {
        let (folder, served) = try Self.served()
        let first = try HTTP.request("GET", "/?token=\(served.token)", port: served.port)
        expect(first.status, equals: 303)
        expect(first.headers["location"], equals: "/")
        let cookie = try #require(first.headers["set-cookie"])
        #expect(cookie.hasPrefix("\(served.cookie);"))
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        expect(served.token.count, equals: 64)
        #expect(try served.get("/").text.contains("<!doctype html>"))
        withExtendedLifetime(folder) {}
    }

    @Test("Without the token nothing is answered") func noToken() throws {
        let (folder, served) = try Self.served()
        let other = String(repeating: "0", count: 64)
        for path in ["/", "/api/store", "/assets/app.js", "/?token=\(other)", "/?token="] {
            let answer = try HTTP.request("GET", path, port: served.port)
            expect(answer.status, equals: 403, "\(path)")
            #expect(!answer.text.contains("Album"))
        }
        let answer = try HTTP.request("GET", "/api/store", port: served.port, headers: ["Cookie": "coredata-\(served.port)=\(other)"])
        expect(answer.status, equals: 403)
        withExtendedLifetime(folder) {}
    }

    @Test("Pages of other hosts and sites are refused, though they have the cookie")
    func foreignPages() throws {
        let (folder, served) = try Self.served(["--writable"])
        let strange: [[String: String]] = [
            ["Host": "attacker.example:\(served.port)"], ["Host": "127.0.0.1:1"], ["Host": "127.0.0.1.attacker.example:\(served.port)"],
            ["Origin": "http://attacker.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ]
        for headers in strange {
            let all = headers.merging(["Cookie": served.cookie]) { own, _ in own }
            try expect(HTTP.request("GET", "/api/store", port: served.port, headers: all).status, equals: 403, "\(headers)")
        }
        // A form cannot send JSON, and a page of another origin cannot hide where it is.
        let body = try JSONSerialization.data(withJSONObject: ["action": "create", "entity": "Artist"])
        let forms: [[String: String]] = [
            ["Origin": served.origin, "Content-Type": "text/plain"], ["Content-Type": "application/json"],
            ["Origin": served.origin], ["Origin": "http://attacker.example", "Content-Type": "application/json"],
        ]
        for headers in forms {
            let all = headers.merging(["Cookie": served.cookie]) { own, _ in own }
            try expect(HTTP.request("POST", "/api/edit", port: served.port, headers: all, body: body).status, equals: 403, "\(headers)")
        }
        let state = try served.get("/api/store").json["state"] as? [String: Any]
        expect(state?["inserted"] as? Int, equals: 0)
        withExtendedLifetime(folder) {}
    }

    @Test("Every answer forbids foreign scripts, frames and guessed types") func headers()
        throws
    {
        let (folder, served) = try Self.served()
        let refused = try HTTP.request("GET", "/", port: served.port)
        for answer in [try served.get("/"), try served.get("/api/store"), try served.get("/nowhere"), refused] {
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(
                policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            expect(answer.headers["x-content-type-options"], equals: "nosniff")
            expect(answer.headers["cache-control"], equals: "no-store")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("Other addresses of this computer do not reach it") func addresses() throws {
        let (folder, served) = try Self.served()
        #expect(throws: HTTP.Failure.self) { try HTTP.request("GET", "/", host: "127.0.0.2", port: served.port) }
        withExtendedLifetime(folder) {}
    }

    @Test("Without --writable nothing is changed") func readOnly() throws {
        let folder = try Folder()
        try Library.make(folder.store)
        let before = try folder.contents()
        let served = try ServedStore(folder.store)
        for (path, parameters) in [
            ("/api/store", [:]), ("/api/rows", ["entity": "Album"]), ("/api/object", ["id": "Album/p1"]), ("/api/history", [:]),
        ] as [(String, KeyValuePairs<String, String>)] {
            try expect(served.get(path, parameters).status, equals: 200, "\(path)")
        }
        for action in ["create", "delete", "set", "save", "undo"] {
            let answer = try served.edit(["action": action, "id": "Album/p1", "entity": "Album", "name": "title", "value": "x"])
            expect(answer.status, equals: 403, "\(action)")
            expect((try answer.error["message"] as? String)?.contains("--writable"), equals: true)
        }
        // A reader of a log has files beside it, until it ends.
        served.end()
        try expect(folder.contents(), equals: before)
    }

    /// Texts and bytes that a browser might run.
    @Test("Bytes of a store are shown as pictures only if they are some") func pictures() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        let markup = Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8)
        let page = Data("<!doctype html><script>alert(1)</script>".utf8)
        try context.performAndWait {
            for (number, data) in [markup, page, Library.picture, Library.picture + page].enumerated() {
                Library.add("Album", ["title": "</script><script>alert(\(number))</script>", "year": number, "cover": data], to: context)
                try context.save()
            }
        }
        try Library.close(context)
        let served = try ServedStore(folder.store)
        let rows = try #require(try served.get("/api/rows", ["entity": "Album", "sort": "year"]).json["rows"] as? [[String: Any]])
        var types: [String] = []
        for row in rows {
            let answer = try served.get("/value", ["id": row["id"] as? String ?? "", "name": "cover"])
            let type = try #require(answer.headers["content-type"])
            types.append(type)
            expect(answer.headers["x-content-type-options"], equals: "nosniff")
            expect(answer.headers["content-security-policy"], equals: "default-src 'none'; sandbox")
            #expect(type == "image/png" || answer.headers["content-disposition"]?.hasPrefix("attachment") == true)
        }
        expect(types, equals: ["application/octet-stream", "application/octet-stream", "image/png", "image/png"])
        let text = try served.get("/value", ["id": rows[0]["id"] as? String ?? "", "name": "title"])
        expect(text.headers["content-type"], equals: "text/plain; charset=utf-8")
        expect(text.headers["content-disposition"]?.hasPrefix("attachment"), equals: true)
    }
}
