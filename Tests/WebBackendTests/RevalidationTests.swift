import CoreData
import Foundation
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Asking again for what was answered before") struct RevalidationTests {
    @Test("An answer with a tag is asked for only if it has changed, and what was kept is read again where it has not")
    func tags() throws {
        let transport = ScriptedService { request in
            request.headers["If-None-Match"] == "\"a\""
                ? WebResponse(status: 304, headers: ["ETag": "\"a\""])
                : .json(#"[{"id": 1, "title": "One"}]"#, headers: ["ETag": "\"a\""])
        }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            for _ in 0..<3 {
                context.reset()
                let found = try context.fetch(fetch("Album"))
                expect(found.map { $0.text("title") }, equals: ["One"])
            }
        }
        expect(transport.requests.map { $0.headers["If-None-Match"] }, equals: [nil, "\"a\"", "\"a\""])
    }

    @Test("An answer that was damaged on its way is asked for again as a whole, though its tag is the right one") func damaged() throws {
        let isDamaged = Synchronization.Mutex(true)
        let transport = ScriptedService { request in
            if request.headers["If-None-Match"] == "\"a\"" { return WebResponse(status: 304, headers: ["ETag": "\"a\""]) }
            let isDamaged = isDamaged.withLock { $0 }
            return .json(isDamaged ? #"[{"id": 1, "ti"# : #"[{"id": 1, "title": "One"}]"#, headers: ["ETag": "\"a\""])
        }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            _ = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            isDamaged.withLock { $0 = false }
            for _ in 0..<2 {
                let found = try context.fetch(fetch("Album"))
                expect(found.map { $0.text("title") }, equals: ["One"])
            }
        }
        expect(transport.requests.map { $0.headers["If-None-Match"] }, equals: [nil, nil, "\"a\""])
    }

    @Test("Without a tag or a date everything is asked for anew") func untagged() throws {
        let transport = ScriptedService { _ in .json(#"[{"id": 1, "title": "One"}]"#) }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            for _ in 0..<2 { _ = try context.fetch(fetch("Album")) }
        }
        #expect(transport.requests.allSatisfy { $0.headers["If-None-Match"] == nil && $0.headers["If-Modified-Since"] == nil })
    }
}
