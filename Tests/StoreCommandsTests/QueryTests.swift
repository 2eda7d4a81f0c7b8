import CoreData
import Foundation
import JSONReading
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Queries and what they show.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct QueryTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store, tracked: true)
    }

    private func run(_ text: QueryText, _ format: OutputFormat, width: Int? = nil) throws -> String {
        let output = CollectedOutput(width: width)
        try QueryPrinter(Query(text, in: StoreReference(pad.store.path).open()), to: output).write(format)
        return output.text
    }

    private func json(_ text: String) throws -> Any { try JSONSerialization.jsonObject(with: Data(text.utf8)) }

    @Test func aTableMarksNilAndAlignsNumbers() throws {
        let text = try run(QueryText("Album", sort: "-year", columns: "title,year,cover,artist,tracks.@count"), .table)
        let lines = text.split(separator: "\n")
        expect(lines.count, equals: 6)
        #expect(lines[2].contains("Deluxe     1975  <3 bytes>"))
        #expect(lines[4].contains("∅          1972  ∅"))
        expect(lines[5], equals: "3 objects.")
    }

    @Test func theReadmeShowsWhatIsPrinted() throws {
        let text = try run(
            QueryText("Album", where: "artist.name == 'Harmonia'", sort: "-year", columns: "title,year,tracks.@count"), .table)
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("```text\n\(text)```"))
    }

    @Test func aTableFitsTheWidthOfTheTerminal() throws {
        for width in [30, 50, 80] {
            for line in try run(QueryText("Track", columns: "title,seconds,album.title,album.artist.name"), .table, width: width).split(
                separator: "\n")
            {
                #expect(DisplayText.width(String(line)) <= width)
            }
        }
    }

    @Test func jsonHasTypedValues() throws {
        let objects = try #require(try json(run(QueryText("Album", where: "year == 1975"), .json)) as? [[String: Any]])
        let album = try #require(objects.first)
        expect(objects.count, equals: 1)
        expect(album["$entity"] as? String, equals: "Album")
        expect((album["$id"] as? String)?.hasPrefix("x-coredata://"), equals: true)
        expect(album["year"] as? Int, equals: 1975)
        expect(album["price"] as? Double, equals: 12.3)
        expect(album["released"] as? String, equals: "1975-08-26T17:46:39.5Z")
        expect(album["cover"] as? String, equals: "AQID")
        #expect(album["code"] is NSNull)
        expect((album["artist"] as? String)?.contains("/Artist/p"), equals: true)
    }

    @Test func csvTellsNilFromEmptyText() throws {
        let context = try Records.open(pad.store)
        try context.performAndWait {
            Records.add("Track", ["title": "", "seconds": 1], to: context)
            Records.add("Track", ["title": nil, "seconds": 2], to: context)
            Records.add("Track", ["title": "a \"b\", c\nd", "seconds": 3], to: context)
            try context.save()
        }
        let text = try run(QueryText("Track", where: "seconds IN {1, 2, 3}", sort: "seconds", columns: "title,seconds"), .csv)
        #expect(text.contains(",\"\",1\n"))
        #expect(text.contains(",,2\n"))
        #expect(text.contains(",\"a \"\"b\"\", c\nd\",3\n"))
    }

    @Test func limitOffsetAndOrderAreThoseOfTheQuery() throws {
        let text = try run(QueryText("Track", sort: "-title", limit: 2, offset: 1, columns: "title"), .csv)
        let titles = text.split(separator: "\n").dropFirst().map { line in String(line.split(separator: ",")[1]) }
        expect(titles, equals: ["Notre Dame", "Monza"])
        try expect(run(QueryText("Track", limit: 0, columns: "title"), .json), equals: "[]\n")
    }

    @Test func whatSQLCannotSayIsFinishedInMemory() throws {
        let text = try run(QueryText("Album", where: "mode({title, year}) == 'Deluxe'", columns: "title"), .csv)
        #expect(text.contains(",Deluxe\n"))
        expect(text.split(separator: "\n").count, equals: 2)
    }

    @Test func moreRowsThanAPartComeInOrder() throws {
        let context = try Records.open(pad.store)
        try context.performAndWait {
            for number in 0..<2000 { Records.add("Track", ["title": "t", "seconds": Double(number)], to: context) }
            try context.save()
        }
        let text = try run(QueryText("Track", where: "title == 't'", sort: "-seconds", columns: "seconds"), .csv)
        let numbers = text.split(separator: "\n").dropFirst().compactMap { Int($0.split(separator: ",")[1]) }
        expect(numbers, equals: Array((0..<2000).reversed()))
    }

    @Test func nothingInAStoreReachesTheTerminalAsControlCharacters() throws {
        let context = try Records.open(pad.store)
        let evil = "\u{1B}]0;owned\u{07}\u{1B}[2J\u{9B}31m\u{202E}abc\u{7F}\r\u{8}"
        try context.performAndWait {
            Records.add("Artist", ["name": evil], to: context)
            try context.save()
        }
        let store = try StoreReference(pad.store.path).open()
        for format in [OutputFormat.table, .json, .csv] {
            let output = CollectedOutput(width: 100)
            try QueryPrinter(Query(QueryText("Artist"), in: store), to: output).write(format)
            #expect(output.text.contains("owned"))
            #expect(!output.text.unicodeScalars.contains { $0 != "\n" && DisplayText.isUnsafe($0) })
        }
        let file = CollectedOutput()
        try QueryPrinter(Query(QueryText("Artist"), in: store), to: file).write(.csv)
        #expect(file.text.contains(evil))
    }

    @Test func explainShowsTheSQLAndItsPlan() throws {
        let output = CollectedOutput()
        let query = try Query(QueryText("Album", where: "artist.name == 'Neu!'"), in: StoreReference(pad.store.path).open())
        try QueryExplanation(query).write(.table, to: output)
        #expect(output.text.hasPrefix("SELECT"))
        #expect(output.text.contains("ZARTIST"))
        #expect(output.text.contains("?1 = “Neu!”"))
        #expect(output.text.contains("Plan:\n  "))
    }

    @Test func getShowsOneObjectByItsURIOrItsEnd() throws {
        let store = try StoreReference(pad.store.path).open()
        let row = try run(QueryText("Album", where: "title == 'Deluxe'", columns: "title"), .csv).split(separator: "\n")[1]
        let uri = String(row.split(separator: ",")[0])
        let album = try #require(try json(ObjectReport(uri, in: store).json().text()) as? [String: Any])
        expect((album["tracks"] as? [String])?.count, equals: 4)
        let output = CollectedOutput()
        try ObjectReport(uri.split(separator: "/").suffix(2).joined(separator: "/"), in: store).write(.table, to: output)
        #expect(output.text.contains("  title     Deluxe"))
        #expect(output.text.contains("  tracks    (4)\n      Track/p"))
        for wrong in ["Album/p999", "x-coredata://00000000-0000-0000-0000-000000000000/Album/p1", "Album"] {
            #expect(throws: NSError.self) { try ObjectReport(wrong, in: store).json() }
        }
    }

    @Test func historyShowsTransactionsAndTheirChanges() throws {
        let context = try Records.open(pad.store, tracked: true)
        context.transactionAuthor = "tests"
        try context.performAndWait {
            let album = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album")).first)
            album.setValue(1999, forKey: "year")
            try context.save()
        }
        let store = try StoreReference(pad.store.path).open()
        let all = try #require(try json(HistoryReport(store).json().text()) as? [[String: Any]])
        expect(all.count, equals: 2)
        expect((all[0]["changes"] as? [Any])?.count, equals: 9)
        let last = try #require(try json(HistoryReport(store, since: "1").json().text()) as? [[String: Any]])
        expect(last.count, equals: 1)
        expect(last[0]["author"] as? String, equals: "tests")
        let change = try #require((last[0]["changes"] as? [[String: Any]])?.first)
        expect(change["type"] as? String, equals: "update")
        expect(change["updated"] as? [String], equals: ["year"])
        let tracks = try #require(try json(HistoryReport(store, entity: "Track").json().text()) as? [[String: Any]])
        expect(tracks.count, equals: 1)
        expect((tracks[0]["changes"] as? [Any])?.count, equals: 4)
        #expect(throws: NSError.self) { try HistoryReport(store, since: "yesterday") }
    }

    @Test func inspectCountsEachEntityAndNamesFiles() throws {
        let store = try StoreReference(pad.store.path).open()
        let output = CollectedOutput()
        try StoreReport(store).write(.json, to: output)
        let report = try #require(try json(output.text) as? [String: Any])
        let entities = try #require(report["entities"] as? [[String: Any]])
        expect(entities.map { $0["name"] as? String }, equals: ["Album", "Artist", "LiveAlbum", "Track"])
        expect(entities.map { $0["objects"] as? Int }, equals: [2, 2, 1, 4])
        expect(entities[2]["parent"] as? String, equals: "Album")
        expect((report["history"] as? [String: Any])?["transactions"] as? Int, equals: 1)
        // The files that reading needs for a moment are not the store's.
        expect((report["files"] as? [[String: Any]])?.map { $0["name"] as? String }, equals: ["records.sqlite"])
        let table = CollectedOutput(width: 80)
        try StoreReport(store).write(.table, to: table)
        #expect(table.text.contains("Model: kept by the store"))
        #expect(table.text.contains("LiveAlbum        1"))
    }
}
