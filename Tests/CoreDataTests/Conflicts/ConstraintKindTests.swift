import CoreData
import TestSupport
import Testing

@Suite("Uniqueness constraints over relationships and transformable attributes") struct ConstraintKindTests {
    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    /// Tracks whose number is unique on their album.
    private static func albums() -> NSManagedObjectModel {
        let album = NSEntityDescription(name: "Album", properties: [NSAttributeDescription(name: "title", type: .string)])
        let track = NSEntityDescription(
            name: "Track",
            properties: [NSAttributeDescription(name: "number", type: .integer16), NSAttributeDescription(name: "title", type: .string)])
        let owner = NSRelationshipDescription(name: "album", destination: album)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        owner.inverse(to: tracks)
        album.properties += [tracks]
        track.properties += [owner]
        track.uniquenessConstraints = [["number", owner]]
        return NSManagedObjectModel(entities: [album, track])
    }

    private func run(_ type: String, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : pad.store)
        let context = Music.context(coordinator)
        try context.performAndWait { try body(context) }
    }

    @Test("hold for a number and the object of a to-one relationship together", arguments: types) func toOne(type: String) throws {
        try run(type, Self.albums()) { context in
            let albums = ["a", "b"].map { context.insert("Album", ["title": $0]) }
            func track(_ number: Int, _ album: NSManagedObject?, _ title: String = "") -> NSManagedObject {
                let track = context.insert("Track", ["number": number, "title": title])
                track.setValue(album, forKey: "album")
                return track
            }
            let stored = [track(1, albums[0]), track(1, albums[1]), track(2, albums[0]), track(1, nil), track(1, nil)]
            try context.save()
            let second = track(1, albums[0], "second")
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectConstraintMergeError)
            let conflict = try #require((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first)
            expect(conflict.constraint, equals: ["number", "album"])
            #expect(conflict.databaseObject === stored[0])
            second.setValue(albums[1], forKey: "album")
            second.setValue(2, forKey: "number")
            try context.save()
            // Two objects exchange their albums.
            stored[0].setValue(albums[1], forKey: "album")
            stored[1].setValue(albums[0], forKey: "album")
            try context.save()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = track(1, albums[1], "newer")
            try context.save()
            expect(stored[0].value(forKey: "title") as? String, equals: "newer")
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            stored[2].setValue(1, forKey: "number")
            stored[2].setValue("kept", forKey: "title")
            try context.save()
            expect(stored[2].value(forKey: "number") as? Int, equals: 2)
            expect(stored[2].value(forKey: "title") as? String, equals: "kept")
            stored[2].setValue(albums[1], forKey: "album")
            try context.save()
            #expect(stored[2].value(forKey: "album") as? NSManagedObject === albums[0])
            expect((albums[0].value(forKey: "tracks") as? Set<NSManagedObject>)?.contains(stored[2]), equals: true)
            context.reset()
            try expect(context.all("Track").count, equals: 6)
        }
    }

    @Test("hold for transformable values, of which a SQLite store compares the archives", arguments: types)
    func transformable(type: String) throws {
        let game = NSEntityDescription(
            name: "Game",
            properties: [NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "system", type: .transformable)])
        game.uniquenessConstraints = [["name", "system"]]
        try run(type, NSManagedObjectModel(entities: [game])) { context in
            for value in ["text" as NSString, ["a", "b"] as NSArray, NSNumber(value: 3)] as [NSObject] {
                let first = context.insert("Game", ["name": "n", "system": value])
                try context.save()
                let twin = context.insert("Game", ["name": "n", "system": value])
                let error = try #require(failure { try context.save() })
                expect(error.code, equals: NSManagedObjectConstraintMergeError, "\(error)")
                let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
                #expect(conflict?.databaseObject === first)
                context.delete(twin)
                try context.save()
            }
            try expect(context.all("Game").count, equals: 3)
        }
    }

    @Test("over a to-many relationship are mistakes of the model") func toMany() throws {
        let model = Self.albums()
        model.entitiesByName["Album"]?.uniquenessConstraints = [["tracks"]]
        let error = try #require(failure { _ = try NSPersistentStoreCoordinator(checking: model) })
        #expect(error.localizedDescription.contains("“Album” names “tracks”, which is not an attribute or to-one relationship"))
    }
}
