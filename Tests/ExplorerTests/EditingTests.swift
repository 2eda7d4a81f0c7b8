import CoreData
import Foundation
import TestSupport
import Testing

/// What a writable session changes.
@Suite("The explorer: editing", .enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct EditingTests {
    private static func served() throws -> (Folder, ServedStore) {
        let folder = try Folder()
        try Library.make(folder.store)
        return (folder, try ServedStore(folder.store, ["--writable"]))
    }

    private static func id(_ entity: String, _ predicate: String, _ served: ServedStore) throws -> String {
        let rows = try served.get("/api/rows", ["entity": entity, "where": predicate]).json["rows"] as? [[String: Any]]
        return try #require(rows?.first?["id"] as? String)
    }

    private static func value(_ name: String, of id: String, _ served: ServedStore) throws -> Any? {
        let attributes = try served.get("/api/object", ["id": id]).json["attributes"] as? [[String: Any]] ?? []
        return attributes.first { $0["name"] as? String == name }?["value"]
    }

    /// Reads a value with a coordinator of its own.
    private static func saved(_ key: String, _ entity: String, _ predicate: String, in folder: Folder) throws -> Any? {
        let context = try Library.open(folder.store)
        defer { try? Library.close(context) }
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: predicate)
            return try context.fetch(request).first?.value(forKey: key)
        }
    }

    @Test("A value is set, undone, redone and saved") func undone() throws {
        let (folder, served) = try Self.served()
        let id = try Self.id("Album", "title == 'Deluxe'", served)
        try expect(served.edit(["action": "set", "id": id, "name": "year", "value": "1976"]).status, equals: 200)
        try expect(Self.value("year", of: id, served) as? Int, equals: 1976)
        try expect(Self.saved("year", "Album", "title == 'Deluxe'", in: folder) as? Int, equals: 1975)
        try expect(served.edit(["action": "undo"]).status, equals: 200)
        try expect(Self.value("year", of: id, served) as? Int, equals: 1975)
        _ = try served.edit(["action": "redo"])
        try expect(Self.value("year", of: id, served) as? Int, equals: 1976)
        try expect(served.edit(["action": "save"]).status, equals: 200)
        try expect(Self.saved("year", "Album", "title == 'Deluxe'", in: folder) as? Int, equals: 1976)
    }

    @Test(
        "An error of a value names its field",
        arguments: [
            ("Album", "year", "many"), ("Album", "year", "3000000000"), ("Album", "price", "12,30"), ("Album", "price", "1e400"),
            ("Album", "released", "yesterday"),
            ("Album", "code", "1234"), ("Album", "isLive", "perhaps"), ("Album", "cover", "not Base64!"),
        ])
    func mistakes(entity: String, name: String, value: String) throws {
        let (folder, served) = try Self.served()
        let id = try Self.id(entity, "title == 'Deluxe'", served)
        let before = try Self.value(name, of: id, served) as? NSObject
        let answer = try served.edit(["action": "set", "id": id, "name": name, "value": value])
        #expect(try !answer.error.isEmpty)
        try expect(answer.error["field"] as? String, equals: name)
        try expect(Self.value(name, of: id, served) as? NSObject, equals: before)
        withExtendedLifetime(folder) {}
    }

    @Test("An error of a rule names the value that was entered") func ruleNamesTheEnteredValue() throws {
        let folder = try Folder()
        let entity = NSEntityDescription(name: "Person")
        let rating = NSAttributeDescription(name: "rating", type: .integer16)
        rating.setValidationPredicates([NSPredicate(format: "SELF <= 10")], withValidationWarnings: nil)
        entity.properties = [rating]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let person = NSManagedObject(entity: entity, insertInto: context)
            person.setValue(10, forKey: "rating")
            var value: Any? = 12
            let error = #expect(throws: NSError.self) { try person.validateValue(&value, forKey: "rating") }
            expect(error?.userInfo[NSValidationValueErrorKey] as? Int, equals: 12)
            try context.save()
        }
        try coordinator.remove(store)
        let served = try ServedStore(folder.store, ["--writable"])
        let id = try Self.id("Person", "rating == 10", served)
        let answer = try served.edit(["action": "set", "id": id, "name": "rating", "value": "11"])
        try expect((answer.error["message"] as? String)?.contains("11 does not satisfy SELF <= 10"), equals: true)
        try expect(Self.value("rating", of: id, served) as? Int, equals: 10)
    }

    @Test("A required value is missed when it is set and when it is saved") func required() throws {
        let (folder, served) = try Self.served()
        let id = try Self.id("Artist", "name == 'Neu!'", served)
        let answer = try served.edit(["action": "set", "id": id, "name": "name", "value": NSNull()])
        #expect(try !answer.error.isEmpty)
        try expect(answer.error["field"] as? String, equals: "name")
        // A new object has none yet.
        let new = try #require(try served.edit(["action": "create", "entity": "Artist"]).json["id"] as? String)
        let save = try served.edit(["action": "save"])
        #expect(try !save.error.isEmpty)
        try expect(save.error["field"] as? String, equals: "name")
        try expect(save.error["object"] as? String, equals: new)
        _ = try served.edit(["action": "set", "id": new, "name": "name", "value": "Cluster"])
        let saved = try served.edit(["action": "save"]).json["saved"] as? [String: String]
        let permanent = try #require(saved?[new])
        try expect(served.get("/api/object", ["id": permanent]).json["label"] as? String, equals: "Cluster")
        withExtendedLifetime(folder) {}
    }

    @Test("Relationships are edited in their order, and a deletion is undone") func relationships()
        throws
    {
        let (folder, served) = try Self.served()
        let album = try Self.id("Album", "title == 'Deluxe'", served)
        func tracks() throws -> [String] {
            let relationships = try served.get("/api/object", ["id": album]).json["relationships"] as? [[String: Any]] ?? []
            let objects = relationships.first { $0["name"] as? String == "tracks" }?["objects"] as? [[String: Any]] ?? []
            return objects.compactMap { $0["label"] as? String }
        }
        let dame = try Self.id("Track", "title == 'Notre Dame'", served)
        _ = try served.edit(["action": "move", "id": album, "name": "tracks", "object": dame, "place": 0])
        try expect(tracks(), equals: ["Notre Dame", "Deluxe (Immer wieder)", "Walky-Talky", "Monza"])
        let monza = try Self.id("Track", "title == 'Monza'", served)
        _ = try served.edit(["action": "remove", "id": album, "name": "tracks", "object": monza])
        try expect(tracks().count, equals: 3)
        _ = try served.edit(["action": "add", "id": album, "name": "tracks", "object": monza])
        try expect(tracks().last, equals: "Monza")
        _ = try served.edit(["action": "save"])
        try expect(tracks(), equals: ["Notre Dame", "Deluxe (Immer wieder)", "Walky-Talky", "Monza"])
        let other = try Self.id("Artist", "name == 'Neu!'", served)
        _ = try served.edit(["action": "set", "id": album, "name": "artist", "object": other])
        let harmonia = try Self.id("Artist", "name == 'Harmonia'", served)
        _ = try served.edit(["action": "delete", "id": harmonia])
        try expect(served.get("/api/object", ["id": harmonia]).status, equals: 404)
        _ = try served.edit(["action": "undo"])
        try expect(served.get("/api/object", ["id": harmonia]).json["label"] as? String, equals: "Harmonia")
        _ = try served.edit(["action": "discard"])
        expect((try served.get("/api/store").json["state"] as? [String: Any])?["updated"] as? Int, equals: 0)
        withExtendedLifetime(folder) {}
    }

    @Test("Fifty candidates are offered at most") func candidates() throws {
        let folder = try Folder()
        try Library.make(folder.store)
        try Library.addTracks(5000, to: folder.store)
        let served = try ServedStore(folder.store, ["--writable"])
        let album = try Self.id("Album", "title == 'Deluxe'", served)
        let all = try served.get("/api/candidates", ["id": album, "name": "tracks"])
        expect((try all.json["objects"] as? [Any])?.count, equals: 50)
        // The objects, their names, and the owner.
        #expect(try all.rowsRead <= 101)
        let some =
            try served.get("/api/candidates", ["id": album, "name": "tracks", "text": "track 000123"]).json["objects"] as? [[String: Any]]
        expect(some?.count, equals: 10)
    }
}
