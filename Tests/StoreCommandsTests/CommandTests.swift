import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// The command as a process: exit codes and streams.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct CommandTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store)
    }

    @Test func resultsGoToStandardOutputAndErrorsToTheOther() throws {
        let fine = try CommandProcess(["query", "records.sqlite", "Artist", "--format", "json"], directory: pad.url)
        expect(fine.code, equals: 0)
        expect(fine.errors, equals: "")
        #expect(fine.output.contains("\"name\":\"Neu!\""))
        let sorted = try CommandProcess(
            ["query", "records.sqlite", "Artist", "--sort", "-name", "--columns", "name", "--format", "csv"], directory: pad.url)
        #expect(sorted.output.contains(",Neu!\nx-coredata://"))
        let failed = try CommandProcess(["query", "records.sqlite", "Artiste"], directory: pad.url)
        expect(failed.code, equals: 1)
        expect(failed.output, equals: "")
        #expect(failed.errors.hasPrefix("coredata: The store has no entity “Artiste”. It has: Album, Artist"))
        try expect(CommandProcess(["query", "records.sqlite"], directory: pad.url).code, equals: 64)
        try expect(CommandProcess(["frobnicate"], directory: pad.url).code, equals: 64)
    }

    @Test(arguments: [[], ["inspect"], ["query"], ["explain"], ["get"], ["history"]]) func everyCommandHasHelp(command: [String]) throws {
        let help = try CommandProcess(command + ["--help"])
        expect(help.code, equals: 0)
        #expect(help.output.contains("USAGE: coredata"))
    }

    @Test func aReaderThatHasEnoughEndsTheCommandSilently() throws {
        let context = try Records.open(pad.store)
        try context.performAndWait {
            for number in 0..<20_000 { Records.add("Track", ["title": "a title of some length", "seconds": Double(number)], to: context) }
            try context.save()
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let result = pad.file("result")
        process.arguments = [
            "-c",
            "{ '\(BuiltProgram.command.path)' query '\(pad.store.path)' Track --format csv 2>&3; echo $? >&3; } 3>'\(result.path)' | head -n 1 >/dev/null",
        ]
        try process.run()
        process.waitUntilExit()
        try expect(String(contentsOf: result, encoding: .utf8), equals: "0\n")
    }

    @Test func completionScriptsAreWritten() throws {
        for shell in ["bash", "zsh", "fish"] {
            let script = try CommandProcess(["--generate-completion-script", shell])
            expect(script.code, equals: 0)
            #expect(script.output.contains("inspect"))
        }
    }
}
