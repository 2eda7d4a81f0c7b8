import CoreData
import Foundation
import TestSupport
import Testing

/// Stores whose model is merged from several, in files of each kind.
@Suite("Migration of stores of merged models") struct MergedModelTests {
    private let shop: Workshop
    private var url: URL { shop.store }
    private static let types = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

    init() throws { shop = try Workshop() }

    /// A model of one entity with attributes in the form of ``People``.
    private func model(_ entity: String, _ attributes: String...) -> NSManagedObjectModel {
        let description = NSEntityDescription(name: entity)
        description.properties = attributes.map { text in
            let parts = text.components(separatedBy: "<")
            let attribute = NSAttributeDescription(name: parts[0], type: .string)
            if parts.count == 2 { attribute.renamingIdentifier = parts[1] }
            return attribute
        }
        return NSManagedObjectModel(entities: [description])
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Boat", into: context).setValue("Ida", forKey: "name")
            NSEntityDescription.insertNewObject(forEntityName: "Port", into: context).setValue("Ems", forKey: "town")
            try context.save()
        }
    }

    private func values(_ coordinator: NSPersistentStoreCoordinator, _ keys: [String: String]) throws -> [String] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try keys.sorted { $0.key < $1.key }.flatMap { entity, key in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).compactMap { $0.value(forKey: key) as? String }
            }
        }
    }

    @Test("A version that is in no bundle is known by the copy in the file", arguments: types) func programmatic(_ type: String) throws {
        let old = try NSManagedObjectModel(merging: [model("Boat", "name"), model("Port", "town")])
        try fill(old.opening(url, type: type))
        let uuid = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)[NSStoreUUIDKey] as? String
        let new = try NSManagedObjectModel(merging: [model("Boat", "title<name", "flag"), model("Port", "town", "land")])
        do {
            let coordinator = try new.migrating(url, type: type)
            try expect(values(coordinator, ["Boat": "title", "Port": "town"]), equals: ["Ida", "Ems"])
            expect(coordinator.persistentStores[0].identifier, equals: uuid)
        }
        let third = try NSManagedObjectModel(merging: [model("Boat", "title"), model("Port", "city<town", "land"), model("Crew", "rank")])
        try expect(values(third.migrating(url, type: type), ["Boat": "title", "Port": "city", "Crew": "rank"]), equals: ["Ida", "Ems"])
    }

    @Test("Versions in the bundles of several models are merged", arguments: types) func bundles(_ type: String) throws {
        let boats = try shop.bundle([model("Boat", "name"), model("Boat", "title<name")], name: "Boats")
        let ports = try shop.bundle([model("Port", "town"), model("Port", "town", "land")], name: "Ports")
        let old = try NSManagedObjectModel(
            merging: [NSManagedObjectModel(reading: boats, version: "Boats"), NSManagedObjectModel(reading: ports, version: "Ports")])
        try fill(old.opening(url, type: type))
        let new = try #require(
            NSManagedObjectModel(byMerging: [NSManagedObjectModel(reading: boats), NSManagedObjectModel(reading: ports)]))
        for _ in 0..<2 { try expect(values(new.migrating(url, type: type), ["Boat": "title", "Port": "town"]), equals: ["Ida", "Ems"]) }
    }

    @Test("Metadata of the merged model find its parts, and the file's own copy is not among them", arguments: types)
    func metadata(_ type: String) throws {
        let parts = [model("Boat", "name"), model("Port", "town")]
        try fill(NSManagedObjectModel(merging: parts).opening(url, type: type))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        let found = NSManagedObjectModel(byMerging: parts + [model("Boat", "other"), model("Crew", "rank")], forStoreMetadata: metadata)
        expect(found?.entitiesByName.keys.sorted(), equals: ["Boat", "Port"])
        #expect(metadata.keys.allSatisfy { !$0.contains("Model") || $0.hasPrefix("NSStoreModel") })
        try NSPersistentStoreCoordinator.setMetadata(metadata.merging(["note": "kept"]) { $1 }, forPersistentStoreOfType: type, at: url)
        let new = try NSManagedObjectModel(merging: [model("Boat", "title<name"), model("Port", "town")])
        let coordinator = try new.migrating(url, type: type)
        try expect(values(coordinator, ["Boat": "title", "Port": "town"]), equals: ["Ida", "Ems"])
        expect(coordinator.persistentStores[0].metadata["note"] as? String, equals: "kept")
    }

    @Test("A copy that is not of the version of the file is not used, and is replaced with the next save") func stale() throws {
        let type = NSXMLStoreType
        let copy = /<key>OpenCoreDataModel<\/key>\s*<data>([^<]*)<\/data>/
        func kept(_ url: URL) throws -> String {
            String(try #require(try String(contentsOf: url, encoding: .utf8).firstMatch(of: copy)?.1)).filter { !$0.isWhitespace }
        }
        let old = try NSManagedObjectModel(merging: [model("Boat", "name"), model("Port", "town")])
        try fill(old.opening(url, type: type))
        let other = url.deletingLastPathComponent().appendingPathComponent("other.store")
        try fill(NSManagedObjectModel(merging: [model("Boat", "name", "flag"), model("Port", "town")]).opening(other, type: type))
        // Another program keeps what it does not know, whatever it writes.
        let (own, foreign) = (try kept(url), try kept(other))
        #expect(own != foreign)
        try String(contentsOf: url, encoding: .utf8)
            .replacing(copy) { _ in "<key>OpenCoreDataModel</key><data>\(foreign)</data>" }
            .write(to: url, atomically: true, encoding: .utf8)
        let new = try NSManagedObjectModel(merging: [model("Boat", "title<name"), model("Port", "town")])
        let before = try shop.bytes()
        expect(openingFailure { try new.migrating(url, type: type) }?.code, equals: NSMigrationMissingSourceModelError)
        try expect(shop.bytes(), equals: before)
        try fill(old.opening(url, type: type))
        try expect(kept(url), equals: own)
        try expect(values(new.migrating(url, type: type), ["Boat": "title", "Port": "town"]), equals: ["Ida", "Ida", "Ems", "Ems"])
    }

    @Test("A version that the program does not have loses no values", arguments: types) func losing(_ type: String) throws {
        let bundle = try shop.bundle([model("Boat", "name")], name: "Boats")
        let old = try NSManagedObjectModel(merging: [model("Boat", "name", "flag")])
        do {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = try old.opening(url, type: type)
            try context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Boat", into: context).setValue("red", forKey: "flag")
                try context.save()
            }
        }
        let error = try #require(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url, type: type) })
        #expect([NSMigrationMissingSourceModelError, StoreNewerThanModelError].contains(error.code), "\(error)")
        try expect(values(old.opening(url, type: type), ["Boat": "flag"]), equals: ["red"])
    }
}
