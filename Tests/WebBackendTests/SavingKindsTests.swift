import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Saving where others have changed or deleted objects of several kinds") struct SavingKindsTests {
    /// Albums, some of which are live, which have a property more.
    private static func model() -> NSManagedObjectModel {
        let (album, live) = (NSEntityDescription(name: "Album"), NSEntityDescription(name: "LiveAlbum"))
        album.properties = [NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer32)]
        live.properties = [NSAttributeDescription(name: "venue", type: .string)]
        album.subentities = [live]
        return NSManagedObjectModel(entities: [album, live])
    }

    @Test("A conflict has the values of the object's own entity, though others have more properties in the same collection")
    func conflict() throws {
        let transport = ScriptedService { request in
            switch (request.method, request.headers["If-Match"]) {
            case (.get, _): .json(#"{"data": [{"id": "a", "last_modified": 1, "title": "One", "year": 1, "entity": "Album"}]}"#)
            case (_, "\"1\""):
                .json(#"{"details": {"existing": {"id": "a", "last_modified": 2, "title": "Theirs", "entity": "Album"}}}"#, status: 412)
            default: .json(#"{"data": {"id": "a", "last_modified": 3, "title": "Theirs", "year": 2, "entity": "Album"}}"#)
            }
        }
        let context = try WebService(base, style: .kinto).context(transport, Self.model())
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue(2, forKey: "year")
            let error = try #require(throws: NSError.self) { try context.save() }
            expect(error.code, equals: NSManagedObjectMergeError, "\(error)")
            let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
            expect(conflict?.persistedSnapshot?["title"] as? String, equals: "Theirs")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(album.text("title") == "Theirs" && album.value(forKey: "year") as? Int == 2)
        }
    }

    @Test("A deletion of what others have deleted is a conflict where versions are compared, and then done") func deletion() throws {
        let transport = ScriptedService { request in
            switch (request.method, request.url.contains("id=")) {
            case (.get, false): .json(#"{"data": [{"id": "a", "last_modified": 1, "title": "One", "entity": "Album"}]}"#)
            case (.get, true): .json(#"{"data": []}"#)
            default: .json(#"{"message": "gone"}"#, status: 404)
            }
        }
        let context = try WebService(base, style: .kinto).context(transport, Self.model())
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.text("title"), equals: "One")
            context.delete(album)
            let error = try #require(throws: NSError.self) { try context.save() }
            expect(error.code, equals: NSManagedObjectMergeError, "\(error)")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test("A deletion of what is gone is done where no versions are compared") func deletionWithoutVersion() throws {
        let transport = ScriptedService { request in
            request.method == .get ? .json(#"[{"id": 7, "title": "One"}]"#) : .json("{}", status: 404)
        }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport, Self.model())
        try context.performAndWait {
            context.delete(try #require(try context.fetch(fetch("Album")).first))
            try context.save()
            #expect(!context.hasChanges)
        }
    }
}
