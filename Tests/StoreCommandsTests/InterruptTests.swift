import Foundation
import TestSupport
import Testing

@testable import StoreCommands

#if canImport(Glibc)
import Glibc
#endif

/// What happens to a long command that is interrupted, and what shows how far one is.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct InterruptTests {
    @Test func aQueryOfAMillionRowsEndsWithinAMomentAndLeavesNothing() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try Plain.execute(
            """
            INSERT INTO ZTRACK (Z_PK, Z_ENT, Z_OPT, ZSECONDS, ZTITLE)
            WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000)
            SELECT x, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Track'), 1, x, 'a title of some length' FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1000000 WHERE Z_NAME = 'Track'
            """, pad.store)
        // A log that nobody has open is read from a copy of the store.
        try Data().write(to: pad.file("records.sqlite-wal"))
        let scratch = pad.file("scratch")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = BuiltProgram.command
        process.arguments = ["query", pad.store.path, "Track", "--format", "csv"]
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": scratch.path]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        // It is at work.
        #expect(!pipe.fileHandleForReading.availableData.isEmpty)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        process.interrupt()
        let rest = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        expect(process.terminationStatus, equals: 130)
        // Far from all rows were written.
        #expect(rest.count < 30_000_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    #if canImport(Glibc)
    @Test func progressIsShownOnATerminalWhileACommandTakesLong() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        // The command waits for the file, until it is written.
        let file = pad.file("Artist.csv")
        try #require(mkfifo(file.path, 0o600) == 0)
        let command = try TerminalProcess(["import", pad.store.path, file.path])
        _ = try command.read(until: "Importing: 1 s")
        // Opened for both, so that nobody waits where the command does not read.
        let pipe = open(file.path, O_RDWR)
        expect("name\nCan\n".withCString { write(pipe, $0, strlen($0)) }, equals: 9)
        close(pipe)
        let (text, code) = try command.readToEnd()
        expect(code, equals: 0)
        #expect(text.contains("\u{1B}[KWould be imported: 1 added"), "\(text.debugDescription)")
    }
    #endif

    @Test func progressIsAPercentageWhereItIsReported() {
        expect(ProgressLine.text("Copying", 0, seconds: 3), equals: "Copying: 3 s")
        expect(ProgressLine.text("Checking", 0.426, seconds: 12), equals: "Checking: 42 %, 12 s")
    }
}
