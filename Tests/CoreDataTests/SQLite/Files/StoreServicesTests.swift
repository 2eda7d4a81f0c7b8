import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Stores are moved, replaced, backed up and destroyed.
@Suite struct StoreServicesTests {
    /// A band with albums, tracks in order and tags.
    private static func fill(_ context: NSManagedObjectContext) throws {
        let band = try context.saveBand("Can", albums: ["Tago Mago", "Ege Bamyasi"])
        let duo = context.insert("Duo", ["name": "Cluster", "second": "Roedelius"])
        let album = try #require(band.albums.first { $0.title == "Tago Mago" })
        album.tracks = NSOrderedSet(array: ["Paperhouse", "Mushroom", "Oh Yeah"].map { context.insert("Track", ["title": $0]) })
        let tag = context.insert("Tag", ["label": "kraut"])
        for album in band.albums { album.mutableSetValue(forKey: "tags").add(tag) }
        album.setValue(album.tracks?.array[1], forKey: "hit")
        (album.tracks?.array[0] as? NSManagedObject)?.mutableSetValue(forKey: "guests").add(duo)
        try context.save()
    }

    /// Everything that the stores hold, in words.
    private static func content(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = Music.context(coordinator)
        return try context.performAndWait {
            var lines: [String] = []
            for band in try context.all(Band.self, nil, by: "name") {
                lines.append("\(band.entity.name ?? "") \(band.name) \(band.value(forKey: "founded") ?? "nil")")
                for album in band.albums.sorted(by: { $0.title < $1.title }) {
                    let tracks = album.tracks?.array.compactMap { $0 as? NSManagedObject } ?? []
                    let hit = (album.value(forKey: "hit") as? NSManagedObject)?.value(forKey: "title") as? String
                    lines.append("\(album.title) \(album.year) \(album.tags.map { $0.label ?? "" }) \(hit ?? "none")")
                    for track in tracks {
                        let guests = (track.value(forKey: "guests") as? Set<Band>)?.map(\.name) ?? []
                        lines.append("\(track.value(forKey: "title") ?? "nil") \(guests)")
                    }
                }
            }
            return lines
        }
    }

    private static let expected = [
        "Band Can nil", "Ege Bamyasi 2001 [\"kraut\"] none", "Tago Mago 2001 [\"kraut\"] Mushroom", "Paperhouse [\"Cluster\"]",
        "Mushroom []",
        "Oh Yeah []", "Duo Cluster nil",
    ]

    @Test func aStoreMovesBetweenMemoryAndFilesWithEverythingInIt() throws {
        let pad = try Scratchpad()
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        try context.performAndWait { try Self.fill(context) }
        let memory = coordinator.persistentStores[0]
        memory.metadata["origin"] = "memory"
        try expect(Self.content(coordinator), equals: Self.expected)

        let file = try coordinator.migratePersistentStore(memory, to: pad.store, options: nil, type: .sqlite)
        expect(coordinator.persistentStores, equals: [file])
        #expect(memory.persistentStoreCoordinator == nil)
        #expect(file.identifier != memory.identifier)
        expect(file.metadata["origin"] as? String, equals: "memory")
        try expect(Self.content(coordinator), equals: Self.expected)
        let again = try Self.content(pad.coordinator(Music.model()))
        expect(again, equals: Self.expected)

        let place = pad.url.appendingPathComponent("second.sqlite")
        let second = try coordinator.migratePersistentStore(file, to: place, options: nil, withType: NSSQLiteStoreType)
        expect(second.identifier, equals: file.identifier)
        expect(second.url, equals: place)
        try expect(Self.content(coordinator), equals: Self.expected)
        #expect(FileManager.default.fileExists(atPath: pad.store.path))

        let back = try coordinator.migratePersistentStore(second, to: place, options: nil, type: .inMemory)
        expect(coordinator.persistentStores, equals: [back])
        try expect(Self.content(coordinator), equals: Self.expected)
        let files = try FileManager.default.contentsOfDirectory(atPath: pad.url.path)
        #expect(files.allSatisfy { !$0.hasPrefix(".") }, "\(files)")
    }

