import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Properties that no change brings to the service.
@Suite("Edits that a service does not take") struct UnsentPropertyTests {
    private static func service() -> ScriptedService {
        let bands = [#"{"id": 1, "name": "Low", "album_ids": [1]}"#, #"{"id": 2, "name": "Can", "album_ids": []}"#]
        let albums = [
            #"{"id": 1, "title": "a", "year": 1970, "band": 1}"#, #"{"id": 2, "title": "b", "year": 1971, "band": null}"#,
        ]
        return ScriptedService { request in
            if request.method == .post { return .json(#"{"id": 9}"#, status: 201) }
            if request.method != .get { return .json("{}") }
            let all = request.path.hasPrefix("/bands") ? bands : albums
            if let id = request.path.split(separator: "/").last.flatMap({ Int($0) }) { return .json(all[id - 1]) }
            let found = request.query("band").map { band in all.filter { $0.contains(#""band": \#(band)"#) } } ?? all
            return .json("[\(found.joined(separator: ","))]")
        }
    }

    private static func model() -> NSManagedObjectModel {
        let (band, album) = (NSEntityDescription(name: "Band"), NSEntityDescription(name: "Album"))
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        albums.deleteRule = .nullifyDeleteRule
        let year = NSAttributeDescription(name: "year", type: .integer64)
        year.defaultValue = 1900
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "kind", type: .string), year, albumBand,
        ]
        return NSManagedObjectModel(entities: [band, album])
    }

    private static func description(bandIsReadOnly: Bool = false, bandHasList: Bool = false) -> WebService {
        var album: [String: PropertyMapping] = ["year": PropertyMapping(isReadOnly: true)]
        if bandIsReadOnly { album["band"] = PropertyMapping(isReadOnly: true) }
        return WebService(
            base,
            resources: [
                WebResource("Band", properties: bandHasList ? ["albums": "album_ids"] : [:]),
                WebResource("Album", properties: album, ignored: ["kind"]),
            ])
    }

    private static func refusal(_ context: NSManagedObjectContext, _ property: String, _ location: SourceLocation = #_sourceLocation) {
        do {
            try context.save()
            Issue.record("“\(property)” was saved", sourceLocation: location)
        } catch {
            let error = error as NSError
            expect(error.code, equals: NSManagedObjectValidationError)
            #expect(
                error.userInfo[NSValidationKeyErrorKey] as? String == property && error.localizedDescription.contains("does not take"),
                "\(error.localizedDescription)", sourceLocation: location)
        }
    }

    @Test("A change of a property that is readOnly or ignored is an error before anything is sent", arguments: ["year", "kind"])
    func changed(_ name: String) throws {
        let service = Self.service()
        let context = try Self.description().context(service, Self.model())
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album", by: ["title"])).first)
            album.setValue("c", forKey: "title")
            album.setValue(name == "year" ? 1999 : "x", forKey: name)
            Self.refusal(context, name)
            #expect(service.requests.allSatisfy { $0.method == .get })
            context.refresh(album, mergeChanges: false)
            album.setValue("c", forKey: "title")
            if name == "year" { album.setValue(1970, forKey: name) }
            try context.save()
            expect(service.requests.last { $0.method != .get }?.json?["title"]?.string, equals: "c")
        }
    }

    @Test("A new object has no value but the default of what the service does not have, and gives its own for what the service says")
    func inserted() throws {
        let service = Self.service()
        let context = try Self.description().context(service, Self.model())
        try context.performAndWait {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue("c", forKey: "title")
            album.setValue(1999, forKey: "year")
            album.setValue("LP", forKey: "kind")
            Self.refusal(context, "kind")
            expect(service.requests.count, equals: 0)
            album.setValue(nil, forKey: "kind")
            try context.save()
            expect(service.targets, equals: ["POST /albums"])
            expect(service.requests.last?.json?["year"], equals: nil)
        }
    }

    @Test("A cache refuses such a change at the context's save") func cached() throws {
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = CachedStoreOptions()
        options.sendsAutomatically = false
        let store = try coordinator.addCachedStore(
            WebBackend(Self.description(), model: model, transport: Self.service()), at: nil, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album", by: ["title"])).first)
            album.setValue(1999, forKey: "year")
            Self.refusal(context, "year")
            try expect(store.pendingCount(), equals: 0)
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            new.setValue("x", forKey: "kind")
            album.setValue(1970, forKey: "year")
            Self.refusal(context, "kind")
            try expect(store.pendingCount(), equals: 0)
        }
    }

    @Test("A reference that is readOnly is kept by the service: neither end can be changed, and a deletion empties it") func references()
        throws
    {
        let service = Self.service()
        let context = try Self.description(bandIsReadOnly: true).context(service, Self.model())
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            let bands = try context.fetch(fetch("Band", by: ["name"]))
            let edits = [
                { albums[0].setValue(bands[0], forKey: "band") }, { bands[0].mutableSetValue(forKey: "albums").add(albums[1]) },
            ]
            for edit in edits {
                edit()
                do {
                    try context.save()
                    Issue.record("The relationship was saved")
                } catch { #expect(error.localizedDescription.contains("does not take"), "\(error.localizedDescription)") }
                context.rollback()
            }
            #expect(service.requests.allSatisfy { $0.method == .get })
            context.delete(bands[1])
            try context.save()
            #expect(service.targets.contains("DELETE /bands/1"), "\(service.targets)")
        }
    }

    @Test("What is sent at the other end is no change of a reference that is readOnly") func otherEnd() throws {
        let service = Self.service()
        let context = try Self.description(bandIsReadOnly: true, bandHasList: true).context(service, Self.model())
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            let bands = try context.fetch(fetch("Band", by: ["name"]))
            albums[1].setValue(bands[0], forKey: "band")
            try context.save()
            // The album is sent at the same time, in either order.
            let sent = service.requests.filter { $0.method == .patch }
            expect(sent.first { $0.path == "/bands/2" }?.json?.description, equals: #"{"album_ids":[2]}"#)
        }
    }

    // MARK: Lists

    private static func watched() -> NSManagedObjectModel {
        let item = NSEntityDescription(name: "Item")
        let list = NSEntityDescription(name: "List")
        let watchers = NSRelationshipDescription(name: "watchers", destination: list, toMany: true)
        let watched = NSRelationshipDescription(name: "watched", destination: item, toMany: true)
        watchers.inverse(to: watched)
        item.properties = [NSAttributeDescription(name: "title", type: .string), watchers]
        list.properties = [NSAttributeDescription(name: "title", type: .string), watched]
        return NSManagedObjectModel(entities: [item, list])
    }

    @Test("A relationship that neither end sends is refused, unless it is ignored or nothing can be saved")
    func lists() throws {
        func load(_ item: WebResource, _ list: WebResource) throws {
            _ = try WebBackend(WebService(base, resources: [item, list]), model: Self.watched(), transport: Self.service())
        }
        let ignored = WebResource("Item", ignored: ["watchers"])
        for (item, list, name) in [
            (WebResource("Item"), WebResource("List"), "watchers"), (ignored, WebResource("List"), "watched"),
            (WebResource("Item"), WebResource("List", properties: ["watched": "ids"], isReadOnly: true), "watchers"),
        ] {
            do {
                try load(item, list)
                Issue.record("“\(name)” is accepted")
            } catch {
                let text = error.localizedDescription
                #expect(text.contains("“\(name)”") && text.contains("“ignored”") && text.contains("readOnly"), "\(text)")
            }
        }
        try load(WebResource("Item", properties: ["watchers": "watcher_ids"]), WebResource("List"))
        try load(WebResource("Item"), WebResource("List", properties: ["watched": "item_ids"]))
        try load(ignored, WebResource("List", ignored: ["watched"]))
        try load(WebResource("Item", isReadOnly: true), WebResource("List", isReadOnly: true))
        try load(
            WebResource("Item", properties: ["watchers": .at("watcher_ids", isReadOnly: true)]), WebResource("List", isReadOnly: true))
    }
}
