import CoreData
import Foundation
import TestSupport
import Testing

/// What pages read, and how much of a store that is.
@Suite("The explorer: reading", .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ReadingTests {
    private static func served(_ arguments: [String] = [], tracks: Int = 0, tracked: Bool = false) throws -> (Folder, ServedStore) {
        let folder = try Folder()
        try Library.make(folder.store, tracked: tracked)
        if tracks > 0 { try Library.addTracks(tracks, to: folder.store) }
        return (folder, try ServedStore(folder.store, arguments))
    }

    private static func rows(_ answer: Answer) throws -> [[String: Any]] { try #require(try answer.json["rows"] as? [[String: Any]]) }

    private static func cells(_ answer: Answer) throws -> [[Any]] { try rows(answer).map { $0["cells"] as? [Any] ?? [] } }

    @Test("A table is filtered and sorted, and has columns over relationships") func table()
        throws
    {
        let (folder, served) = try Self.served()
        let answer = try served.get(
            "/api/rows",
            ["entity": "Album", "where": "artist.name == 'Harmonia'", "sort": "-year", "columns": "title,artist.name,tracks.@count,artist"])
        let cells = try Self.cells(answer)
        expect(cells.map { $0[0] as? String }, equals: ["Deluxe", "Live 1974"])
        expect(cells.map { $0[1] as? String }, equals: ["Harmonia", "Harmonia"])
        expect(cells.map { $0[2] as? Int }, equals: [4, 0])
        expect(cells.compactMap { ($0[3] as? [String: Any])?["label"] as? String }, equals: ["Harmonia", "Harmonia"])
        withExtendedLifetime(folder) {}
    }

    @Test("Hidden columns are not read") func hiddenColumns() throws {
        let (folder, served) = try Self.served()
        let sql = try served.get("/api/rows", ["entity": "Album", "columns": "title"]).statements.compactMap { $0["sql"] as? String }
            .joined()
        #expect(sql.contains("ZTITLE"))
        for column in ["ZINFO", "ZCOVER", "ZPRICE", "ZYEAR"] { #expect(!sql.contains(column), "\(column)") }
        // Bytes are hidden at first.
        let ordinary = try served.get("/api/rows", ["entity": "Album"]).statements.compactMap { $0["sql"] as? String }.joined()
        #expect(ordinary.contains("ZINFO") && !ordinary.contains("ZCOVER"))
        withExtendedLifetime(folder) {}
    }

    // In the first, bits are shifted, and the comparison is missing at the end.
    @Test("An error of a predicate has its place", arguments: [("year >> 3", 9), ("title == 'a' AND yeer > 3", 17), ("title ==", 8)])
    func errorPlace(predicate: String, position: Int) throws {
        let (folder, served) = try Self.served()
        let answer = try served.get("/api/rows", ["entity": "Album", "where": predicate])
        #expect(try !answer.error.isEmpty)
        try expect(answer.error["field"] as? String, equals: "where")
        try expect(answer.error["position"] as? Int, equals: position, "\(answer.text)")
        withExtendedLifetime(folder) {}
    }

    @Test("The first page of a million rows reads a hundred") func million() throws {
        let (folder, served) = try Self.served(tracks: 1_000_000)
        let first = try served.get("/api/rows", ["entity": "Track", "limit": "100", "columns": "title,seconds"])
        try expect(Self.rows(first).count, equals: 100)
        try expect(first.rowsRead, equals: 100)
        // Besides, the store looks whether others have written.
        try expect(first.statements.compactMap { $0["sql"] as? String }.filter { $0.hasPrefix("SELECT") }.count, equals: 1)
        let count = try served.get("/api/count", ["entity": "Track"]).json
        #expect(count["count"] as? Int == 1000 && count["isCapped"] as? Bool == true)
        try expect(served.get("/api/count", ["entity": "Track", "exact": "1"]).json["count"] as? Int, equals: 1_000_004)
        let far = try served.get("/api/rows", ["entity": "Track", "offset": "900004", "limit": "2", "columns": "title"])
        try expect(Self.cells(far).map { $0[0] as? String }, equals: ["Track 0900001", "Track 0900002"])
        try expect(far.rowsRead, equals: 2)
        withExtendedLifetime(folder) {}
    }

    @Test("An object with 120,000 children is read in parts", arguments: [[], ["--writable"]])
    func manyChildren(arguments: [String]) throws {
        let (folder, served) = try Self.served(arguments, tracks: 120_000)
        let rows = try Self.rows(served.get("/api/rows", ["entity": "Album", "where": "title == 'Deluxe'"]))
        let id = try #require(rows.first?["id"] as? String)
        let answer = try served.get("/api/object", ["id": id])
        let relationships = try #require(try answer.json["relationships"] as? [[String: Any]])
        let tracks = try #require(relationships.first { $0["name"] as? String == "tracks" })
        #expect(tracks["count"] as? Int == 1000 && tracks["isCapped"] as? Bool == true)
        func labels(_ part: [String: Any]) -> [String?] { (part["objects"] as? [[String: Any]] ?? []).map { $0["label"] as? String } }
        // In the order of the relationship.
        expect(Array(labels(tracks).prefix(5)), equals: ["Deluxe (Immer wieder)", "Walky-Talky", "Monza", "Notre Dame", "Track 0000001"])
        expect(labels(tracks).count, equals: 20)
        #expect(try answer.statements.count < 15)
        #expect(try answer.rowsRead < 60)
        let next = try served.get("/api/related", ["id": id, "name": "tracks", "offset": "110000", "limit": "3"])
        expect(labels(try next.json), equals: ["Track 0109997", "Track 0109998", "Track 0109999"])
        withExtendedLifetime(folder) {}
    }

    @Test("Values are shown by their types") func values() throws {
        let (folder, served) = try Self.served()
        let attributes = try #require(try served.get("/api/object", ["id": "Album/p1"]).json["attributes"] as? [[String: Any]])
        expect(attributes.count, equals: 8)
        let rows = try Self.rows(served.get("/api/rows", ["entity": "Album", "where": "title == 'Deluxe'"]))
        let deluxe = try served.get("/api/object", ["id": rows[0]["id"] as? String ?? ""]).json
        let values = (deluxe["attributes"] as? [[String: Any]] ?? []).reduce(into: [String: Any]()) {
            $0[$1["name"] as? String ?? ""] = $1["value"]
        }
        expect(values["price"] as? String, equals: "12.3")
        expect(values["released"] as? String, equals: "1975-08-26T17:46:39.5Z")
        expect(values["isLive"] as? Bool, equals: false)
        expect((values["cover"] as? [String: Any])?["picture"] as? String, equals: "image/png")
        expect(((values["cover"] as? [String: Any])?["hex"] as? String)?.hasPrefix("89504e47"), equals: true)
        expect(deluxe["label"] as? String, equals: "Deluxe")
        withExtendedLifetime(folder) {}
    }

    @Test("The history is read from its end") func history() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store, tracked: true)
        try Library.fill(context)
        try context.performAndWait {
            for number in 0..<60 {
                Library.add("Artist", ["name": "Artist \(number)"], to: context)
                try context.save()
            }
        }
        try Library.close(context)
        let served = try ServedStore(folder.store)
        let history = try served.get("/api/history").json
        let transactions = try #require(history["transactions"] as? [[String: Any]])
        #expect(transactions.count == 50 && history["isLast"] as? Bool == false)
        #expect(transactions.first?["number"] as? Int == 61 && transactions.first?["author"] as? String == "tests")
        let earlier = try served.get("/api/history", ["before": "12"]).json["transactions"] as? [[String: Any]] ?? []
        #expect(earlier.count == 11 && earlier.last?["number"] as? Int == 1)
        let changes = try served.get("/api/changes", ["number": "1"]).json["changes"] as? [[String: Any]] ?? []
        expect(changes.count, equals: 9)
        let labels = changes.compactMap { ($0["object"] as? [String: Any])?["label"] as? String }
        #expect(labels.contains("Monza"))
    }

    @Test("What another program saves is read next") func otherPrograms() throws {
        let folder = try Folder()
        let context = try Library.open(folder.store)
        try Library.fill(context)
        let served = try ServedStore(folder.store)
        try expect(served.get("/api/count", ["entity": "Artist"]).json["count"] as? Int, equals: 2)
        let id = try #require(
            try Self.rows(served.get("/api/rows", ["entity": "Artist", "where": "name == 'Neu!'"])).first?["id"] as? String)
        try expect(served.get("/api/object", ["id": id]).json["label"] as? String, equals: "Neu!")
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Artist")
            request.predicate = NSPredicate(format: "name == 'Neu!'")
            try context.fetch(request)[0].setValue("Neu! 2", forKey: "name")
            Library.add("Artist", ["name": "Cluster"], to: context)
            try context.save()
        }
        try expect(served.get("/api/count", ["entity": "Artist"]).json["count"] as? Int, equals: 3)
        try expect(served.get("/api/object", ["id": id]).json["label"] as? String, equals: "Neu! 2")
        try Library.close(context)
    }

    @Test("Other kinds of store are explored too", arguments: [NSXMLStoreType, NSSQLiteStoreType])
    func otherStores(type: String) throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("store.data")
        try Library.make(url, type: type)
        let served = try ServedStore(url)
        try expect(Self.rows(served.get("/api/rows", ["entity": "Album", "sort": "year"])).count, equals: 3)
        let ids = try Self.rows(served.get("/api/rows", ["entity": "Artist", "where": "name == 'Harmonia'"])).compactMap {
            $0["id"] as? String
        }
        let relationships = try served.get("/api/object", ["id": try #require(ids.first)]).json["relationships"] as? [[String: Any]] ?? []
        expect(relationships.first { $0["name"] as? String == "albums" }?["count"] as? Int, equals: 2)
    }
}
