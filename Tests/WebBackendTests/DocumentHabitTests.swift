import CoreData
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Documents that refer to each other at one end, as those of programs that do not know this store do.
@Suite("Documents of other programs") struct DocumentHabitTests {
    /// A database of bands and of albums, which name their band and their tags; it answers selectors of this store as CouchDB does.
    private static func database(_ documents: [String]) throws -> ScriptedService {
        let all = try documents.map { try JSONValue(parsing: Array($0.utf8)) }
        return ScriptedService { request in
            guard request.path == "/_find" else { return .json(#"{"ok": true, "id": "new", "rev": "2-b"}"#, status: 201) }
            let selector = request.json?["selector"] ?? .null
            let found = all.filter { matches($0, selector) }
            return .json(#"{"docs": \#(JSONValue.array(found)), "bookmark": "nil"}"#)
        }
    }

    private static func matches(_ document: JSONValue, _ selector: JSONValue) -> Bool {
        (selector.object ?? JSONObject()).allSatisfy { member in
            switch member.key {
            case "$and": return (member.value.array ?? []).allSatisfy { matches(document, $0) }
            case "$or": return (member.value.array ?? []).contains { matches(document, $0) }
            case "$nor": return !(member.value.array ?? []).contains { matches(document, $0) }
            default:
                guard let operators = member.value.object else { return document[member.key] == member.value }
                return operators.allSatisfy { compares(document[member.key], $0.key, $0.value) }
            }
        }
    }

    private static func compares(_ value: JSONValue?, _ operation: String, _ other: JSONValue) -> Bool {
        switch operation {
        case "$exists": (value != nil) == (other == .bool(true))
        case "$eq": value == other
        case "$in": value.map { (other.array ?? []).contains($0) } ?? false
        case "$nin": value.map { !(other.array ?? []).contains($0) } ?? false
        case "$elemMatch":
            (value?.array ?? []).contains { element in
                (other.object ?? JSONObject()).allSatisfy { compares(element, $0.key, $0.value) }
            }
        default: false
        }
    }

    private static func model() -> NSManagedObjectModel {
        let (band, album, tag) = (
            NSEntityDescription(name: "Band"), NSEntityDescription(name: "Album"), NSEntityDescription(name: "Tag")
        )
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagAlbums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        tags.inverse(to: tagAlbums)
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64), albumBand, tags,
        ]
        tag.properties = [NSAttributeDescription(name: "name", type: .string), tagAlbums]
        return NSManagedObjectModel(entities: [band, album, tag])
    }

    private static let documents = [
        #"{"_id": "b1", "_rev": "1-a", "type": "Band", "name": "Beatles"}"#,
        #"{"_id": "b2", "_rev": "1-a", "type": "Band", "name": "Blur"}"#,
        #"{"_id": "a1", "_rev": "1-a", "type": "Album", "title": "Help!", "year": 1965, "band": "b1", "tags": ["t1"]}"#,
        #"{"_id": "a2", "_rev": "1-a", "type": "Album", "title": "Revolver", "year": null, "band": "b1", "tags": ["t1", "t2"]}"#,
        #"{"_id": "a3", "_rev": "1-a", "type": "Album", "title": "13", "year": 1999}"#,
        #"{"_id": "t1", "_rev": "1-a", "type": "Tag", "name": "rock"}"#, #"{"_id": "t2", "_rev": "1-a", "type": "Tag", "name": "pop"}"#,
    ]

    private static func context(_ service: ScriptedService) throws -> NSManagedObjectContext {
        try WebService(base, style: .couchDB, resources: ["Band", "Album", "Tag"].map { WebResource($0) }).context(service, model())
    }

    private static func titles(_ object: NSManagedObject?, _ key: String) -> [String] {
        (object?.value(forKey: key) as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "title") as? String }.sorted()
    }

