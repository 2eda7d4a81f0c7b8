import Foundation
import TestSupport
import Testing

@testable import StoreCommands

#if os(Linux)
/// A file system that is mounted read-only, which not even the superuser writes to.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ReadOnlyMediaTests {
    /// Runs a program of the system, and returns whether it succeeded.
    private static func run(_ path: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Whether this process may mount file systems.
    private static let mayMount: Bool = {
        guard let folder = try? ScratchFolder("mount") else { return false }
        defer { folder.remove() }
        guard run("/bin/mount", ["-t", "tmpfs", "tmpfs", folder.url.path]) else { return false }
        return run("/bin/umount", [folder.url.path])
    }()

    @Test(.enabled(if: mayMount, "Only a superuser may mount file systems."), arguments: [false, true])
    func aStoreIsReadInPlaceOrFromACopy(hasLog: Bool) throws {
        let pad = try Pad()
        let disk = pad.file("disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        try #require(Self.run("/bin/mount", ["-t", "tmpfs", "tmpfs", disk.path]))
        defer { #expect(Self.run("/bin/umount", [disk.path])) }
        let store = disk.appendingPathComponent("records.sqlite")
        if hasLog {
            // The store and its log are copied while a program has them open.
            let writer = try Records.open(pad.store)
            try Records.fill(writer)
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: pad.store.path + ending, toPath: store.path + ending)
            }
            withExtendedLifetime(writer) {}
        } else {
            try Records.make(store)
        }
        try #require(Self.run("/bin/mount", ["-o", "remount,ro", disk.path]))
        let before = try Pad.contents(of: disk)
        for command in [["query", store.path, "Track", "--count"], ["check", store.path], ["inspect", store.path]] {
            let result = try CommandProcess(command)
            expect(result.code, equals: 0, "\(result.errors)")
            if command[0] == "query" { expect(result.output, equals: "4\n") }
        }
        try expect(Pad.contents(of: disk), equals: before)
        // A command that writes says what is wrong.
        let file = pad.file("Artist.csv")
        try Data("name\nCan\n".utf8).write(to: file)
        let refused = try CommandProcess(["import", store.path, file.path, "--write"])
        expect(refused.code, equals: 1)
        #expect(!refused.errors.isEmpty)
        try expect(Pad.contents(of: disk), equals: before)
    }
}
#endif
