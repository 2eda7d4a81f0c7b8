import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration

@Suite struct InterruptedMigrationTests {
    /// Copies of the unfinished files, as a process would leave them that is killed at that moment.
    private final class Snapshots {
        let folder: MappingFolder
        private(set) var places: [URL] = []
        init(of folder: MappingFolder) { self.folder = folder }

        func take() {
            let place = folder.url.appendingPathComponent("snapshot \(places.count)")
            guard (try? FileManager.default.copyItem(at: folder.unfinished, to: place)) != nil else { return }
            places.append(place)
        }

        /// Puts the files of a snapshot where a migration leaves them, and removes what else there is.
        func putBack(_ place: URL) throws {
            for url in [
                folder.unfinished, folder.new, URL(fileURLWithPath: folder.new.path + "-wal"),
                URL(fileURLWithPath: folder.new.path + "-shm"),
            ]
            where FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            try FileManager.default.copyItem(at: place, to: folder.unfinished)
        }
    }

    private static func manager(batches: Int = 3) -> NSMigrationManager {
        let manager = NSMigrationManager.library()
        manager.batchSize = batches
        return manager
    }

    private static func mapping() -> NSMappingModel {
        let mapping = LibraryVersions.mapping()
        for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = "CountingPolicy" }
        return mapping
    }

    /// Migrates, and takes the files before and after each save.
    private static func snapshots(_ folder: MappingFolder) throws -> Snapshots {
        let manager = manager()
        // The notifications are posted on the thread that migrates, which is this one.
        nonisolated(unsafe) let snapshots = Snapshots(of: folder)
        let names = [NSManagedObjectContext.willSaveObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager.destinationContext, queue: nil) { _ in snapshots.take() }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        try manager.migrate(folder, mapping())
        return snapshots
    }

    @Test("Wherever a migration is killed, the next one ends with the same rows, and does what is saved not again")
    func killed() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let snapshots = try Self.snapshots(folder)
        #expect(snapshots.places.count > 15)
        var resumed = 0
        for place in snapshots.places {
            try snapshots.putBack(place)
            let manager = Self.manager()
            try manager.migrate(folder, Self.mapping())
            try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected(), "\(place.lastPathComponent)")
            let made = manager.userInfo?["made"] as? Int ?? 0
            if manager.userInfo?["resumed"] as? Bool == true || made == 0 { resumed += 1 }
            #expect(made <= 26)
        }
        #expect(resumed > 14)
    }

    @Test("A journal that is torn, older or newer than the store leads to the same rows")
    func damagedJournals() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let snapshots = try Self.snapshots(folder)
        let seed = TestSeed.current(for: "InterruptedMigrationTests.damagedJournals")
        var random = SeededGenerator(seed: seed)
        func next(_ bound: Int) -> Int { random.below(bound) }
        for round in TestRounds(seconds: 3.1, atLeast: 6) {
            let place = snapshots.places[next(snapshots.places.count)]
            try snapshots.putBack(place)
            let journal = folder.unfinished.appendingPathComponent("journal")
            var bytes = Array(try Data(contentsOf: journal))
            switch round % 3 {
            case 0: bytes.removeLast(min(bytes.count, next(bytes.count)))
            case 1: for _ in 0...next(3) { bytes[next(bytes.count)] = UInt8(next(256)) }
            default: bytes = Array(try Data(contentsOf: snapshots.places[next(snapshots.places.count)].appendingPathComponent("journal")))
            }
            try Data(bytes).write(to: journal)
            try Self.manager().migrate(folder, Self.mapping())
            try expect(
                LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected(),
                "COREDATA_TEST_SEED=\(seed), \(place.lastPathComponent), round \(round)")
        }
    }

    @Test("A store that could not be moved into place is moved by the next migration, and one that was killed after that only tidies up")
    func moved() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[0].entityMigrationPolicyClassName = "BlockingPolicy"
        let first = Self.manager()
        first.userInfo = ["place": folder.new]
        expect(migrationFailure { try first.migrate(folder, mapping) }?.code, equals: NSMigrationManagerDestinationStoreError)
        try FileManager.default.removeItem(at: folder.new)
        let copy = folder.url.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: folder.unfinished, to: copy)
        let second = Self.manager()
        try second.migrate(folder, mapping)
        #expect(second.userInfo?["made"] == nil)
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected())
        try FileManager.default.copyItem(at: copy, to: folder.unfinished)
        let before = try Data(contentsOf: folder.new)
        let third = Self.manager()
        try third.migrate(folder, mapping)
        #expect(third.userInfo?["made"] == nil)
        try expect(Data(contentsOf: folder.new), equals: before)
        #expect(!FileManager.default.fileExists(atPath: folder.unfinished.path))
    }

    @Test("Another mapping model, or a policy that keeps state, begins again")
    func otherMappings() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let snapshots = try Self.snapshots(folder)
        let middle = snapshots.places[snapshots.places.count / 2]
        try snapshots.putBack(middle)
        let other = Self.mapping()
        other.entityMappings[1].attributeMappings?[1].valueExpression = CoreData.NSExpression(format: "$source.price * 1000")
        let manager = Self.manager()
        try manager.migrate(folder, other)
        expect(manager.userInfo?["made"] as? Int, equals: 26)
        #expect(try LibraryVersions.lines(at: folder.new)[1].contains(" 1500 "))
        #expect(!GenrePolicy().canResume)
        #expect(CountingPolicy().canResume)
    }

    @Test("Associations of objects without numbers are noted by their URIs")
    func uris() throws {
        let record = MigrationJournal.Record(
            sequence: 7, step: MigrationStep(pass: .relationships, mapping: 1, position: 12, isEnded: false),
            pairs: [
                .init(mapping: 0, ids: .numbers(source: "A", destination: "B", [1, 2], [3, 4])),
                .init(mapping: 1, ids: .uris(["x-coredata://one/A/p1"], ["x-coredata://two/B/tü"])),
            ])
        let folder = try MappingFolder()
        let url = folder.url.appendingPathComponent("journal")
        var journal = try MigrationJournal.create(at: url, fingerprint: "all that matters")
        try journal.append(record)
        try journal.append(record)
        try journal.close()
        let contents = try #require(MigrationJournal.read(url))
        expect(contents.fingerprint, equals: "all that matters")
        expect(contents.records, equals: [record, record])
        var continued = try MigrationJournal.open(url, length: contents.ends[0])
        try continued.append(record)
        try continued.close()
        expect(MigrationJournal.read(url)?.records, equals: [record, record])
        #expect(MigrationJournal.read(folder.url) == nil)
    }
}

/// Counts the objects that it makes.
final class CountingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        var info = manager.userInfo ?? [:]
        info["made"] = (info["made"] as? Int ?? 0) + 1
        info["resumed"] = manager.isResuming
        manager.userInfo = info
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

/// Puts a folder where the new store is to be.
final class BlockingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        manager.userInfo = (manager.userInfo ?? [:]).merging(["made": true]) { $1 }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        guard let place = manager.userInfo?["place"] as? URL else { return }
        try FileManager.default.createDirectory(at: place.appendingPathComponent("full"), withIntermediateDirectories: true)
    }
}
