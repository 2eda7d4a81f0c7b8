import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// The shell: its language, its completion, and its terminal.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ShellTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store)
    }

    /// Runs the shell over a script.
    private func run(_ script: String) throws -> CommandProcess {
        try CommandProcess(["shell", pad.store.path], input: script)
    }

    // MARK: Words

    @Test func wordsAreSplitAsShellsSplitThem() {
        expect(ShellWords.split("query Album --where \"a == 'x y'\""), equals: .words(["query", "Album", "--where", "a == 'x y'"]))
        expect(ShellWords.split("a 'b \\ \"c' d\\ e \"f\\\"g\\n\" ''"), equals: .words(["a", "b \\ \"c", "d e", "f\"g\\n", ""]))
        expect(ShellWords.split("  # a remark"), equals: .words([]))
        expect(ShellWords.split("a#b # c\nd"), equals: .words(["a#b", "d"]))
        expect(ShellWords.split("a \"b\nc\""), equals: .words(["a", "b\nc"]))
        expect(ShellWords.split("a b\\\nc"), equals: .words(["a", "bc"]))
        for open in ["a \"b", "a 'b", "a \\"] { expect(ShellWords.split(open), equals: .unfinished) }
    }

    // MARK: Completion

    @Test(
        arguments: [
            ("", "qu", ["query"]), ("query ", "A", ["Album", "Artist"]), ("query Album ", "--so", ["--sort"]),
            ("query Album --sort ", "yea", ["year"]), ("query Album --sort ", "-ye", ["-year"]),
            ("query Album --columns ", "title,artist.n", ["title,artist.name"]), ("query Album --columns ", "tracks.@", ["tracks.@count"]),
            ("query Album --where \"", "artist.", ["artist.albums", "artist.name"]),
            ("query Album --where \"title ", "BEG", ["BEGINSWITH", "BEGINSWITH[c]"]),
            ("query Album --where \"artist.name ", "", nil), ("query Album --where \"year > 1970 ", "AN", ["AND", "ANY"]),
            ("query Album --format ", "", ["csv", "json", "table"]), ("get ", "Tr", ["Track/p"]), ("query Nothing --sort ", "y", []),
            ("export ", "fi", []),
        ] as [(String, String, [String]?)]) func wordsAreCompleted(before: String, word: String, expected: [String]?)
    {
        let found = ShellCompletion(Records.model()).candidates(after: before, word)
        if let expected { expect(found, equals: expected) } else { #expect(found.contains("==") && !found.contains("title")) }
    }

    // MARK: Scripts

    @Test func aScriptIsExecutedLineByLine() throws {
        let result = try run(
            """
            # The albums.
            query Album --where "title == 'Deluxe'
                OR title BEGINSWITH 'Live'" --count
            query Track --sort -seconds \\
                --limit 1 --columns title --format csv
            check
            exit
            query Nothing

            """)
        expect(result.code, equals: 0)
        expect(result.errors, equals: "")
        let lines = result.output.split(separator: "\n").map(String.init)
        expect(lines.first, equals: "2")
        #expect(lines.contains { $0.hasSuffix(",Notre Dame") })
        expect(lines.last, equals: "Nothing is wrong.")
    }

    @Test(arguments: [
        ("query Artist --count\nquery Artiste\nquery Track", "Line 2: The store has no entity “Artiste”."),
        ("\n\nquery Album --where \"year >\n>\"\n", "Line 3: The predicate after --where is not valid"),
        ("frobnicate\n", "Line 1: “frobnicate” is no command"),
        ("query Artist --count\nquery Album --where \"a", "Line 2: A quote is open"),
    ]) func anErrorEndsAScriptWithItsLine(script: String, expected: String) throws {
        let result = try run(script)
        expect(result.code, equals: 1)
        #expect(result.errors.hasPrefix("coredata: \(expected)"), "\(result.errors)")
        #expect(!result.output.contains("Walky"))
    }

    @Test func whatWasWrittenMeanwhileIsSeen() throws {
        let file = pad.file("Artist.csv")
        try Data("name\nCan\n".utf8).write(to: file)
        let result = try run("query Artist --count\nimport \(file.path) --write\nquery Artist --count\n")
        expect(result.output, equals: "2\nImported: 1 added, 0 changed, 0 unchanged.\n3\n")
    }

    #if canImport(Glibc)
    // MARK: A terminal

    private static let hasEditing = ["/usr/lib/x86_64-linux-gnu/libedit.so.2", "/usr/lib/aarch64-linux-gnu/libedit.so.2"].contains {
        FileManager.default.fileExists(atPath: $0)
    }

    @Test(.enabled(if: hasEditing, "libedit is not installed.")) func aTerminalHasEditingCompletionAndHistory() throws {
        let environment = ["XDG_STATE_HOME": pad.url.path]
        let shell = try TerminalProcess(["shell", pad.store.path], environment: environment)
        try shell.readPrompt()
        // The tabulator completes the command and the entity.
        shell.send("que\tTra\t--count\n")
        _ = try shell.read(until: "\n4")
        try shell.readPrompt()
        // An interrupt clears the line; an error is not the end.
        shell.send("nonsense\u{3}query Artiste\n")
        _ = try shell.read(until: "has no entity “Artiste”")
        try shell.readPrompt()
        shell.send("query Album --where \"year > 1\n")
        try shell.readPrompt("...> ")
        shell.send("AND year == 1975\" --count\n")
        _ = try shell.read(until: "\n1")
        try shell.readPrompt()
        shell.send("\u{4}")
        try expect(shell.readToEnd().code, equals: 0)
        let history = pad.file("coredata/history")
        let mode = try FileManager.default.attributesOfItem(atPath: history.path)[.posixPermissions] as? NSNumber
        expect(mode?.intValue, equals: 0o600)
        // A later shell has the lines: the one before the last is the wrong one.
        let later = try TerminalProcess(["shell", pad.store.path], environment: environment)
        try later.readPrompt()
        later.send("\u{10}\u{10}\n")
        _ = try later.read(until: "has no entity “Artiste”")
        try later.readPrompt()
        later.send("exit\n")
        try expect(later.readToEnd().code, equals: 0)
    }

    @Test func aShellKeepsNothingWhereItIsToldTo() throws {
        let shell = try TerminalProcess(["shell", pad.store.path, "--no-history"], environment: ["XDG_STATE_HOME": pad.url.path])
        try shell.readPrompt()
        shell.send("query Track --count\n")
        _ = try shell.read(until: "\n4")
        shell.send("exit\n")
        try expect(shell.readToEnd().code, equals: 0)
        #expect(!FileManager.default.fileExists(atPath: pad.file("coredata").path))
    }
    #endif
}