    @Test("A list that only the other end keeps is asked for there") func lists() throws {
        let context = try Self.context(try Self.database(Self.documents))
        try context.performAndWait {
            let bands = try context.fetch(fetch("Band", by: ["name"]))
            expect(bands.map { Self.titles($0, "albums") }, equals: [["Help!", "Revolver"], []])
            let tags = try context.fetch(fetch("Tag", by: ["name"]))
            expect(tags.map { Self.titles($0, "albums") }, equals: [["Revolver"], ["Help!", "Revolver"]])
            let request = fetch("Band")
            request.predicate = NSPredicate(format: "albums.@count == 0")
            try expect(context.fetch(request).map { $0.value(forKey: "name") as? String }, equals: ["Blur"])
        }
    }

    @Test("What is none of several values has a value", arguments: ["NOT (year IN {1965, 1970})", "year != 1965", "NOT (year == 1965)"])
    func noneOf(format: String) throws {
        let context = try Self.context(try Self.database(Self.documents))
        try context.performAndWait {
            let request = fetch("Album")
            request.predicate = NSPredicate(format: format)
            try expect(context.fetch(request).map { $0.value(forKey: "title") as? String }, equals: ["13"])
            try expect(context.count(for: request), equals: 1)
        }
    }

    @Test("A new document sends itself, and not those that only its references lead to") func newDocument() throws {
        let service = try Self.database(Self.documents)
        let context = try Self.context(service)
        try context.performAndWait {
            let band = try #require(try context.fetch(fetch("Band", by: ["name"])).first)
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue("Yellow Submarine", forKey: "title")
            album.setValue(band, forKey: "band")
            let before = service.requests.count
            try context.save()
            expect(service.requests.dropFirst(before).filter { $0.path != "/_find" }.map(\.method), equals: [.post])
        }
    }
}

@Suite("References that a service keeps as a list of one") struct OnlyElementTests {
    private static func context(_ service: ScriptedService, _ path: JSONPath) throws -> NSManagedObjectContext {
        var style = ServiceStyle.plain
        style.saving = SavingStyle(update: .init(.patch, "{path}/{SELF}"), conflicts: .none)
        return try WebService(
            base, style: style, resources: [WebResource("Album", properties: ["band": .at(path)]), WebResource("Band")]
        ).context(service)
    }

    @Test("Its only element is written, and nothing as an empty list") func written() throws {
        let service = ScriptedService { request in
            if request.method != .get { return .json(#"{"id": 1}"#) }
            switch request.path {
            case "/albums": return .json(#"[{"id": 1, "title": "13", "bands": [7]}]"#)
            case "/bands": return .json(#"[{"id": 8, "name": "Blur"}]"#)
            default: return .json(#"{"id": 7, "name": "Ash"}"#)
            }
        }
        let context = try Self.context(service, "bands[0]")
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            let band = try #require(try context.fetch(fetch("Band")).first)
            album.setValue(band, forKey: "band")
            try context.save()
            album.setValue(nil, forKey: "band")
            try context.save()
        }
        let bodies = service.requests.filter { $0.method == .patch }.compactMap { $0.json?["bands"]?.description }
        expect(bodies, equals: ["[8]", "[]"])
    }

    @Test(
        "A place that a change would have to know the others of is refused, unless it is only read", arguments: ["bands[1]", "bands[0].id"])
    func refused(path: String) throws {
        let service = ScriptedService { _ in .json("[]") }
        let error = #expect(throws: (any Error).self) { try Self.context(service, JSONPath(path)) }
        #expect(error?.localizedDescription.contains("readOnly") == true, "\(String(describing: error))")
    }
}

@Suite("Identifiers that look alike") struct IdentifierSpellingTests {
    @Test("are of two resources where their characters are not the same")
    func spellings() throws {
        let service = ScriptedService { _ in .json(#"[{"id": "\u00e9", "title": "one"}, {"id": "e\u0301", "title": "two"}]"#) }
        let context = try WebService(base, resources: [WebResource("Album")]).context(service)
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album"))
            expect(Set(albums.compactMap { $0.value(forKey: "title") as? String }), equals: ["one", "two"])
            for album in albums {
                let uri = album.objectID.uriRepresentation()
                expect(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri), equals: album.objectID)
            }
        }
    }
}