    @Test func aStoreStaysWhereItIsWhenItCannotBeMoved() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait { try Self.fill(context) }
        let store = coordinator.persistentStores[0]
        let taken = pad.url.appendingPathComponent("taken.sqlite")
        try Data("mine".utf8).write(to: taken)
        let error = failure { try coordinator.migratePersistentStore(store, to: taken, type: .sqlite) }
        expect(error?.code, equals: CocoaError.Code.fileWriteFileExists.rawValue)
        try expect(Data(contentsOf: taken), equals: Data("mine".utf8))
        let nowhere = taken.appendingPathComponent("below/a/file.sqlite")
        #expect(failure { try coordinator.migratePersistentStore(store, to: nowhere, type: .sqlite) } != nil)
        // The copy is there, and cannot be opened this way.
        let bad = pad.url.appendingPathComponent("bad.sqlite")
        let pragmas: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 1, NSPersistentHistoryTrackingKey: true]
        try context.performAndWait {
            try (store as? SQLiteStore)?.database().execute("CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)")
        }
        #expect(failure { try coordinator.migratePersistentStore(store, to: bad, options: pragmas, type: .sqlite) } != nil)
        #expect(!FileManager.default.fileExists(atPath: bad.path))
        expect(coordinator.persistentStores.map(\.url), equals: [pad.store])
        try expect(Self.content(coordinator), equals: Self.expected)
    }

    @Test func aBackupIsMadeOfAStoreThatIsOpenAndBringsItBack() throws {
        let pad = try Scratchpad()
        let backup = pad.url.appendingPathComponent("backup.sqlite")
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait { try Self.fill(context) }
        try coordinator.replacePersistentStore(at: backup, withPersistentStoreFrom: pad.store, type: .sqlite)
        try context.performAndWait {
            for band in try context.all(Band.self) { band.name = "gone" }
            try context.save()
        }
        expect(
            failure { try coordinator.replacePersistentStore(at: pad.store, withPersistentStoreFrom: backup, type: .sqlite) }?.code,
            equals: NSPersistentStoreOperationError)
        // Another coordinator that has it open sees what was put there.
        let reader = try pad.coordinator(Music.model())
        #expect(try Self.content(reader) != Self.expected)
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.replacePersistentStore(at: pad.store, withPersistentStoreFrom: backup, type: .sqlite)
        try expect(Self.content(reader), equals: Self.expected)
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }

    @Test func aDamagedStoreIsReplacedAndADamagedBackupReplacesNothing() throws {
        let pad = try Scratchpad()
        let backup = pad.url.appendingPathComponent("backup.sqlite")
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait { try Self.fill(context) }
        try coordinator.replacePersistentStore(at: backup, withPersistentStoreFrom: pad.store, type: .sqlite)
        try coordinator.remove(coordinator.persistentStores[0])
        let junk = pad.url.appendingPathComponent("junk.sqlite")
        try Data(repeating: 0x5A, count: 9000).write(to: junk)
        let before = try Data(contentsOf: pad.store)
        let error = failure { try coordinator.replacePersistentStore(at: pad.store, withPersistentStoreFrom: junk, type: .sqlite) }
        expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        expect(error?.localizedDescription.contains(junk.path), equals: true)
        try expect(Data(contentsOf: pad.store), equals: before)
        try Data(repeating: 0x5A, count: 9000).write(to: pad.store)
        try coordinator.replacePersistentStore(at: pad.store, withPersistentStoreFrom: backup, type: .sqlite)
        let restored = try Self.content(pad.coordinator(Music.model()))
        expect(restored, equals: Self.expected)
    }

    @Test func destroyingTakesEverythingAndNothingThatIsInUse() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait { try Self.fill(context) }
        let external = try #require(SQLiteFiles.externalFiles(of: pad.store))
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        try Data([1]).write(to: external.appendingPathComponent("value"))
        let other = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.05]
        let inUse = failure { try other.destroyPersistentStore(at: pad.store, type: .sqlite, options: options) }
        expect(inUse?.code, equals: NSPersistentStoreTimeoutError)
        try expect(Self.content(coordinator), equals: Self.expected)
        try coordinator.remove(coordinator.persistentStores[0])
        try other.destroyPersistentStore(at: pad.store, type: .sqlite, options: options)
        try expect(FileManager.default.contentsOfDirectory(atPath: pad.url.path), equals: [pad.store.lastPathComponent])
        #expect(try Data(contentsOf: pad.store).isEmpty)
        try other.destroyPersistentStore(at: pad.store, type: .sqlite)
    }

    @Test func valuesInFilesOfTheirOwnGoWithTheStore() throws {
        let pad = try Scratchpad()
        let picture = NSAttributeDescription(name: "bytes", type: .binaryData)
        picture.allowsExternalBinaryDataStorage = true
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Picture", properties: [picture])])
        let coordinator = try pad.coordinator(model)
        let context = Music.context(coordinator)
        try context.performAndWait {
            _ = context.insert("Picture", ["bytes": Data([9])])
            try context.save()
        }
        let external = try #require(SQLiteFiles.externalFiles(of: pad.store))
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: external.appendingPathComponent("A-B"))
        try pad.execute("UPDATE ZPICTURE SET ZBYTES = X'02412D4200'")
        let place = pad.url.appendingPathComponent("moved.sqlite")
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: place, type: .sqlite)
        let moved = Music.context(coordinator)
        let bytes = try moved.performAndWait { try moved.all("Picture").map { $0.value(forKey: "bytes") as? Data } }
        expect(bytes, equals: [Data([1, 2, 3])])
    }
}
