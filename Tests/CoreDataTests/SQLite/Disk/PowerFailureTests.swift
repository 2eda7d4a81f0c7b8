import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// What a power failure takes, under both settings of `synchronous`, as a file system that keeps no order between syncs leaves it.
///
/// `COREDATA_TEST_SECONDS` says for how long, under each; `COREDATA_TEST_SEED` repeats what was printed.
@Suite(.serialized) struct PowerFailureTests {
    private static func model() -> NSManagedObjectModel {
        let number = NSAttributeDescription(name: "number", type: .integer64)
        let text = NSAttributeDescription(name: "text", type: .string)
        let page = NSEntityDescription(name: "Page", properties: [number, text])
        let book = NSEntityDescription(name: "Book", properties: [NSAttributeDescription(name: "saves", type: .integer64)])
        let pages = NSRelationshipDescription()
        let owner = NSRelationshipDescription()
        (pages.name, owner.name) = ("pages", "book")
        (pages.destinationEntity, owner.destinationEntity) = (page, book)
        (pages.inverseRelationship, owner.inverseRelationship) = (owner, pages)
        owner.maxCount = 1
        book.properties.append(pages)
        page.properties.append(owner)
        return NSManagedObjectModel(entities: [book, page])
    }

    /// The texts of the pages by their numbers.
    private typealias Contents = [Int: String]

    /// A store that was saved to, with the log of its disk.
    private struct Run {
        var events: [WatchedDisk.Event] = []
        /// The number of events when everything was on the disk, and no save was under way.
        var start = 0
        /// What the store holds after each save; the first is that of the start.
        var contents: [Contents] = []
        /// The number of events when each save was reported.
        var reported: [Int] = []

        /// How many saves were reported by an event.
        func saves(by event: Int) -> Int { reported.count { $0 <= event } }
    }

    private static func context(_ file: URL, _ pragmas: [String: Any]) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: [NSSQLitePragmasOption: pragmas])
        return Music.context(coordinator)
    }

    private static func run(_ setting: String, _ generator: inout SeededGenerator) throws -> Run {
        let pad = try Scratchpad()
        let disk = WatchedDisk(pad.url)
        defer { disk.forget() }
        var run = Run()
        let first = try Self.context(pad.store, [:])
        try first.performAndWait {
            _ = first.insert("Book", ["saves": 0])
            try first.save()
        }
        try close(first)
        run.contents.append([:])
        let pragmas: [String: Any] = ["synchronous": setting, "wal_autocheckpoint": Int.random(in: 5...200, using: &generator)]
        run.start = disk.eventCount
        let context = try Self.context(pad.store, pragmas)
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            var pages: [Int: NSManagedObject] = [:]
            var contents: Contents = [:]
            for save in 1...Int.random(in: 3...25, using: &generator) {
                book.setValue(save, forKey: "saves")
                for place in 0..<Int.random(in: 0...4, using: &generator) {
                    let number = save * 10 + place
                    let text = "\(number) " + String(repeating: "x", count: Int.random(in: 0...6000, using: &generator))
                    pages[number] = context.insert("Page", ["number": number, "text": text, "book": book])
                    contents[number] = text
                }
                for number in pages.keys.sorted() where Int.random(in: 0..<8, using: &generator) == 0 {
                    let page = try #require(pages[number])
                    if Bool.random(using: &generator) {
                        context.delete(page)
                        (pages[number], contents[number]) = (nil, nil)
                    } else {
                        contents[number] = "\(number) of save \(save)"
                        page.setValue(contents[number], forKey: "text")
                    }
                }
                try context.save()
                run.contents.append(contents)
                run.reported.append(disk.eventCount)
            }
        }
        try close(context)
        run.events = disk.events
        return run
    }

    private static func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Opens what a failure has left, and returns how many saves it holds.
    private static func savesLeft(_ files: [String: Data], _ run: Run, _ place: String) throws -> Int {
        let pad = try Scratchpad()
        for (name, data) in files { try data.write(to: pad.url.appendingPathComponent(name)) }
        let context = try Self.context(pad.store, [:])
        let saves = try context.performAndWait {
            let books = try context.all("Book")
            let saves = try #require(books.first?.value(forKey: "saves") as? Int, "\(place): there is no book")
            let pages = try context.all("Page")
            let found = Dictionary(
                pages.compactMap { page in (page.value(forKey: "number") as? Int).map { ($0, page.value(forKey: "text") as? String ?? "") }
                },
                uniquingKeysWith: { _, _ in "two" })
            #expect(books.count == 1 && found == run.contents[saves], "\(place): the save \(saves) is not whole")
            #expect(pages.allSatisfy { $0.value(forKey: "book") as? NSManagedObject === books[0] }, "\(place): a page has no book")
            // It can be written to again.
            _ = context.insert("Page", ["number": -1, "book": books[0]])
            try context.save()
            return saves
        }
        try close(context)
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]], "\(place): the file is damaged")
        return saves
    }

    @Test("The setting is the pragma's, NORMAL without one; one that SQLite does not have is an error")
    func settings() throws {
        func setting(_ pragmas: [String: Any]) throws -> String? {
            let pad = try Scratchpad()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: pad.store, options: [NSSQLitePragmasOption: pragmas])
            return try (store as? SQLiteStore)?.database().texts("PRAGMA synchronous").first?.first ?? nil
        }
        try expect(setting([:]), equals: "1")
        try expect(setting(["synchronous": "FULL"]), equals: "2")
        try expect(setting(["synchronous": "full"]), equals: "2")
        try expect(setting(["synchronous": 0]), equals: "0")
        expect(failure { _ = try setting(["synchronous": "EXTREME"]) }?.code, equals: NSPersistentStoreOpenError)
    }

    @Test(
        "A power failure under NORMAL takes saves since the last checkpoint, the last first; under FULL it takes none",
        arguments: ["NORMAL", "FULL"]) func powerFailures(_ setting: String) throws
    {
        let first = TestSeed.current(for: "powerFailures, \(setting)")
        var (cuts, lost, most, seeds) = (0, 0, 0, 0)
        for round in TestRounds(seconds: 5, atLeast: 3) {
            let seed = first &+ UInt64(round)
            seeds += 1
            var generator = SeededGenerator(seed: seed)
            let run = try Self.run(setting, &generator)
            for _ in 0..<20 {
                let cut = Int.random(in: run.start...run.events.count, using: &generator)
                let place = "COREDATA_TEST_SEED=\(seed) \(setting), event \(cut)"
                let files = PowerFailure(run.events[..<cut], settled: run.start).survivors(&generator)
                let left = try Self.savesLeft(files, run, place)
                let reported = run.saves(by: cut)
                // The log is synced before a checkpoint, and under FULL by each save.
                let synced = run.events[..<cut].lastIndex { if case .synced = $0 { true } else { false } } ?? 0
                #expect(left <= reported + 1, "\(place): there are \(left) saves of \(reported)")
                #expect(left >= (setting == "FULL" ? reported : run.saves(by: synced)), "\(place): there are \(left) saves of \(reported)")
                cuts += 1
                lost += max(0, reported - left)
                most = max(most, reported - left)
            }
        }
        print("powerFailures: \(setting), \(seeds) seeds, \(cuts) failures took \(lost) saves, \(most) at most at once")
        #expect(setting == "FULL" ? lost == 0 : lost > 0 || TestTime.rounds != nil, "COREDATA_TEST_SEED=\(first)")
    }
}
