import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("Changes of others in Kinto", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoConflictTests {
    /// An album that two stores have read, and that the second has changed.
    private struct Conflict {
        let mine: WebStore
        let theirs: WebStore
        let album: NSManagedObject

        init() throws {
            let mine = try Music.kinto()
            try mine.context.performAndWait {
                mine.insert("Album", ["title": "Before", "year": 1970])
                try mine.context.save()
                mine.context.reset()
            }
            let theirs = try Music.kinto(at: mine.address)
            album = try mine.context.performAndWait { try #require(try mine.context.fetch(request("Album")).first) }
            try theirs.context.performAndWait {
                let album = try #require(try theirs.context.fetch(request("Album")).first)
                album.setValue("Theirs", forKey: "title")
                album.setValue(1980, forKey: "year")
                try theirs.context.save()
            }
            (self.mine, self.theirs) = (mine, theirs)
        }

        /// What the server has.
        func stored() throws -> [String] {
            let store = try Music.kinto(at: mine.address)
            return try store.context.performAndWait {
                try store.context.fetch(request("Album")).map {
                    "\($0.value(forKey: "title") ?? "nil") \($0.value(forKey: "year") ?? "nil")"
                }
            }
        }
    }

    @Test("A change of an earlier version is an error with the server's current values, and nothing is saved") func error() throws {
        let conflict = try Conflict()
        let context = conflict.mine.context
        try context.performAndWait {
            conflict.album.setValue("Mine", forKey: "title")
            conflict.mine.requests.clear()
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
            let conflicts = try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            #expect(conflicts.count == 1)
            #expect(conflicts[0].sourceObject === conflict.album)
            #expect(conflicts[0].persistedSnapshot?["title"] as? String ?? conflicts[0].cachedSnapshot?["title"] as? String != nil)
            // The answer to the refused change has what the server has: nothing is read again.
            #expect(conflict.mine.requests.all.map(\.status) == [412], "\(conflict.mine.requests.all)")
        }
        #expect(try conflict.stored() == ["Theirs 1980"])
    }

    @Test(
        "Each merge policy has its way",
        arguments: ["store", "object", "overwrite", "rollback"])
    func policies(_ name: String) throws {
        let conflict = try Conflict()
        let context = conflict.mine.context
        let stored: String
        switch name {
        case "store": (context.mergePolicy, stored) = (NSMergePolicy.mergeByPropertyStoreTrump, "Theirs 1980")
        case "object": (context.mergePolicy, stored) = (NSMergePolicy.mergeByPropertyObjectTrump, "Mine 1980")
        case "overwrite": (context.mergePolicy, stored) = (NSMergePolicy.overwrite, "Mine 1970")
        default: (context.mergePolicy, stored) = (NSMergePolicy.rollback, "Theirs 1980")
        }
        try context.performAndWait {
            conflict.album.setValue("Mine", forKey: "title")
            try context.save()
            #expect(!context.hasChanges)
            #expect("\(conflict.album.value(forKey: "title") ?? "") \(conflict.album.value(forKey: "year") ?? "")" == stored)
        }
        #expect(try conflict.stored() == [stored])
    }

    @Test("A change of several objects, of which others have changed one, saves the rest") func batch() throws {
        let mine = try Music.kinto()
        try mine.fill(bands: 1, albums: 4)
        let theirs = try Music.kinto(at: mine.address)
        let albums = try mine.context.performAndWait { try mine.context.fetch(request("Album", by: ["title"])) }
        try theirs.context.performAndWait {
            let second = try theirs.context.fetch(request("Album", by: ["title"]))[1]
            second.setValue("Theirs", forKey: "title")
            try theirs.context.save()
        }
        try mine.context.performAndWait {
            for album in albums { album.setValue(2000, forKey: "year") }
            #expect(throws: NSError.self) { try mine.context.save() }
            #expect(albums.map(\.hasChanges) == [false, true, false, false])
            mine.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try mine.context.save()
        }
        try theirs.context.performAndWait {
            theirs.context.reset()
            let found = try theirs.context.fetch(request("Album", "year == 2000", by: ["title"]))
            #expect(found.map { $0.value(forKey: "title") as? String } == ["Album 0 of 1", "Album 2 of 1", "Album 3 of 1", "Theirs"])
        }
    }

    @Test("A deletion of what others have changed or deleted is a conflict, and done under a merge policy") func deletion() throws {
        let conflict = try Conflict()
        let context = conflict.mine.context
        context.performAndWait {
            context.delete(conflict.album)
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
        }
        try conflict.theirs.context.performAndWait {
            for album in try conflict.theirs.context.fetch(request("Album")) { conflict.theirs.context.delete(album) }
            try conflict.theirs.context.save()
        }
        try context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(!context.hasChanges)
            #expect(try context.count(for: request("Album")) == 0)
        }
    }

    @Test("The feed of changes brings what others have inserted, changed and deleted") func feed() async throws {
        let mine = try Music.kinto()
        try mine.fill(bands: 1, albums: 3)
        mine.context.automaticallyMergesChangesFromParent = true
        let albums = try await mine.context.perform { try mine.context.fetch(request("Album", by: ["title"])) }
        await mine.context.perform { for album in albums { _ = album.value(forKey: "title") } }
        _ = try await mine.coordinator.mergeRemoteChanges(of: mine.store, into: [mine.context])
        let theirs = try Music.kinto(at: mine.address)
        try await theirs.context.perform {
            let found = try theirs.context.fetch(request("Album", by: ["title"]))
            found[0].setValue("Theirs", forKey: "title")
            theirs.context.delete(found[1])
            theirs.insert("Album", ["title": "New"])
            try theirs.context.save()
        }
        let changes = try await mine.coordinator.mergeRemoteChanges(of: mine.store, into: [mine.context])
        #expect(changes.deletedObjectIDs.count == 1, "\(changes)")
        try await mine.context.perform {
            #expect(albums[0].value(forKey: "title") as? String == "Theirs")
            #expect(albums[1].isDeleted || albums[1].managedObjectContext == nil)
            let titles = try mine.context.fetch(request("Album", by: ["title"])).map { $0.value(forKey: "title") as? String }
            #expect(titles == ["Album 2 of 1", "New", "Theirs"])
        }
    }

    @Test("An identifier that the program makes is the server's") func ownIdentifiers() throws {
        var style = ServiceStyle.kinto
        style.saving?.identity = .newUUID
        let music = try Music.kinto(style)
        let uri = try music.context.performAndWait {
            let label = music.insert("Label", ["name": "Own"])
            try music.context.obtainPermanentIDs(for: [label])
            let id = label.objectID
            try music.context.save()
            #expect(label.objectID == id)
            #expect(try music.context.fetch(request("Label")) == [label])
            #expect(try music.context.fetch(request("Label", "name == 'Own'")) == [label])
            return id.uriRepresentation()
        }
        let other = try Music.kinto(style, at: music.address)
        try other.context.performAndWait {
            let found = try #require(try other.context.fetch(request("Label")).first)
            #expect(found.objectID.uriRepresentation() == uri)
        }
        let records = try Kinto.send(.get, "\(music.address)/labels/records")
        let id = try #require(String(decoding: records.body, as: UTF8.self).components(separatedBy: "\"id\":\"").last?.prefix(36))
        #expect(UUID(uuidString: String(id)) != nil)
    }
}
