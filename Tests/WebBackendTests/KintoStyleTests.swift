import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("The style of Kinto") struct KintoStyleTests {
    private static let address = "https://example.com/v1/buckets/music/collections"

    private static func model() -> NSManagedObjectModel {
        let (album, live, label) = (
            NSEntityDescription(name: "Album"), NSEntityDescription(name: "LiveAlbum"), NSEntityDescription(name: "Label")
        )
        let labels = NSRelationshipDescription(name: "labels", destination: label, toMany: true)
        labels.inverse(to: NSRelationshipDescription(name: "albums", destination: album, toMany: true))
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer32),
            NSAttributeDescription(name: "date", type: .date), labels,
        ]
        album.subentities = [live]
        label.properties = [NSAttributeDescription(name: "name", type: .string), labels.inverseRelationship!]
        return NSManagedObjectModel(entities: [album, live, label])
    }

    /// A store over answers, each for the requests whose method and address contain a text, with the requests that are made.
    private struct Shop {
        let context: NSManagedObjectContext
        let transport: ScriptedTransport

        init(_ answers: [(String, String)], headers: WebHeaders = [:]) throws {
            let model = KintoStyleTests.model()
            transport = ScriptedTransport(answers, headers)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addRemoteStore(
                WebBackend(WebService(KintoStyleTests.address, style: .kinto), model: model, transport: transport))
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
        }

        func fetch(_ entity: String, _ predicate: NSPredicate? = nil) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate
            return try context.fetch(request)
        }
    }

    @Test("The number of records is asked for by HEAD, which alone tells it") func count() throws {
        let shop = try Shop([("HEAD", "")], headers: ["Total-Records": "41"])
        try shop.context.performAndWait {
            try expect(shop.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Label")), equals: 41)
            try shop.context.throwPendingFaultError()
        }
        expect(shop.transport.requests.map(\.method), equals: [.head])
    }

    @Test("Strings are quoted, so that none is taken for other JSON, and a comma within one of several is escaped") func quoting() throws {
        let shop = try Shop([("GET", #"{"data": []}"#)])
        try shop.context.performAndWait {
            _ = try shop.fetch("Label", NSPredicate(format: "name == '1'"))
            _ = try shop.fetch("Label", NSPredicate(format: "name IN {'a,b', 'true'}"))
        }
        let urls = shop.transport.requests.map { $0.url.removingPercentEncoding ?? "" }
        expect(urls.first?.contains(#"name="1""#), equals: true, "\(urls)")
        expect(urls.last?.contains(#"in_name="a\u002cb","true""#), equals: true, "\(urls)")
    }

    @Test("Every list has an order that changes do not disturb") func order() throws {
        let shop = try Shop([("GET", #"{"data": []}"#)])
        try shop.context.performAndWait { _ = try shop.fetch("Label") }
        #expect(shop.transport.requests.allSatisfy { $0.url.contains("_sort=id") })
    }

    @Test("What a record has no field for is nil, without another request") func missing() throws {
        let shop = try Shop([("GET", #"{"data": [{"id": "a", "last_modified": 1, "title": "A"}]}"#)])
        try shop.context.performAndWait {
            let album = try #require(try shop.fetch("Album").first)
            expect(album.value(forKey: "title") as? String, equals: "A")
            #expect(album.value(forKey: "year") == nil && album.value(forKey: "date") == nil)
            try shop.context.throwPendingFaultError()
        }
        expect(shop.transport.requests.count, equals: 1)
    }

    @Test("Dates, which are text there, are neither compared nor sorted by Kinto") func dates() throws {
        let shop = try Shop([("GET", #"{"data": []}"#)])
        try shop.context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            request.predicate = NSPredicate(format: "date > %@", Date() as NSDate)
            request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
            _ = try shop.context.fetch(request)
        }
        #expect(shop.transport.requests.allSatisfy { !$0.url.contains("date=") && !$0.url.contains("_sort=date") })
    }

    @Test("Several changes go to the server's batch, with whole paths; an object of a subentity says what it is") func batch() throws {
        let answers = (1...2).map { number in
            #"{"status": 201, "path": "/", "headers": {}, "body": {"data": {"id": "\#(number)", "last_modified": \#(number)}}}"#
        }
        let shop = try Shop([("POST", #"{"responses": [\#(answers.joined(separator: ", "))]}"#)])
        try shop.context.performAndWait {
            for title in ["A", "B"] {
                NSEntityDescription.insertNewObject(forEntityName: "LiveAlbum", into: shop.context).setValue(title, forKey: "title")
            }
            try shop.context.save()
            #expect(!shop.context.hasChanges)
        }
        let sent = try #require(shop.transport.requests.first)
        #expect(shop.transport.requests.count == 1 && sent.url == "https://example.com/v1/batch")
        let body = String(decoding: sent.body ?? [], as: UTF8.self)
        #expect(body.contains("/v1/buckets/music/collections/albums/records") && body.contains(#""entity":"LiveAlbum""#), "\(body)")
    }

    @Test("Of a relationship to many at both ends one end is a list, and the other is asked for by it") func lists() throws {
        let shop = try Shop([
            ("labels", #"{"data": [{"id": "l", "last_modified": 1, "name": "Jazz"}]}"#),
            ("albums", #"{"data": [{"id": "a", "last_modified": 2, "title": "A", "labels": ["l"], "entity": "Album"}]}"#),
        ])
        try shop.context.performAndWait {
            let label = try #require(try shop.fetch("Label").first)
            let albums = try #require(label.value(forKey: "albums") as? Set<NSManagedObject>)
            expect(albums.map { $0.value(forKey: "title") as? String }, equals: ["A"])
        }
        let url = shop.transport.requests.last?.url.removingPercentEncoding ?? ""
        #expect(url.contains(#"contains_any_labels=["l"]"#), "\(url)")
    }
}

/// A transport that answers from a script.
// Unchecked: `lock` guards `made`.
private final class ScriptedTransport: Transport, @unchecked Sendable {
    private let answers: [(text: String, body: String)]
    private let headers: WebHeaders
    private let lock = NSLock()
    private var made: [WebRequest] = []

    init(_ answers: [(String, String)], _ headers: WebHeaders) { (self.answers, self.headers) = (answers, headers) }

    var requests: [WebRequest] { lock.withLock { made } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        lock.withLock { made.append(request) }
        let text = "\(request.method.rawValue) \(request.url.prefix { $0 != "?" })"
        guard let answer = answers.first(where: { text.contains($0.text) }) else { return WebResponse(status: 404) }
        return WebResponse(status: 200, headers: headers, body: Array(answer.body.utf8))
    }
}
