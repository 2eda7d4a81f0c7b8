import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Processes that are killed while they save, and several that write at once.
@Suite(.serialized) struct DurabilityTests {
    /// The program beside the tests.
    private static func writer(_ arguments: String...) throws -> Process {
        let process = BuiltProgram.storeWriter(arguments)
        return process
    }

    /// Reads lines from a pipe, one at a time.
    private struct Lines {
        let handle: FileHandle
        var rest = Data()

        mutating func next() -> String? {
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[(end + 1)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                let more = handle.availableData
                if more.isEmpty { return nil }
                rest += more
            }
        }
    }

    @Test func whatAKilledProcessHasSavedIsThereWholeAndNothingElse() throws {
        let seed = TestSeed.current(for: "DurabilityTests.whatAKilledProcessHasSavedIsThereWholeAndNothingElse")
        var generator = SeededGenerator(seed: seed)
        let pad = try Scratchpad()
        var reported: Int64 = 0
        for round in TestRounds(seconds: 1.5, atLeast: 8) {
            let process = try Self.writer("save", pad.store.path, "\(reported + 2)")
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            var lines = Lines(handle: pipe.fileHandleForReading)
            // Some are killed while they open the store, the others after some saves and a little later.
            let wanted = Int.random(in: 0...6, using: &generator)
            let first = reported + 2
            var last = reported
            for _ in 0..<wanted {
                guard let line = lines.next(), let number = Int64(line) else { break }
                last = number
            }
            usleep(UInt32.random(in: 0...(wanted == 0 ? 60_000 : 4000), using: &generator))
            kill(process.processIdentifier, SIGKILL)
            while let line = lines.next() {
                guard let number = Int64(line) else {
                    Issue.record("COREDATA_TEST_SEED=\(seed), round \(round): \(line)")
                    break
                }
                last = number
            }
            process.waitUntilExit()
            expect(
                process.terminationReason, equals: .uncaughtSignal,
                "COREDATA_TEST_SEED=\(seed), round \(round): it ended by itself, with \(process.terminationStatus)")
            try check(pad, from: first, to: last, "COREDATA_TEST_SEED=\(seed), round \(round)")
            reported = max(last, first)
        }
    }

    /// Checks the store after a kill: `first...last` were reported, and one more may have been saved without being reported.
    private func check(_ pad: Scratchpad, from first: Int64, to last: Int64, _ place: String) throws {
        guard FileManager.default.fileExists(atPath: pad.store.path) else {
            #expect(last < first, "\(place): the store is gone")
            return
        }
        // Opening it mends what was left open.
        let coordinator = try pad.coordinator(WriterModel.make(), options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]], "\(place)")
        let context = Music.context(coordinator)
        let found: Set<Int64> = try context.performAndWait {
            var found: Set<Int64> = []
            let request = NSFetchRequest<NSManagedObject>(entityName: "Batch")
            request.predicate = NSPredicate(format: "number >= %@", NSNumber(value: first))
            for batch in try context.fetch(request) {
                let number = try #require(batch.value(forKey: "number") as? Int64)
                let values =
                    (batch.value(forKey: "items") as? Set<NSManagedObject>)?.compactMap { $0.value(forKey: "value") as? Int64 } ?? []
                let size = 1 + number * 7 % 23
                expect(values.sorted(), equals: (0..<size).map { number * 1000 + $0 }, "\(place): batch \(number) is not whole")
                found.insert(number)
            }
            for batch in try context.fetch(request) {
                let number = try #require(batch.value(forKey: "number") as? Int64)
                // The save of the next batch has changed this one.
                expect(
                    batch.value(forKey: "next") as? Int64, equals: (found.contains(number + 1) ? number + 1 : nil), "\(place): \(number)")
            }
            return found
        }
        let whole = first <= last ? Set(first...last) : []
        #expect(found.isSuperset(of: whole), "\(place): \(whole.subtracting(found)) were reported and are gone")
        #expect(found.subtracting(whole).isSubset(of: [max(last + 1, first)]), "\(place): \(found.subtracting(whole)) were not saved")
        try expect(pad.texts("SELECT count(*) FROM ZITEM WHERE ZBATCH NOT IN (SELECT Z_PK FROM ZBATCH)"), equals: [["0"]], "\(place)")
        for (table, name) in [
            ("ZBATCH", "Batch"), ("ZITEM", "Item"), ("ACHANGE", "CHANGE"), ("ATRANSACTION", "TRANSACTION"),
            ("ATRANSACTIONSTRING", "TRANSACTIONSTRING"),
        ] {
            let sql = "SELECT Z_MAX >= (SELECT ifnull(max(Z_PK), 0) FROM \(table)) FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'"
            try expect(pad.texts(sql), equals: [["1"]], "\(place): Z_MAX of \(name)")
        }
        // Every batch has its transaction, with a change for each of its rows.
        let strays = try pad.texts("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)")
        expect(strays, equals: [["0"]], "\(place)")
        try expect(
            pad.texts("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 0"),
            equals: pad.texts("SELECT (SELECT count(*) FROM ZBATCH) + (SELECT count(*) FROM ZITEM)"), "\(place)")
    }

    @Test func severalProcessesLoseNothingOfWhatEachOfThemCounts() throws {
        let pad = try Scratchpad()
        let context = Music.context(try pad.coordinator(WriterModel.make()))
        try context.performAndWait {
            _ = context.insert("Counter", ["value": 0])
            try context.save()
        }
        let processes = try (0..<4).map { _ in
            let process = try Self.writer("count", pad.store.path, "25")
            process.standardOutput = Pipe()
            try process.run()
            return process
        }
        for process in processes {
            process.waitUntilExit()
            expect(process.terminationStatus, equals: 0)
        }
        try expect(pad.texts("SELECT ZVALUE, Z_OPT FROM ZCOUNTER"), equals: [["100", "101"]])
        try expect(pad.texts("SELECT count(*), max(Z_PK) FROM ATRANSACTION"), equals: [["100", "100"]])
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }
}
