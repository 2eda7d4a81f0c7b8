import CoreData
import Foundation
import TestSupport
import Testing

/// Pages and strangers that ask for too much, or do not read what they have asked for.
@Suite("The explorer: what would fill or hold it", .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct HostileReaderTests {
    @Test("A request that is too large is refused with the limit") func largeRequest() throws {
        let folder = try Folder()
        try Library.make(folder.store)
        let served = try ServedStore(folder.store, ["--writable"])
        let answer = try served.edit(["action": "set", "id": "Album/p1", "name": "title", "value": String(repeating: "a", count: 32 << 20)])
        let message = try answer.error["message"] as? String ?? ""
        #expect(message.contains("32 MB"), "\(message.prefix(200))")
        #expect(try served.edit(["action": "create", "entity": "Artist"]).error.isEmpty)
        withExtendedLifetime(folder) {}
    }

    @Test("A regular expression that tries every way to divide a text ends in an error at its field") func expression() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        try context.performAndWait {
            for _ in 0..<20 { Library.add("Album", ["title": String(repeating: "a", count: 31)], to: context) }
            try context.save()
        }
        try Library.close(context)
        let served = try ServedStore(folder.store)
        let answer = try served.get("/api/rows", ["entity": "Album", "where": "title MATCHES '(a+)+b'"])
        let message = try answer.error["message"] as? String ?? ""
        #expect(message.contains("limit"), "\(answer.text.prefix(500))")
        try expect(answer.error["field"] as? String, equals: "where")
        withExtendedLifetime(folder) {}
    }

    @Test("A hundred readers that read nothing hold little memory, and others are answered", .timeLimit(.minutes(30)))
    func readers() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        try context.performAndWait {
            Library.add("Album", ["title": "Deluxe", "cover": Data(repeating: 7, count: 16 << 20)], to: context)
            try context.save()
        }
        try Library.close(context)
        let served = try ServedStore(folder.store)
        let before = try Self.memory(of: served)
        let silent = try (0..<100).map { _ in
            try HTTP.silent("/value?id=Album/p1&name=cover", port: served.port, headers: ["Cookie": served.cookie])
        }
        // It comes after them, and is answered once some of them were given up.
        let answer = try served.get("/api/rows", ["entity": "Album"])
        expect(answer.status, equals: 200)
        let growth = try Self.memory(of: served) - before
        #expect(growth < 400 << 20, "\(growth >> 20) MB")
        for connection in silent { HTTP.end(connection) }
        let whole = try served.get("/value", ["id": "Album/p1", "name": "cover"])
        expect(whole.body.count, equals: 16 << 20)
        withExtendedLifetime(folder) {}
    }

    /// The most memory that the server has had.
    private static func memory(of served: ServedStore) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(served.process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }
}
