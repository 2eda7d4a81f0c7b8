import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// What the commands write as JSON keeps `Documentation/CommandOutput.schema.json`.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct SchemaTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store, tracked: true)
        try Records.make(pad.file("other.sqlite"))
        try ModelConversion.write(Records.model(), to: pad.file("Records.xcdatamodel").path)
        try Plain.execute("UPDATE ZTRACK SET ZALBUM = 99 WHERE Z_PK = 1", pad.file("other.sqlite"))
    }

    @Test(arguments: [
        ("inspect", ["inspect", "records.sqlite"]), ("inspect", ["inspect", "other.sqlite"]),
        ("query", ["query", "records.sqlite", "Album"]),
        ("count", ["query", "records.sqlite", "Album", "--count"]),
        ("explain", ["explain", "records.sqlite", "Album", "--where", "year > 1"]),
        ("explain", ["explain", "records.sqlite", "Album", "--where", "tracks[0].title == 'a'"]),
        ("get", ["get", "records.sqlite", "Artist/p1"]),
        ("history", ["history", "records.sqlite"]), ("check", ["check", "records.sqlite"]), ("check", ["check", "other.sqlite"]),
        ("diff", ["diff", "records.sqlite", "other.sqlite"]), ("diff", ["diff", "records.sqlite", "records.sqlite"]),
        ("model show", ["model", "show", "records.sqlite"]), ("model lint", ["model", "lint", "Records.xcdatamodel"]),
        ("model diff", ["model", "diff", "Records.xcdatamodel", "records.sqlite"]),
    ]) func jsonKeepsTheSchema(definition: String, command: [String]) throws {
        let result = try CommandProcess(command + ["--format", "json"], directory: pad.url)
        expect(result.errors, equals: "")
        try expect(SchemaCheck().mistakes(result.output, definition), equals: [])
    }

    @Test func theCheckSeesMistakes() throws {
        let check = try SchemaCheck()
        #expect(try check.mistakes(#"{"count": true}"#, "count") != [])
        #expect(try check.mistakes(#"{"count": 1, "more": 2}"#, "count") != [])
        #expect(try check.mistakes(#"{}"#, "count") != [])
        #expect(try check.mistakes(#"[{"$id": "http://a", "$entity": "A"}]"#, "query") != [])
    }
}
