import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Reading a store changes no file of it, and no file beside it.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct UntouchedStoreTests {
    private func titles(_ url: URL) throws -> [String] {
        let store = try StoreReference(url.path).open()
        let output = CollectedOutput()
        try QueryPrinter(Query(QueryText("Track", sort: "title", columns: "title"), in: store), to: output).write(.csv)
        return output.text.split(separator: "\n").dropFirst().map { String($0.split(separator: ",").last ?? "") }
    }

    private static let all = ["Deluxe (Immer wieder)", "Monza", "Notre Dame", "Walky-Talky"]

    @Test func aClosedStoreStaysAsItIs() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        let before = try Pad.contents(of: pad.url)
        try expect(titles(pad.store), equals: Self.all)
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test(arguments: [false, true]) func rowsInALogAreReadAndTheLogStays(hasIndex: Bool) throws {
        let (pad, copy) = (try Pad(), try Pad())
        let writer = try Records.open(pad.store)
        try Records.fill(writer)
        for ending in ["", "-wal"] + (hasIndex ? ["-shm"] : []) {
            try FileManager.default.copyItem(atPath: pad.store.path + ending, toPath: copy.store.path + ending)
        }
        let before = try Pad.contents(of: copy.url)
        expect(before["records.sqlite-wal"]?.isEmpty, equals: false)
        // A process of its own: within this one, the log of another file may be mapped for writing.
        let result = try CommandProcess(["query", copy.store.path, "Track", "--count"])
        expect(result.output, equals: "4\n")
        try expect(Pad.contents(of: copy.url), equals: before)
        withExtendedLifetime(writer) {}
    }

    @Test func anEmptyLogStays() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try Data().write(to: pad.file("records.sqlite-wal"))
        let before = try Pad.contents(of: pad.url)
        try expect(titles(pad.store), equals: Self.all)
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test(
        "Every command that reads leaves nothing beside a file in log mode without a log, a store's or another program's",
        arguments: [
            ["query", "Track", "--count"], ["query", "Track"], ["inspect"], ["check"], ["export"], ["get", "Track/p1"],
            ["explain", "Track"],
            ["diff"],
        ], [false, true])
    func nothingIsLeft(command: [String], isStore: Bool) throws {
        for index in [nil, Data(), Data(count: 100), Data(count: 32768)] {
            let pad = try Pad()
            if isStore {
                try Records.make(pad.store)
            } else {
                try Plain.execute(
                    "PRAGMA journal_mode = WAL; CREATE TABLE track(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO track VALUES(1, 'Monza')",
                    pad.store)
            }
            if let index { try index.write(to: pad.file("records.sqlite-shm")) }
            let before = try Pad.contents(of: pad.url)
            let other = try Pad()
            var arguments = [command[0], pad.store.path] + command.dropFirst()
            if command == ["export"] { arguments.append(other.file("out.json").path) }
            if command == ["diff"] { arguments.append(pad.store.path) }
            let result = try CommandProcess(arguments)
            expect(result.code, equals: 0, "\(arguments): \(result.errors)")
            try expect(Pad.contents(of: pad.url), equals: before, "\(arguments), \(String(describing: index?.count))")
        }
    }

    @Test("What is no file beside a store is an error, and is not waited for", arguments: ["-wal", "-shm", "-journal"])
    func pipes(ending: String) throws {
        let pad = try Pad()
        try Records.make(pad.store)
        #expect(mkfifo(pad.store.path + ending, 0o600) == 0)
        let result = try CommandProcess(["query", pad.store.path, "Track"])
        expect(result.code, equals: 1)
        #expect(result.errors.contains("\(ending) beside it is no file"), "\(result.errors)")
    }

    @Test func anUnfinishedTransactionIsNotUndoneInTheFile() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        // The journal of a transaction that has overwritten the first page.
        let page = try Data(contentsOf: pad.store).prefix(4096)
        var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
        func append(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { journal.append(contentsOf: $0) } }
        let size = UInt32(try Data(contentsOf: pad.store).count / 4096)
        for number in [1, 0, size, 512, 4096] { append(number) }
        journal.append(Data(repeating: 0, count: 512 - journal.count))
        append(1)
        journal.append(page)
        var sum: UInt32 = 0
        for offset in stride(from: 4096 - 200, to: 0, by: -200) { sum &+= UInt32(page[page.startIndex + offset]) }
        append(sum)
        try journal.write(to: pad.file("records.sqlite-journal"))
        let before = try Pad.contents(of: pad.url)
        try expect(titles(pad.store), equals: Self.all)
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func aWriterIsFollowed() throws {
        let pad = try Pad()
        let writer = try Records.open(pad.store)
        try Records.fill(writer)
        try expect(CommandProcess(["query", pad.store.path, "Artist", "--count"]).output, equals: "2\n")
        try writer.performAndWait {
            Records.add("Artist", ["name": "Cluster"], to: writer)
            try writer.save()
        }
        try expect(CommandProcess(["query", pad.store.path, "Artist", "--count"]).output, equals: "3\n")
        // The writer goes on.
        try writer.performAndWait {
            Records.add("Artist", ["name": "La Düsseldorf"], to: writer)
            try writer.save()
        }
        try expect(CommandProcess(["query", pad.store.path, "Artist", "--count"]).output, equals: "4\n")
    }

    @Test func aReadOnlyDirectoryIsRead() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: pad.store.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: pad.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: pad.url.path) }
        let before = try Pad.contents(of: pad.url)
        try expect(titles(pad.store), equals: Self.all)
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func noCopyIsLeftBehind() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try Data().write(to: pad.file("records.sqlite-wal"))
        _ = try CommandProcess(["inspect", pad.store.path])
        try expect(CommandProcess(["query", pad.store.path, "Nothing"]).code, equals: 1)
        let store = try StoreKind.find(pad.store.path)
        var copy = try StoreCopyForReading.ifNeeded(store.url)
        let place = try #require(copy?.url)
        #expect(FileManager.default.fileExists(atPath: place.path))
        copy = nil
        #expect(!FileManager.default.fileExists(atPath: place.deletingLastPathComponent().path))
    }
}
