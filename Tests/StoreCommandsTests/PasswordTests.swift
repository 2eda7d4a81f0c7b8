import Foundation
import TestSupport
import Testing

/// No output of a command shows the password of a place, however the place is written and wherever it is given.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct PasswordTests {
    /// What no place opens: each has the password s3cret.
    private static let places = [
        "host=127.0.0.1 port=1 user=u password=s3cret dbname=x nonsense=1", "password = 's3cret, more' host=127.0.0.1 nonsense=1",
        "host=127.0.0.1 user=u PASSWORD=s3cret", "postgresql://u:s3cret#1@127.0.0.1:1/x?nonsense=1",
        "postgresql://u:s3cret/1@127.0.0.1:1/x?nonsense=1", "postgresql://u:s3cret@127.0.0.1:1,127.0.0.1:2/x?nonsense=1",
        "POSTGRESQL://u:s3cret@127.0.0.1:1/x?nonsense=1", "mysql://u:s3cret@127.0.0.1/x", "jdbc:postgresql://127.0.0.1/x?password=s3cret",
    ]

    private static let commands: [[String]] = [
        ["inspect", "PLACE"], ["inspect", "records.sqlite", "PLACE"], ["inspect", "records.sqlite", "--model", "PLACE"],
        ["inspect", "records.sqlite", "--model=PLACE"], ["inspect", "https://127.0.0.1:1", "--description", "PLACE", "--model", "M.mom"],
        ["inspect", "PLACE", "--description", "none.yaml", "--model", "M.mom"], ["inspect", "records.sqlite", "--format", "PLACE"],
        ["query", "records.sqlite", "PLACE"], ["get", "records.sqlite", "PLACE"], ["check", "PLACE"], ["history", "PLACE"],
        ["diff", "records.sqlite", "PLACE"], ["copy", "PLACE", "copy.sqlite"], ["copy", "records.sqlite", "PLACE"],
        ["copy", "records.sqlite", "PLACE", "--kind", "sqlite"], ["export", "records.sqlite", "PLACE"],
        ["export", "records.sqlite", "PLACE.json"], ["export", "records.sqlite", "PLACE/"], ["import", "PLACE", "empty.json"],
        ["import", "PLACE", "empty.json", "--model", "records.sqlite", "--write"], ["import", "records.sqlite", "PLACE"],
        ["import", "records.sqlite", "PLACE.json"], ["migrate", "PLACE", "--model", "M.mom"],
        ["migrate", "records.sqlite", "--model", "PLACE"],
        ["model", "show", "PLACE"], ["model", "diff", "PLACE", "records.sqlite"], ["model", "convert", "records.sqlite", "PLACE"],
        ["model", "convert", "records.sqlite", "PLACE.mom"], ["model", "draw", "records.sqlite", "--output", "PLACE"], ["shell", "PLACE"],
        ["serve", "PLACE"], ["PLACE"],
    ]

    @Test(arguments: places) func noOutputShowsAPassword(place: String) throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try Data("{}".utf8).write(to: pad.file("empty.json"))
        for command in Self.commands {
            let result = try CommandProcess(command.map { $0.replacing("PLACE", with: place) }, directory: pad.url)
            #expect(!(result.output + result.errors).contains("s3cret"), "\(command): \(result.output)\(result.errors)")
            #expect(result.code != 0 && !result.errors.isEmpty, "\(command): \(result.output)\(result.errors)")
        }
        // What was refused has left nothing.
        try expect(FileManager.default.contentsOfDirectory(atPath: pad.url.path).sorted(), equals: ["empty.json", "records.sqlite"])
    }

    @Test func wordsOfTheShellAreShownWithoutPasswords() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        for word in ["mysql://u:s3cret@127.0.0.1/x", "host=127.0.0.1 password=s3cret"] {
            for line in ["copy '\(word)'", "inspect '\(word)'", "query '\(word)'", "'\(word)'"] {
                let result = try CommandProcess(["shell", "records.sqlite"], directory: pad.url, input: line + "\n")
                #expect(!(result.output + result.errors).contains("s3cret"), "\(line): \(result.output)\(result.errors)")
                #expect(result.code != 0 && !result.errors.isEmpty, "\(line): \(result.output)\(result.errors)")
            }
        }
    }

    @Test func namesOfFilesAreShownAsTheyAre() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        for name in ["a=b.sqlite", "host=1.sqlite", "a=1 b=2.sqlite", "me@home.sqlite", "a:b.sqlite"] {
            let result = try CommandProcess(["inspect", name], directory: pad.url)
            #expect(result.errors.contains("There is no store at \(pad.file(name).path)."), "\(result.errors)")
            try FileManager.default.copyItem(at: pad.store, to: pad.file(name))
            try expect(CommandProcess(["inspect", name], directory: pad.url).code, equals: 0)
        }
    }
}
