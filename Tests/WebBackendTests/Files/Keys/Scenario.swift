import CoreData
import Foundation
import RemoteStore
import TestSupport
import WebBackend
import WebTransport

/// What a program does with a service, and what it sees: the requests, what they bring, and errors.
struct Scenario: Sendable {
    enum Kind: Sendable {
        /// Reads and saves.
        case all
        /// What the store is told of the service: what the planner makes of it, its own tests say.
        case told
        /// What a client gets.
        case client
    }
    /// Groups of what is done.
    enum Step: CaseIterable, Sendable {
        case list, count, orders, predicates, relationships, changes, extra
    }
    var kind = Kind.all
    var steps = Set(Step.allCases)
    /// The answer to a request; nil for that of a service with three albums.
    var answer: @Sendable (WebRequest) -> WebResponse? = { _ in nil }
    /// Predicates of albums, in place of the usual ones, and further orders.
    var predicates: [String] = []
    var sorts: [[String]] = []
    /// What is done besides.
    var extra: @Sendable (NSManagedObjectContext, inout [String]) -> Void = { _, _ in }

    static let model = makeModel()

    private static func makeModel() -> NSManagedObjectModel {
        let (album, band, tag) = (NSEntityDescription(name: "Album"), NSEntityDescription(name: "Band"), NSEntityDescription(name: "Tag"))
        let (item, book) = (NSEntityDescription(name: "Item"), NSEntityDescription(name: "Book"))
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        albums.inverse(to: albumBand)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagged = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        tags.inverse(to: tagged)
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64),
            NSAttributeDescription(name: "releaseDate", type: .date), NSAttributeDescription(name: "isLive", type: .boolean),
            NSAttributeDescription(name: "rating", type: .double), NSAttributeDescription(name: "link", type: .uri), albumBand, tags,
        ]
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        tag.properties = [NSAttributeDescription(name: "name", type: .string), tagged]
        item.properties = [NSAttributeDescription(name: "name", type: .string)]
        book.properties = [NSAttributeDescription(name: "pages", type: .integer64)]
        item.subentities = [book]
        let note = NSEntityDescription(name: "sideNote")
        note.properties = [NSAttributeDescription(name: "name", type: .string)]
        return NSManagedObjectModel(entities: [album, band, tag, item, book, note])
    }

    /// Returns the backend of a description.
    ///
    /// - Throws: The error of a description that is refused.
    func backend(_ file: WebServiceFile, _ service: ScriptedService) throws -> WebBackend {
        var options = WebClient.Options()
        options.retries = .never
        return try WebBackend(Self.withList(file.service), model: Self.model, transport: service, options: options)
    }

    /// Returns a description with the list of one end of albums and tags, which have many of each other: without one it is refused.
    private static func withList(_ service: WebService) -> WebService {
        let album = service.resource("Album")
        let isDescribed = album?.properties["tags"] != nil || album?.ignored.contains("tags") == true
        if service.style.hasLists || service.style.hasListsAtOneEnd || isDescribed { return service }
        var service = service
        if service.includesAllEntities, service.resource("Tag") == nil { service.resources.append(WebResource("Tag")) }
        guard let index = service.resources.firstIndex(where: { $0.entity == "Tag" }), service.resources[index].properties["albums"] == nil
        else { return service }
        service.resources[index].properties["albums"] = "albums"
        return service
    }

    /// Returns what a step shows of a description.
    func trace(_ file: WebServiceFile, _ step: Step) throws -> String {
        let service = ScriptedService { answer($0) ?? Self.usual($0) }
        let backend = try backend(file, service)
        var lines: [String] = []
        if kind == .told {
            // Equal values have equal hashes, whatever the order of the sets within.
            for resource in backend.resources {
                let saving = resource.saving
                lines.append("\(resource.entity) \(resource.endpoints.hashValue) \(saving?.keyLifetime ?? -1) \(saving?.isAtomic ?? false)")
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        try coordinator.addRemoteStore(backend)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        lines += context.performAndWait { () -> [String] in
            var lines: [String] = []
            if step == .extra { extra(context, &lines) } else { run(context, step, &lines) }
            return lines
        }
        // Some requests are on their way at the same time.
        return (lines + service.requests.map(Self.text).map(Self.withoutUUIDs).sorted()).map(Self.withoutUUIDs).joined(separator: "\n")
    }

    static func text(_ request: WebRequest) -> String {
        let headers = request.headers.fields.map { "\($0.name): \($0.value)" }.sorted().joined(separator: "; ")
        return "\(request.target) [\(headers)] \(request.body.map { String(decoding: $0, as: UTF8.self) } ?? "")"
    }

    private static func withoutUUIDs(_ text: String) -> String {
        if text.utf8.count(where: { $0 == UInt8(ascii: "-") }) < 4 { return text }
        return text.replacing(#/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/#, with: "UUID")
    }

    private static func usual(_ request: WebRequest) -> WebResponse {
        if request.method == .head { return .json("", headers: ["Total": "3"]) }
        if request.method == .delete { return .json("", status: 204) }
        if request.method == .put || request.method == .patch { return .json("{}") }
        if request.method == .post, !request.path.hasSuffix("find") {
            return .json(#"{"id": 9, "_id": 9, "uid": 9, "version": 1}"#, status: 201)
        }
        let name =
            request.path.contains("band")
            ? "bands" : request.path.contains("tag") ? "tags" : request.path.contains("item") ? "items" : "albums"
        let rows = (1...3).map { number in row(name, number) }
        if let number = request.path.split(separator: "/").last.flatMap({ Int($0) }) {
            return .json(row(name, number), headers: ["ETag": "\"e\""])
        }
        return .json("[\(rows.joined(separator: ","))]", headers: ["Total": "3", "Content-Range": "items 0-2/3"])
    }

    static func row(_ name: String, _ number: Int) -> String {
        switch name {
        case "albums":
            #"""
            {"id": \#(number), "uid": \#(10 - number), "title": "t\#(number)", "year": \#(1969 + number), "isLive": true, "rating": 4.5, "band": 1,
             "releaseDate": "2026-03-0\#(number)T10:00:00Z", "release_date": "2026-04-01T10:00:00Z", "tags": [1], "version": \#(number), "rev": "r\#(number)",
             "link": "a/b", "attributes": {"title": "inner", "year": 1}, "relationships": {"band": 2}, "band_id": 3, "extra": {"title": "deep"},
             "doc": {"id": \#(number + 20), "title": "doc"}}
            """#
        case "bands": #"{"id": \#(number), "name": "n\#(number)", "albums": [1, 2]}"#
        case "items": #"{"id": \#(number), "name": "i\#(number)", "pages": 3, "sort": "Book", "kind": "Item"}"#
        default: #"{"id": \#(number), "name": "n\#(number)", "albums": [1]}"#
        }
    }

    // MARK: Steps

    private func run(_ context: NSManagedObjectContext, _ group: Step, _ lines: inout [String]) {
        func step(_ name: String, in own: Step, _ body: () throws -> String) {
            guard own == group else { return }
            context.reset()
            do { lines.append("\(name): \(try body())") } catch { lines.append("\(name) fails: \(Self.text(error))") }
        }
        func albums(_ predicate: String? = nil) throws -> String {
            try context.fetch(fetch("Album", predicate)).map(Self.text).sorted().joined(separator: "; ")
        }
        step("all", in: .list) { try albums() }
        let common = ["year == 1970", "title == 'a,b'", "year IN {1970, 1971}", "band.name == 'n1'", "year > 1969 AND year < 1972"]
        for predicate in predicates.isEmpty ? common : predicates { step(predicate, in: .predicates) { try albums(predicate) } }
        for keys in [["-year"], ["title"], ["year", "-rating"]] + sorts {
            step("by \(keys)", in: .orders) { try context.fetch(fetch("Album", by: keys, limit: 2)).map(Self.name).joined(separator: " ") }
        }
        step("count", in: .count) { "\(try context.count(for: fetch("Album")))" }
        step("titles", in: .relationships) {
            let request = NSFetchRequest<NSDictionary>(entityName: "Album")
            (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["title"])
            return try context.fetch(request).map { "\($0["title"] ?? "nil")" }.sorted().joined(separator: " ")
        }
        step("lists", in: .relationships) {
            try context.fetch(fetch("Band")).map { band in
                (band.value(forKey: "albums") as? Set<NSManagedObject> ?? []).map(Self.name).sorted().description
            }.sorted().description
        }
        step("along", in: .relationships) {
            let request = fetch("Album")
            request.relationshipKeyPathsForPrefetching = ["band"]
            return try context.fetch(request).map(Self.related).sorted().joined(separator: "; ")
        }
        step("insert", in: .changes) {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValuesForKeys(["title": "new", "year": 2000, "isLive": false, "releaseDate": Date(timeIntervalSince1970: 86_400)])
            album.setValue(try context.fetch(fetch("Band")).first, forKey: "band")
            try context.save()
            return Self.name(album)
        }
        step("insert two", in: .changes) {
            for number in 1...2 {
                NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("new \(number)", forKey: "title")
            }
            try context.save()
            return ""
        }
        step("update", in: .changes) {
            let albums = try context.fetch(fetch("Album"))
            guard let album = albums.min(by: { ($0.text("title") ?? "") < ($1.text("title") ?? "") }) else { return "none" }
            album.setValue("other", forKey: "title")
            album.setValue(nil, forKey: "year")
            try context.save()
            return ""
        }
        step("delete", in: .changes) {
            if let album = try context.fetch(fetch("Album")).first { context.delete(album) }
            try context.save()
            return ""
        }
    }

    private static func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }

    private static func text(_ album: NSManagedObject) -> String {
        let values = ["title", "year", "releaseDate", "isLive", "rating", "link"].map { album.value(forKey: $0).map { "\($0)" } ?? "nil" }
        let band = (album.value(forKey: "band") as? NSManagedObject).map(name) ?? "nil"
        return "\(name(album)) \(values.joined(separator: " ")) \(band)"
    }

    /// Returns what is read with further requests.
    private static func related(_ album: NSManagedObject) -> String {
        let tags = (album.value(forKey: "tags") as? Set<NSManagedObject> ?? []).map { $0.text("name") ?? "nil" }.sorted()
        return "\(name(album)) \((album.value(forKey: "band") as? NSManagedObject)?.text("name") ?? "nil") \(tags)"
    }

    /// Returns what an error says, with those that it is made of.
    static func text(_ error: any Error) -> String {
        let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        return ([error.localizedDescription] + details.map(text).sorted()).joined(separator: " / ")
    }
}
