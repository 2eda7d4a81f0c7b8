import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// A disk that is really full, and one that can only be read. `Scripts/check-disks` mounts a small one and names it; it needs the superuser.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["COREDATA_SMALL_DISK"] != nil, "Scripts/check-disks runs these"))
struct DiskTests {
    private static var disk: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_SMALL_DISK"] ?? "") }

    private static func model() -> NSManagedObjectModel {
        let data = NSAttributeDescription(name: "data", type: .binaryData)
        data.allowsExternalBinaryDataStorage = true
        return NSManagedObjectModel(
            entities: [NSEntityDescription(name: "Note", properties: [NSAttributeDescription(name: "text", type: .string), data])])
    }

    private static func context(_ file: URL, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
        return Music.context(coordinator)
    }

    /// A directory of its own on the disk.
    private static func folder() throws -> ScratchFolder { try ScratchFolder("disk", in: disk) }

    /// Takes all room but so many bytes.
    private static func fill(_ folder: URL, leaving rest: Int) throws -> URL {
        let ballast = folder.appendingPathComponent("ballast")
        try Data().write(to: ballast)
        let handle = try FileHandle(forWritingTo: ballast)
        defer { try? handle.close() }
        let free = try FileManager.default.attributesOfFileSystem(forPath: folder.path)[.systemFreeSize] as? NSNumber
        try handle.write(contentsOf: Data(count: max(0, (free?.intValue ?? 0) - rest)))
        return ballast
    }

    private static func texts(_ context: NSManagedObjectContext) throws -> Set<String> {
        Set(try context.all("Note").compactMap { $0.value(forKey: "text") as? String })
    }

    @Test(arguments: [0, 8_192, 40_000]) func aFullDiskFailsTheSaveAndLosesNothing(_ rest: Int) throws {
        let folder = try Self.folder()
        defer { folder.remove() }
        let file = folder.file("store.sqlite")
        let context = try Self.context(file)
        try context.performAndWait {
            _ = context.insert("Note", ["text": "saved"])
            try context.save()
            let ballast = try Self.fill(folder.url, leaving: rest)
            for number in 0..<200 { _ = context.insert("Note", ["text": "\(number) " + String(repeating: "x", count: 1000)]) }
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue, "\(error)")
            #expect(error.localizedDescription.contains(file.path))
            expect(context.insertedObjects.count, equals: 200)
            // Another reads what was saved, on the full disk.
            let other = try Self.context(file, options: [NSReadOnlyPersistentStoreOption: true])
            let texts = try other.performAndWait { try Self.texts(other) }
            expect(texts, equals: ["saved"])
            try FileManager.default.removeItem(at: ballast)
            try context.save()
        }
        let again = try Self.context(file)
        let count = try again.performAndWait { try Self.texts(again).count }
        expect(count, equals: 201)
        try expect(SQLiteFiles.connectForReading(file, timeout: 5).texts("PRAGMA integrity_check"), equals: [["ok"]])
    }

    @Test func aFullDiskHasNoRoomForALargeValueAndKeepsTheOldOne() throws {
        let folder = try Self.folder()
        defer { folder.remove() }
        let file = folder.file("store.sqlite")
        let context = try Self.context(file)
        let (old, new) = (Data(repeating: 1, count: 200_000), Data(repeating: 2, count: 300_000))
        try context.performAndWait {
            let note = context.insert("Note", ["text": "a", "data": old])
            try context.save()
            let ballast = try Self.fill(folder.url, leaving: 150_000)
            note.setValue(new, forKey: "data")
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue, "\(error)")
            let other = try Self.context(file, options: [NSReadOnlyPersistentStoreOption: true])
            let data = try other.performAndWait { try other.all("Note").first?.value(forKey: "data") as? Data }
            expect(data, equals: old)
            let files = folder.file(".store_SUPPORT/_EXTERNAL_DATA").path
            try expect(FileManager.default.contentsOfDirectory(atPath: files).count, equals: 1)
            try FileManager.default.removeItem(at: ballast)
            try context.save()
            try expect(FileManager.default.contentsOfDirectory(atPath: files).count, equals: 1)
        }
        let again = try Self.context(file)
        let data = try again.performAndWait { try again.all("Note").first?.value(forKey: "data") as? Data }
        expect(data, equals: new)
    }

    @Test func aFullDiskHasNoRoomForANewStoreAndKeepsNothingOfIt() throws {
        let folder = try Self.folder()
        defer { folder.remove() }
        let file = folder.file("store.sqlite")
        let ballast = try Self.fill(folder.url, leaving: 4096)
        let error = try #require(failure { _ = try Self.context(file) })
        expect(error.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue, "\(error)")
        try FileManager.default.removeItem(at: ballast)
        let context = try Self.context(file)
        try context.performAndWait {
            _ = context.insert("Note", ["text": "a"])
            try context.save()
        }
    }

    private static func mount(_ mode: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["mount", "-o", "remount,\(mode)", disk.path]
        try process.run()
        process.waitUntilExit()
        expect(process.terminationStatus, equals: 0)
    }

    /// With the log emptied and with rows that only the log has.
    @Test(arguments: [true, false]) func aDiskThatCanOnlyBeReadIsReadAndRefusesToBeWritten(_ isClosed: Bool) throws {
        let folder = try Self.folder()
        let file = folder.file("store.sqlite")
        let keeper = try Self.context(file)
        try keeper.performAndWait {
            _ = keeper.insert("Note", ["text": "a", "data": Data(repeating: 1, count: 200_000)])
            try keeper.save()
        }
        let copy = folder.file("copy.sqlite")
        if !isClosed {
            // The log stays as it is when it is not the last connection that lets go.
            try FileManager.default.copyItem(at: file, to: copy)
            try FileManager.default.copyItem(atPath: file.path + "-wal", toPath: copy.path + "-wal")
            let support = folder.file(".store_SUPPORT")
            try FileManager.default.copyItem(at: support, to: folder.file(".copy_SUPPORT"))
        }
        let place = isClosed ? file : copy
        try keeper.performAndWait {
            let coordinator = try #require(keeper.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        try Self.mount("ro")
        defer {
            try? Self.mount("rw")
            folder.remove()
        }
        let reader = try Self.context(place, options: [NSReadOnlyPersistentStoreOption: true])
        try reader.performAndWait {
            let note = try #require(try reader.all("Note").first)
            expect((note.value(forKey: "data") as? Data)?.count, equals: 200_000)
            note.setValue("changed", forKey: "text")
            #expect(failure { try reader.save() } != nil)
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place)
        #expect(metadata[NSStoreUUIDKey] as? String != nil)
        let error = try #require(
            failure {
                let writer = try Self.context(place)
                try writer.performAndWait {
                    _ = writer.insert("Note", ["text": "b"])
                    try writer.save()
                }
            })
        expect(error.code, equals: CocoaError.Code.fileWriteNoPermission.rawValue, "\(error)")
        #expect(error.localizedDescription.contains(place.path))
    }
}
