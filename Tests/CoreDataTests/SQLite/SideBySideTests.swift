import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// One file, read by several threads beside the one that writes.
@Suite struct SideBySideTests {
    /// A store with so many bands, named "0", and their IDs.
    private struct Setting {
        let pad: Scratchpad
        let coordinator: NSPersistentStoreCoordinator
        let store: SQLiteStore
        let ids: [NSManagedObjectID]

        init(_ count: Int, options: [AnyHashable: Any]? = nil) throws {
            pad = try Scratchpad()
            coordinator = try pad.coordinator(Music.model(), options: options)
            store = try #require(coordinator.persistentStores.first as? SQLiteStore)
            let context = Music.context(coordinator)
            ids = try context.performAndWait {
                let bands = (0..<count).map { _ in
                    let band = Band(context: context)
                    band.name = "0"
                    return band
                }
                try context.save()
                return bands.map(\.objectID)
            }
        }

        /// Does something in a context of its own.
        func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
            let context = Music.context(coordinator)
            return try context.performAndWait { try body(context) }
        }

        func name(_ id: NSManagedObjectID) throws -> String { try inContext { try #require($0.object(with: id) as? Band).name } }

        func cachedRow(_ id: NSManagedObjectID) throws -> Row? {
            let place = try #require(store.place(of: id))
            return store.cache.row(place.entity.rootNumber, place.key)
        }
    }

    /// Numbers that threads share.
    private final class Numbers: Sendable {
        private let lock = NSLock()
        nonisolated(unsafe) private var values: [Int]
        init(_ count: Int) { values = Array(repeating: 0, count: count) }
        subscript(index: Int) -> Int {
            get { lock.withLock { values[index] } }
            set { lock.withLock { values[index] = newValue } }
        }
    }

    @Test func faultsAndFetchesAreServedWhileASaveWaitsForTheFile() throws {
        nonisolated(unsafe) let setting = try Setting(20)
        try expect(setting.inContext { try $0.all(Band.self).count }, equals: 20)
        // Another connection keeps the save waiting.
        let other = try SQLiteFiles.connectForWriting(setting.pad.store, timeout: 5, creates: false)
        try other.execute("BEGIN IMMEDIATE")
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try setting.inContext { context in
                    (context.object(with: setting.ids[0]) as? Band)?.name = "1"
                    try context.save()
                }
            }
            isDone.signal()
        }
        while setting.store.writeLock.tryLock() {
            setting.store.writeLock.unlock()
            sched_yield()
        }
        #expect(try setting.cachedRow(setting.ids[1]) != nil)
        try expect(setting.name(setting.ids[1]), equals: "0")
        setting.store.forgetRow(of: setting.ids[2])
        try expect(setting.name(setting.ids[2]), equals: "0")
        try expect(setting.inContext { try $0.all(Band.self, "name == '0'").count }, equals: 20)
        try expect(setting.inContext { try $0.count(for: NSFetchRequest<Band>(entityName: "Band")) }, equals: 20)
        try other.execute("ROLLBACK")
        isDone.wait()
        try expect(setting.name(setting.ids[0]), equals: "1")
    }

    @Test func readersSeeWhatWasSavedBeforeTheyBegan() throws {
        let seed = TestSeed.current(for: "readersSeeWhatWasSavedBeforeTheyBegan")
        nonisolated(unsafe) let setting = try Setting(16)
        let saved = Numbers(16)
        try onOwnThreads(4) { thread in
            var random = SeededGenerator(seed: seed &+ UInt64(thread))
            let own = Music.context(setting.coordinator)
            for _ in 0..<150 {
                let index = Int.random(in: 0..<16, using: &random)
                if index % 4 == thread {
                    try own.performAndWait {
                        let band = try #require(own.object(with: setting.ids[index]) as? Band)
                        band.name = "\(saved[index] + 1)"
                        try own.save()
                    }
                    saved[index] += 1
                    continue
                }
                let known = saved[index]
                let found: String
                switch Int.random(in: 0..<4, using: &random) {
                case 0: found = try setting.name(setting.ids[index])
                case 1:
                    setting.store.forgetRow(of: setting.ids[index])
                    found = try setting.name(setting.ids[index])
                case 2:
                    found = try setting.inContext { context in
                        let bands = try context.all(Band.self)
                        return try #require(bands.first { $0.objectID == setting.ids[index] }).name
                    }
                default:
                    found = try setting.inContext { context in
                        // Faults in a row share a transaction.
                        for id in setting.ids { _ = (context.object(with: id) as? Band)?.name }
                        return try #require(context.object(with: setting.ids[index]) as? Band).name
                    }
                }
                #expect(try #require(Int(found)) >= known, "COREDATA_TEST_SEED=\(seed), thread \(thread)")
            }
        }
        for index in 0..<16 { try expect(setting.name(setting.ids[index]), equals: "\(saved[index])") }
    }

    @Test func deletedRowsComeNotBackByThoseWhoReadThemBefore() throws {
        let setting = try Setting(300)
        nonisolated(unsafe) let shared = setting
        let deleted = Numbers(1)
        try onOwnThreads(3) { thread in
            if thread > 0 {
                while deleted[0] < 300 {
                    try shared.inContext { context in _ = try context.all(Band.self).map(\.name) }
                    shared.store.cache.sweep()
                }
                return
            }
            for start in stride(from: 0, to: 300, by: 10) {
                defer { deleted[0] = start + 10 }
                try shared.inContext { context in
                    for id in shared.ids[start..<start + 10] { context.delete(context.object(with: id)) }
                    try context.save()
                }
                for id in shared.ids[start..<start + 10] {
                    let row = try shared.cachedRow(id)
                    #expect(row == nil)
                    let error = failure { _ = try shared.inContext { try $0.existingObject(with: id) } }
                    #expect(error != nil)
                }
            }
        }
        for id in setting.ids { #expect(try setting.cachedRow(id) == nil) }
    }

    @Test func twoWhoSaveTheSameUniqueValueAtOnceBothEndAsTheirPoliciesSay() throws {
        let pad = try Scratchpad()
        let word = NSEntityDescription(name: "Word", properties: [NSAttributeDescription(name: "text", type: .string)])
        word.uniquenessConstraints = [["text"]]
        let coordinator = try pad.coordinator(NSManagedObjectModel(entities: [word]))
        try onOwnThreads(4) { _ in
            for number in 0..<50 {
                let context = Music.context(coordinator)
                try context.performAndWait {
                    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    _ = context.insert("Word", ["text": "\(number)"])
                    try context.save()
                }
            }
        }
        try expect(pad.texts("SELECT count(*), count(DISTINCT ZTEXT) FROM ZWORD"), equals: [["50", "50"]])
    }

    @Test("All readers are lent, and who comes then waits", arguments: [nil, 1, 3])
    func allReadersAreLent(_ limit: Int?) throws {
        let setting = try Setting(1, options: limit.map { [NSPersistentStoreConnectionPoolMaxSizeKey: NSNumber(value: $0)] })
        nonisolated(unsafe) let shared = setting
        let size = limit ?? SQLReaderPool.standardSize
        let (taken, given) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<size {
            Thread.detachNewThread {
                #expect(throws: Never.self) {
                    try shared.store.reading { _ in
                        taken.signal()
                        given.wait()
                    }
                }
                ended.signal()
            }
        }
        for _ in 0..<size { taken.wait() }
        expect(setting.store.readerCount, equals: size)
        Thread.detachNewThread {
            let count = try? shared.inContext { try $0.all(Band.self).count }
            expect(count, equals: 1)
            ended.signal()
        }
        for _ in 0..<size { given.signal() }
        for _ in 0..<size + 1 { ended.wait() }
        expect(setting.store.readerCount, equals: size)
    }

    @Test func aBlockPredicateMayUseTheStoreThatRunsIt() throws {
        let setting = try Setting(5)
        nonisolated(unsafe) let shared = setting
        try onOwnThreads(4) { _ in
            try shared.inContext { context in
                let request = NSFetchRequest<Band>(entityName: "Band")
                request.allowsEvaluationInMemory = true
                request.predicate = NSPredicate { _, _ in
                    let other = Music.context(shared.coordinator)
                    return other.performAndWait { (try? other.all(Band.self, "name == '0'").count) == 5 }
                }
                let found = try context.fetch(request)
                expect(found.count, equals: 5)
            }
        }
    }

    @Test func aBlockPredicateThatSavesSeesWhatItHasSaved() throws {
        let setting = try Setting(3)
        try setting.inContext { context in
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.allowsEvaluationInMemory = true
            var counts: [Int] = []
            request.predicate = NSPredicate { _, _ in
                counts.append(
                    (try? setting.inContext { other in
                        try other.saveBand("new")
                        return try other.all(Band.self, "name == 'new'").count
                    }) ?? -1)
                return true
            }
            let found = try context.fetch(request)
            expect(found.count, equals: 3)
            expect(counts, equals: [1, 2, 3])
        }
    }

    @Test func aStoreThatIsRemovedWaitsForThoseWhoReadAndServesNobodyAfterwards() throws {
        let setting = try Setting(3)
        nonisolated(unsafe) let shared = setting
        let (taken, removing) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isRead = Numbers(1)
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try shared.store.reading { reader in
                    taken.signal()
                    removing.wait()
                    isRead[0] = try reader.database().texts("SELECT count(*) FROM ZBAND") == [["3"]] ? 1 : 2
                }
            }
        }
        taken.wait()
        removing.signal()
        try setting.coordinator.remove(setting.store)
        expect(isRead[0], equals: 1)
        let error = failure { _ = try setting.store.reading { _ in } }
        expect(error?.code, equals: NSPersistentStoreOperationError)
        #expect(try setting.cachedRow(setting.ids[0]) == nil)
        // The last connection took the log with it.
        #expect(!FileManager.default.fileExists(atPath: setting.pad.store.path + "-wal"))
    }

    @Test func aProgramThatReadsAndSavesInTurnNeedsOneConnectionAndOneThatDoesBothAtOnceGetsMore() throws {
        let setting = try Setting(3)
        for id in setting.ids {
            try setting.inContext { context in
                try expect(context.all(Band.self).count, equals: 3)
                (context.object(with: id) as? Band)?.name = "1"
                try context.save()
            }
        }
        expect(setting.store.readerCount, equals: 0)
        nonisolated(unsafe) let shared = setting
        setting.store.writeLock.lock()
        try onOwnThreads(2) { _ in
            let count = try shared.inContext { try $0.all(Band.self, "name == '1'").count }
            expect(count, equals: 3)
        }
        setting.store.writeLock.unlock()
        #expect(setting.store.readerCount <= SQLReaderPool.standardSize)
    }

    @Test func aFileThatWasExchangedForAnotherIsReadAsItWasOpened() throws {
        let setting = try Setting(2)
        try FileManager.default.moveItem(atPath: setting.pad.store.path, toPath: setting.pad.store.path + "-old")
        try FileManager.default.copyItem(atPath: #filePath, toPath: setting.pad.store.path)
        try expect(setting.inContext { try $0.all(Band.self).count }, equals: 2)
        try expect(setting.store.reading { try $0.database().texts("SELECT count(*) FROM ZBAND") }, equals: [["2"]])
        expect(setting.store.readerCount, equals: 0)
    }

    @Test func databasesWithoutASharedLogAreReadByTheirOneConnection() throws {
        for pragmas in [["journal_mode": "DELETE"], ["locking_mode": "EXCLUSIVE"]] {
            let setting = try Setting(2, options: [NSSQLitePragmasOption: pragmas])
            nonisolated(unsafe) let shared = setting
            try onOwnThreads(4) { _ in
                let names = try shared.inContext { try $0.all(Band.self).map(\.name) }
                expect(names, equals: ["0", "0"])
            }
            expect(setting.store.readerCount, equals: 0)
        }
    }

    @Test(
        "A store with pragmas of its own has readers beside the writing connection",
        arguments: [[:], ["cache_size": "100"], ["journal_mode": "WAL"]])
    func pragmasLeaveReaders(_ pragmas: [String: String]) throws {
        let setting = try Setting(2, options: [NSSQLitePragmasOption: pragmas])
        try expect(setting.store.reading { try $0.database().texts("SELECT count(*) FROM ZBAND") }, equals: [["2"]])
        #expect(setting.store.pool != nil)
    }
}
