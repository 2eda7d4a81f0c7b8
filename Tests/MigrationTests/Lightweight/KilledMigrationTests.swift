import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing
import WriterVersions

/// Migrations in a process that is killed, or that cannot write on.
@Suite(.serialized) struct KilledMigrationTests {
    private static func process(_ version: String, _ store: URL, limit: Int = 0) -> (process: Process, lines: Pipe) {
        process("migrate-\(version)", store, limit)
    }

    private static func process(_ command: String, _ store: URL, _ number: Int) -> (process: Process, lines: Pipe) {
        let process = BuiltProgram.storeWriter(command, store.path, "\(number)")
        let pipe = Pipe()
        process.standardOutput = pipe
        return (process, pipe)
    }

    /// A store of the first version with rows, also some in the log and a history.
    private static func filled(_ rows: Int) throws -> MigratedStore {
        let store = try MigratedStore()
        try store.open(WriterVersions.model("first"), [NSPersistentHistoryTrackingKey: NSNumber(value: true)]) { context in
            let batch = context.make("Batch", ["number": 1])
            context.make("Item", ["value": 0, "text": "first", "batch": batch])
            try context.save()
        }
        let database = try Database(store.url)
        try database.execute("BEGIN")
        try database.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZVALUE, ZTEXT, ZBATCH)
            SELECT i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'), 1, i * 3, 'text of the row number ' || i, 1 FROM n
            """)
        try database.execute("COMMIT")
        return store
    }

    /// Checks that the store is whole, of the older version or of the newer one, and returns whether it is of the newer one.
    private static func isMigrated(_ store: MigratedStore, _ version: String, _ rows: Int, _ place: String) throws -> Bool {
        let metadata = try SQLiteStore.metadataForPersistentStore(with: store.url)
        let isNew = WriterVersions.model(version).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        let isOld = WriterVersions.model("first").isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        #expect(isNew != isOld, "\(place): it is of no version")
        let database = try Database(store.url)
        try expect(database.column("PRAGMA integrity_check"), equals: ["ok"], "\(place)")
        let columns = try database.column("SELECT name FROM pragma_table_info('ZITEM')")
        let expected = isNew ? ["added": "ZNOTE", "filled": "ZMORE", "copied": "ZLABEL"][version, default: ""] : "ZTEXT"
        #expect(columns.contains(expected), "\(place): \(columns)")
        let text = columns.contains("ZLABEL") ? "ZLABEL" : "ZTEXT"
        let sum = (rows * (rows + 1) / 2 - 1) * 3
        try expect(
            database.column(
                "SELECT count(*) || ' ' || CAST(sum(ZVALUE) AS INTEGER) || ' ' || count(\(text)) || ' ' || sum(ZBATCH) FROM ZITEM"),
            equals: ["\(rows) \(sum) \(rows) \(rows)"], "\(place)")
        try expect(database.column("SELECT count(*) FROM ACHANGE"), equals: ["2"], "\(place): the history is not there")
        if isNew, version == "filled" { try expect(database.column("SELECT count(*) FROM ZITEM WHERE ZMORE = 7"), equals: ["\(rows)"]) }
        return isNew
    }

    @Test("A process that is killed leaves the store of the older version or that of the newer one, whole")
    func kills() throws {
        let seed = TestSeed.current(for: "KilledMigrationTests")
        var generator = SeededGenerator(seed: seed)
        let rows = 60_000
        let original = try Self.filled(rows)
        var (killed, done, migrated) = (0, 0, 0)
        var longest = ["added": 60_000.0, "filled": 300_000.0, "copied": 500_000.0]
        for _ in TestRounds(seconds: 8, atLeast: 3) {
            let version = ["added", "filled", "copied", "copied"].randomElement(using: &generator)!
            let store = try MigratedStore()
            try FileManager.default.removeItem(at: store.directory)
            try FileManager.default.copyItem(at: original.directory, to: store.directory)
            for attempt in 0..<20 {
                let (process, pipe) = Self.process(version, store.url)
                let start = Date()
                try process.run()
                usleep(UInt32.random(in: 0...UInt32(longest[version, default: 0] * 1.2), using: &generator))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                #expect(!output.contains("error"), "\(output)")
                if process.terminationReason == .exit {
                    longest[version] = Date().timeIntervalSince(start) * 1_000_000
                    done += 1
                } else {
                    killed += 1
                }
                if try Self.isMigrated(store, version, rows, "seed \(seed), \(version), attempt \(attempt)") {
                    migrated += 1
                    break
                }
            }
        }
        print("\(killed) migrations were killed, \(done) ended before, \(migrated) stores were migrated.")
        #expect(migrated > 0, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test("A copy that is killed again and again goes on where it was, and does less than one and a half times the work")
    func resumption() throws {
        let rows = 400_000
        let store = try Self.filled(rows)
        var (written, runs, isDone) = (0, 0, false)
        while !isDone, runs < 100 {
            let (process, pipe) = Self.process("copied", store.url)
            try process.run()
            runs += 1
            var (text, own) = ("", 0)
            // Killed once it has written three batches more.
            while true {
                let more = pipe.fileHandleForReading.availableData
                if more.isEmpty { break }
                text += String(decoding: more, as: UTF8.self)
                own = text.split(separator: "\n").compactMap { Int($0) }.last ?? own
                if own >= 60_000, !text.contains("done"), own < rows { kill(process.processIdentifier, SIGKILL) }
            }
            process.waitUntilExit()
            isDone = text.contains("done")
            // At the end the progress counts what earlier runs have done as well.
            let counts = text.split(separator: "\n").compactMap { Int($0) }
            written += isDone ? counts.filter { $0 < rows }.last ?? 0 : own + 20_000
        }
        #expect(isDone && runs > 3)
        #expect(try Self.isMigrated(store, "copied", rows, "after \(runs) runs"))
        #expect(Double(written) <= 1.5 * Double(rows), "\(written) of \(rows) rows were written in \(runs) runs")
        try expect(store.files, equals: ["Store.sqlite"])
        print("\(runs) runs wrote \(written) of \(rows) rows.")
    }

    @Test(
        "A migration by a manager with a policy that is killed again and again goes on where it was, and does less than one and a half times the work"
    )
    func resumptionOfManagers() throws {
        let (rows, store) = (20_000, try MigratedStore())
        func run(_ command: String, _ place: URL, _ number: Int, killedAfter limit: Int = .max) throws -> (output: String, told: Int) {
            let (process, pipe) = Self.process(command, place, number)
            try process.run()
            var (text, told) = ("", 0)
            while true {
                let more = pipe.fileHandleForReading.availableData
                if more.isEmpty { break }
                text += String(decoding: more, as: UTF8.self)
                told = text.split(separator: "\n").compactMap { Int($0) }.last ?? told
                if told >= limit, !text.contains("done") { kill(process.processIdentifier, SIGKILL) }
            }
            process.waitUntilExit()
            return (text, told)
        }
        _ = try run("fill", store.url, rows)
        var (made, runs) = (0, 0)
        while runs < 20 {
            let (output, told) = try run("manage", store.url, 0, killedAfter: 8000)
            #expect(!output.contains("error"), "\(output)")
            runs += 1
            made += told
            if output.contains("done") { break }
        }
        #expect(runs > 1)
        #expect(Double(made) <= 1.5 * Double(rows), "\(made) of \(rows) rows were made in \(runs) runs")
        try expect(run("check", store.directory.appendingPathComponent("Store.sqlite.new"), rows).output, equals: "copied\n")
        try expect(run("check", store.url, rows).output, equals: "first\n")
    }

    @Test("A store that cannot be written on leaves the older version and an error", arguments: ["filled", "copied"])
    func fullDisk(version: String) throws {
        let rows = 60_000
        let store = try Self.filled(rows)
        try Database(store.url).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let size = try #require(FileManager.default.attributesOfItem(atPath: store.url.path)[.size] as? Int)
        for share in [0.02, 0.5, 0.9] {
            let (process, pipe) = Self.process(version, store.url, limit: max(1, Int(Double(size) * share) >> 10))
            try process.run()
            process.waitUntilExit()
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let isNew = try Self.isMigrated(store, version, rows, "\(share) of the size: \(output)")
            #expect(isNew == (process.terminationStatus == 0) && isNew == output.contains("done"))
            #expect(isNew || output.contains(store.url.lastPathComponent), "\(output)")
            #expect(try store.files.filter { $0.contains("migration") }.isEmpty)
            if isNew { break }
        }
    }

    @Test("A store that others have open is not migrated")
    func othersHaveItOpen() throws {
        let store = try Self.filled(10)
        store.options[NSPersistentStoreTimeoutOption] = NSNumber(value: 0)
        try store.open(WriterVersions.model("first")) { context in
            for copies in [false, true] {
                store.copies = copies
                do {
                    try store.migrate(WriterVersions.model("first"), WriterVersions.model("copied"))
                    Issue.record("It should fail.")
                } catch let error as NSError {
                    expect(error.code, equals: NSPersistentStoreTimeoutError)
                }
            }
            context.make("Item", ["value": 1])
            try context.save()
        }
        try store.migrate(WriterVersions.model("first"), WriterVersions.model("copied"))
        let count = try store.open(WriterVersions.model("copied")) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
        expect(count, equals: 11)
    }
}
