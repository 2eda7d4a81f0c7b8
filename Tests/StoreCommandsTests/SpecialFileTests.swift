import CoreData
import Foundation
import TestSupport
import Testing

@testable import StoreCommands

/// Pipes, devices and lists that grow, in the place of files.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct SpecialFileTests {
    private let pad: Pad
    private let store: String

    init() throws {
        pad = try Pad()
        store = pad.file("s.sqlite").path
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let file = pad.file("s.sqlite")
        let opened = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<3 { NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("a", forKey: "title") }
            try context.save()
        }
        try coordinator.remove(opened)
    }

    private static func model() -> NSManagedObjectModel {
        let album = NSEntityDescription(name: "Album")
        album.properties = [NSAttributeDescription(name: "title", type: .string)]
        let work = NSEntityDescription(name: "Work")
        return NSManagedObjectModel(entities: [album, work])
    }

    private func error(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch { return (error as NSError).localizedDescription }
    }

    @Test(arguments: ["x.csv", "x.json"]) func aDeviceIsNotImported(name: String) throws {
        let link = pad.file(name)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/dev/zero")
        let text = error { _ = try StoreImport.run(link.path, into: store, model: nil, writes: true) }
        #expect(text.contains("It is a device"), "\(text)")
    }

    @Test func anEntityAboveItselfIsAnErrorOfTheFile() throws {
        try Plain.execute("UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 - Z_ENT; DELETE FROM Z_MODELCACHE", pad.file("s.sqlite"))
        let text = error { _ = try StoreReference(store).open() }
        #expect(text.contains("inherits from itself"), "\(text)")
    }

    /// Each list names the next twice: thirty of them are a thousand million values.
    @Test func aListThatGrowsWithEachLevelIsAnErrorOfTheFile() throws {
        let levels = 60
        var objects: [[UInt8]] = [[0xD1, UInt8(levels + 1), 1]]
        for index in 0..<levels { objects.append(index < levels - 1 ? [0xA2, UInt8(index + 2), UInt8(index + 2)] : [0x51, 0x61]) }
        objects.append([0x51, 0x6B])
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1] + number(objects.count) + number(0) + number(table)
        let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try Plain.execute("UPDATE Z_METADATA SET Z_PLIST = x'\(text)'", pad.file("s.sqlite"))
        let found = error { _ = try StoreReference(store).open() }
        #expect(found.contains("Z_PLIST cannot be read"), "\(found)")
    }
}
