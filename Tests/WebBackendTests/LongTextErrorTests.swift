import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Errors about long values") struct LongTextErrorTests {
    private static let megabyte = String(repeating: "é\\\"", count: 1 << 18)

    /// Checks what an error says, and what it looks like in a log.
    private func check(_ error: (any Error)?, _ place: String) {
        guard let error else { return }
        let text = (error as NSError).localizedDescription
        #expect(text.utf8.count < 20_000, "\(place): \(text.utf8.count) \(text.prefix(500))")
        let printed = "\(error)"
        #expect(printed.utf8.count < 100_000, "\(place): \(printed.utf8.count) \(printed.prefix(500))")
    }

    private func failure<T>(_ body: () throws -> T) -> (any Error)? {
        do {
            _ = try body()
            return nil
        } catch { return error }
    }

    @Test("An identifier, a value, a member or a message of a megabyte makes no error of more than some kilobytes") func texts() throws {
        let long = Self.megabyte
        let bodies = [
            #"[{"id": "\#(long)", "title": {"a": 1}}]"#, #"[{"id": {"a": "\#(long)"}, "title": "a"}]"#,
            #"[{"id": 1, "releaseDate": "\#(long)"}]"#,
            #"[{"id": 1, "title": "a", "\#(long)": nul}]"#, #"{"error": "\#(long)"}"#, "\"\(long)\"",
            #"[{"id": "\#(long)", "title": "a"}, 7]"#,
            #"[{"id": "\#(long)", "title": "a"}, {"id": "\#(long)", "title": "b"}]"#,
        ]
        for (number, body) in bodies.enumerated() {
            for status in [200, 404, 422, 500] {
                let service = WebService(base, resources: [WebResource("Album"), WebResource("Band")])
                let context = try service.context(ScriptedService { _ in .json(body, status: status, headers: ["X-A": "b"]) })
                context.performAndWait { check(failure { try context.fetch(fetch("Album")) }, "\(number), \(status)") }
            }
        }
    }

    @Test("Refusals about an object whose identifier has a megabyte are short", arguments: [404, 409, 412, 422, 500]) func refusals(
        status: Int
    )
        throws
    {
        let long = Self.megabyte
        let transport = ScriptedService { request in
            request.method == .get && request.path == "/albums"
                ? .json(#"[{"id": "\#(long)", "title": "a"}]"#) : .json(#"{"detail": "\#(long)"}"#, status: status)
        }
        let context = try WebService(base, resources: [WebResource("Album"), WebResource("Band")]).context(transport)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue("b", forKey: "title")
            check(failure { try context.save() }, "saving")
            context.rollback()
            context.delete(album)
            check(failure { try context.save() }, "deleting")
            context.rollback()
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            new.setValue(long, forKey: "title")
            check(failure { try context.save() }, "inserting")
        }
    }

    @Test("A predicate of a megabyte that cannot be sent makes no long error") func predicates() throws {
        let context = try WebService(base, resources: [WebResource("Album"), WebResource("Band")]).context(
            ScriptedService { _ in .json("[]") })
        context.performAndWait {
            for format in ["title MATCHES %@", "FUNCTION(title, %@) == 1", "title == SUBQUERY(%@, $x, TRUE).@count", "title.length > %@"] {
                let request = fetch("Album")
                check(
                    failure {
                        request.predicate = try NSPredicate(parsing: format, "(" + Self.megabyte)
                        return try context.fetch(request)
                    }, format)
            }
            for format in [Self.megabyte, "title == \(Self.megabyte)", "k" + String(repeating: "x", count: 1 << 20) + " == 1"] {
                let request = fetch("Album")
                check(
                    failure {
                        request.predicate = try NSPredicate(parsing: format)
                        return try context.fetch(request)
                    }, String(format.prefix(20)))
            }
        }
    }
}
