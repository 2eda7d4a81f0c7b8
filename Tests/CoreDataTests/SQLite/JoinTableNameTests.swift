import CoreData
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The names of join tables and their columns in new stores. The cases have the shapes of public stores that Apple's framework has made.
@Suite("Names of join tables") struct JoinTableNameTests {
    /// Returns the columns of the join tables for entities, each after what it inherits from, and pairs of relationships (`"User.reactions"`).
    private func joins(_ entities: [(name: String, parent: String?)], _ pairs: [(String, String)]) throws -> [String: [String]] {
        var byName: [String: NSEntityDescription] = [:]
        for (name, parent) in entities {
            byName[name] = NSEntityDescription(name: name)
            if let parent { byName[parent]?.subentities.append(byName[name]!) }
        }
        for (first, second) in pairs {
            let (first, second) = (first.split(separator: ".").map(String.init), second.split(separator: ".").map(String.init))
            let there = NSRelationshipDescription(name: first[1], destination: byName[second[0]]!, toMany: true)
            let back = NSRelationshipDescription(name: second[1], destination: byName[first[0]]!, toMany: true)
            there.inverse(to: back)
            byName[first[0]]?.properties += [there]
            byName[second[0]]?.properties += [back]
        }
        let model = NSManagedObjectModel(entities: entities.map { byName[$0.name]! })
        try model.freeze()
        return Dictionary(
            uniqueKeysWithValues: SQLSchema(model: model, entities: model.entities).joins.map { ($0.name.name, $0.columns.map(\.name)) })
    }

    @Test("A table bears the name of the entity that comes first, and the columns those of the inverses") func names() throws {
        let found = try joins([("Album", nil), ("Band", nil)], [("Band.albums", "Album.bands")])
        expect(found, equals: ["Z_1BANDS": ["Z_1ALBUMS", "Z_2BANDS"]])
    }

    @Test("Where inverses have one name, their order at the shared end numbers the columns, not that of the tables") func numbers() throws {
        let found = try joins(
            [("Message", nil), ("Reaction", nil), ("User", nil)],
            [("Message.users", "User.systemMessages"), ("Reaction.users", "User.reactions")])
        expect(found, equals: ["Z_1USERS": ["Z_1SYSTEMMESSAGES", "Z_3USERS1"], "Z_2USERS": ["Z_2REACTIONS", "Z_3USERS"]])
    }

    @Test("Names of entities decide, not numbers and not whether an entity inherits") func inheritance() throws {
        let events = try joins(
            [("CustomMetadata", nil), ("Object", nil), ("Event", "Object")], [("Event.customMetadata", "CustomMetadata.event")])
        expect(events, equals: ["Z_1EVENT": ["Z_1CUSTOMMETADATA", "Z_3EVENT"]])
        let photos = try joins([("Asset", nil), ("GenericAlbum", nil), ("Album", "GenericAlbum")], [("Asset.albums", "Album.assets")])
        expect(photos, equals: ["Z_3ASSETS": ["Z_3ALBUMS", "Z_1ASSETS"]])
        let notes = try joins(
            [("Object", nil), ("Container", "Object"), ("Folder", "Container"), ("Note", "Object")], [("Note.folders", "Folder.notes")])
        expect(notes.keys.sorted(), equals: ["Z_3NOTES"])
    }

    @Test("An entity with subentities comes before one without") func subentities() throws {
        let found = try joins(
            [("AlbumList", nil), ("GenericAlbum", nil), ("Album", "GenericAlbum")], [("AlbumList.albums", "GenericAlbum.albumLists")])
        expect(found, equals: ["Z_2ALBUMLISTS": ["Z_2ALBUMS", "Z_1ALBUMLISTS"]])
    }

    @Test("A file in which the columns bear other numbers is read and written as it is") func otherNumbers() throws {
        func model() -> NSManagedObjectModel {
            let message = NSEntityDescription(name: "Message"), user = NSEntityDescription(name: "User")
            let reaction = NSEntityDescription(name: "Reaction")
            for (owner, name) in [(message, "messages"), (reaction, "areactions")] {
                let users = NSRelationshipDescription(name: "users", destination: user, toMany: true)
                let back = NSRelationshipDescription(name: name, destination: owner, toMany: true)
                users.inverse(to: back)
                owner.properties = [users]
                user.properties += [back]
            }
            return NSManagedObjectModel(entities: [message, user, reaction])
        }
        let pad = try Scratchpad()
        _ = try pad.coordinator(model())
        // As this framework named them before.
        try pad.execute(
            """
            DROP TABLE Z_1USERS; DROP TABLE Z_2USERS;
            CREATE TABLE Z_1USERS ( Z_1MESSAGES INTEGER, Z_3USERS INTEGER, PRIMARY KEY (Z_1MESSAGES, Z_3USERS) );
            CREATE TABLE Z_2USERS ( Z_2AREACTIONS INTEGER, Z_3USERS1 INTEGER, PRIMARY KEY (Z_2AREACTIONS, Z_3USERS1) );
            """)
        let context = try pad.context(model())
        try context.performAndWait {
            let user = context.insert("User")
            context.insert("Message").setValue(Set([user]), forKey: "users")
            context.insert("Reaction").setValue(Set([user]), forKey: "users")
            try context.save()
            context.reset()
            let read = try #require(try context.all("User").first)
            expect((read.value(forKey: "messages") as? Set<NSManagedObject>)?.count, equals: 1)
            expect((read.value(forKey: "areactions") as? Set<NSManagedObject>)?.count, equals: 1)
        }
    }
}
