import CoreData
import Foundation
import TestSupport
import Testing

/// Questions and edits that no page asks, as somebody types them into the address, or sends them.
@Suite("The explorer: random questions", .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct RandomQuestionTests {
    private static let numbers = [
        "0", "1", "-1", "2", "50", "500", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "4611686018427387904",
        "1e309", "nan", "",
        "٣", "0x10", " 1",
    ]
    private static let predicates = [
        "title", "year", "artist", "artist.name", "tracks", "tracks.@count", "SELF", "objectID", "nil", "TRUE", "1", "9223372036854775807",
        "-9223372036854775808",
        "'a'", "''", "'(a+)+b'", "'['", "{1, 2}", "==", "!=", "<", "IN", "BETWEEN", "CONTAINS[cd]", "LIKE", "MATCHES", "AND", "OR", "NOT",
        "ANY", "ALL", "(", ")",
        "+", "-", "*", "/", "**", "&", "<<", ",", "@", "%@", "$x", "SUBQUERY(tracks, $t, $t.seconds > 1)", ".@count", "FUNCTION(",
        "CAST(1, 'NSDate')", "abs(",
        "now()", "\u{0}", "é", "😀", "\"",
    ]
    private static let names = [
        "title", "year", "released", "price", "code", "isLive", "cover", "info", "artist", "tracks", "name", "entity", "self", "", "@count",
        "a.b",
    ]
    private static let ids = [
        "Album/p1", "Album/p2", "Artist/p1", "Track/p1", "Album/p99", "Album/t1", "Album/p-1", "Album/p9223372036854775807",
        "Album/p9223372036854775808", "Nothing/p1",
        "Album", "/", "", "x-coredata://a/Album/p1", "Album/p1/p2", "Album/%00",
    ]

    private static func pieces(_ list: [String], _ most: Int, _ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in list.randomElement(using: &random) ?? "" }.joined(separator: " ")
    }

    private static func question(_ random: inout SeededGenerator) -> (path: String, parameters: [(String, String)]) {
        func one(_ list: [String]) -> String { list.randomElement(using: &random) ?? "" }
        let path = one([
            "/api/store", "/api/count", "/api/rows", "/api/rows", "/api/rows", "/api/object", "/api/related", "/api/candidates",
            "/api/history", "/api/changes",
            "/api/diagram.svg", "/value", "/api/nothing", "/entity/Album", "//", "/%2e%2e/", "/%",
        ])
        var parameters: [(String, String)] = []
        func add(_ name: String, _ value: String) { if Int.random(in: 0..<5, using: &random) > 0 { parameters.append((name, value)) } }
        add("entity", one(["Album", "Artist", "Track", "Nothing", "", "album"]))
        add("where", pieces(predicates, 6, &random))
        add("sort", pieces(names, 3, &random).replacingOccurrences(of: " ", with: ",-"))
        add("columns", pieces(names, 4, &random).replacingOccurrences(of: " ", with: one([",", "."])))
        for name in ["offset", "limit", "number", "before", "exact"] { add(name, one(numbers)) }
        add("id", one(ids))
        add("name", one(names))
        add("text", pieces(predicates, 2, &random))
        return (path, parameters)
    }

    private static func edit(_ random: inout SeededGenerator) -> [String: Any] {
        func one(_ list: [String]) -> String { list.randomElement(using: &random) ?? "" }
        let values: [Any] = [
            one(numbers), one(predicates), Int.max, Int.min, 1e308, true, NSNull(), [one(ids)], ["a": one(ids)], one(ids),
            String(repeating: "a", count: 10_000),
        ]
        var edit: [String: Any] = [
            "action": one(["create", "delete", "set", "add", "remove", "move", "save", "undo", "redo", "discard", "nothing"])
        ]
        for name in ["id", "entity", "name", "value", "other", "object", "place"] where Bool.random(using: &random) {
            edit[name] =
                switch name {
                case "id", "other", "object": one(ids)
                case "entity": one(["Album", "Artist", "Nothing", ""])
                case "name": one(names)
                default: values.randomElement(using: &random) ?? NSNull()
                }
        }
        return edit
    }

    @Test("Whatever is asked or edited has an answer, and the server goes on", .timeLimit(.minutes(30)))
    func random() throws {
        let folder = try Folder()
        try Library.make(folder.store, tracked: true)
        let served = try ServedStore(folder.store, ["--writable"])
        let seed = TestSeed.current(for: "RandomQuestionTests")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 2, atLeast: 30) {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let edit = Self.edit(&random)
                let answer = try served.edit(edit)
                #expect(answer.status < 500, "round \(round): \(edit)")
            } else {
                let (path, parameters) = Self.question(&random)
                let query = parameters.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }.joined(
                    separator: "&")
                let answer = try HTTP.request("GET", "\(path)?\(query)", port: served.port, headers: ["Cookie": served.cookie])
                #expect(answer.status < 500 && answer.status >= 200, "round \(round): \(path)?\(query)")
            }
            if !served.process.isRunning { break }
        }
        #expect(served.process.isRunning)
        try expect(served.get("/api/store").status, equals: 200)
        withExtendedLifetime(folder) {}
    }
}
