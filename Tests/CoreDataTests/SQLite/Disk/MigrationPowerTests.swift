import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// What a power failure leaves of a store that is being migrated, on a file system that keeps no order between syncs.
///
/// `COREDATA_TEST_SECONDS` says for how long; `COREDATA_TEST_SEED` repeats what was printed.
@Suite(.serialized) struct MigrationPowerTests {
    private static func model(isNew: Bool, copies: Bool) -> NSManagedObjectModel {
        let number = NSAttributeDescription(name: "number", type: isNew && copies ? .double : .integer64)
        let text = NSAttributeDescription(name: isNew ? "label" : "text", type: .string)
        if isNew { text.renamingIdentifier = "text" }
        let mark = NSAttributeDescription(name: "mark", type: .integer32, isOptional: !isNew, defaultValue: isNew ? 7 : nil)
        let gone = NSAttributeDescription(name: isNew ? "fresh" : "gone", type: .string)
        let page = NSEntityDescription(name: "Page", properties: [number, text, mark, gone])
        page.indexes = [
            NSFetchIndexDescription(name: "byNumber", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
        ]
        return NSManagedObjectModel(entities: [page])
    }

    /// How a store is migrated: in place, into a copy that takes its place, or elsewhere and then moved there, as a chain of steps is.
    enum Way: CaseIterable { case inPlace, copied, moved }

    private static func migrate(_ pad: Scratchpad, _ way: Way) throws {
        let (old, new) = (model(isNew: false, copies: way == .copied), model(isNew: true, copies: way == .copied))
        let mapping = try InferredMapping.infer(from: old, to: new)
        let place = way == .moved ? pad.url.appendingPathComponent("other-migration") : pad.store
        let stamp = way == .moved ? try SQLiteStore.stampOfFiles(at: pad.store, options: nil) : ""
        if way == .moved { try SQLiteStore.copyClosedFiles(from: pad.store, to: place, options: nil) }
        try SQLiteStore.migrateFiles(at: place, options: nil, from: old, to: new, by: mapping, rules: MigrationRules(), progress: nil)
        if way == .moved {
            let isMoved = try SQLiteStore.moveFiles(from: place, to: pad.store, options: nil, replacing: stamp)
            #expect(isMoved)
        }
    }

    private static func store(_ pad: Scratchpad, isNew: Bool, copies: Bool) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(isNew: isNew, copies: copies))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: pad.store, options: nil)
        return Music.context(coordinator)
    }

    private static func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Checks that what is left is the older version or the newer one, whole. Returns whether it is the newer one.
    private static func isMigrated(_ files: [String: Data], _ rows: Int, copies: Bool, _ place: String) throws -> Bool {
        let pad = try Scratchpad()
        for (name, data) in files { try data.write(to: pad.url.appendingPathComponent(name)) }
        let metadata = try SQLiteStore.metadataForPersistentStore(with: pad.store)
        let isNew = model(isNew: true, copies: copies).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        let context = try store(pad, isNew: isNew, copies: copies)
        try context.performAndWait {
            let pages = try context.all("Page")
            let sum = pages.reduce(0) {
                $0
                    + ((($1.value(forKey: "number") as? NSNumber)?.intValue ?? ($1.value(forKey: "number") as? Int))
                        ?? ($1.value(forKey: "number") as? Double).map { Int($0) } ?? 0)
            }
            #expect(pages.count == rows && sum == rows * (rows - 1) / 2, "\(place): \(pages.count) rows are left")
            let key = isNew ? "label" : "text"
            #expect(pages.allSatisfy { ($0.value(forKey: key) as? String)?.hasPrefix("page") ?? false }, "\(place): a text is gone")
            if isNew { #expect(pages.allSatisfy { "\($0.value(forKey: "mark") ?? "")" == "7" }, "\(place): a value is missing") }
        }
        try close(context)
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]], "\(place): the file is damaged")
        return isNew
    }

    @Test(
        "A power failure leaves the older version or the newer one whole, and the newer one once the migration has returned",
        arguments: Way.allCases)
    func powerFailures(way: Way) throws {
        let copies = way == .copied
        let first = TestSeed.current(for: "MigrationPowerTests, \(way)")
        var (cuts, migrated) = (0, 0)
        for round in TestRounds(seconds: 2.7, atLeast: 2) {
            let seed = first &+ UInt64(round)
            var generator = SeededGenerator(seed: seed)
            let pad = try Scratchpad()
            let disk = WatchedDisk(pad.url)
            defer { disk.forget() }
            let rows = Int.random(in: 1...400, using: &generator)
            let context = try Self.store(pad, isNew: false, copies: copies)
            try context.performAndWait {
                for number in 0..<rows {
                    let text = "page \(number) " + String(repeating: "x", count: Int.random(in: 0...900, using: &generator))
                    _ = context.insert("Page", ["number": number, "text": text, "gone": text])
                }
                try context.save()
            }
            try Self.close(context)
            let start = disk.eventCount
            try disk.watchingMoves { try Self.migrate(pad, way) }
            let events = disk.events
            for turn in 0..<12 {
                // The last of them fail once the migration has returned.
                // Some fall upon the calls by which the copy gets to its place.
                let first = turn > 5 ? max(start, events.count - 12) : start
                let cut = turn > 9 ? events.count : Int.random(in: first..<events.count, using: &generator)
                let place = "COREDATA_TEST_SEED=\(seed) \(way), event \(cut)"
                var files = PowerFailure(events[..<cut], settled: start).survivors(&generator)
                files = files.filter { !$0.key.contains("-migration") || Bool.random(using: &generator) }
                let isNew = try Self.isMigrated(files, rows, copies: copies, place)
                #expect(isNew || cut < events.count, "\(place): the migration is lost")
                cuts += 1
                migrated += isNew ? 1 : 0
            }
        }
        print("MigrationPowerTests: \(way), \(cuts) failures left the newer version \(migrated) times")
    }
}
