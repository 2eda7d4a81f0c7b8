import CoreData
import Foundation
import FuzzDriver
import RemoteStore
import Synchronization
import WebBackend
import WebTransport

@main struct FuzzAnswers {
    static func main() { fuzz { fuzzAnswers($0, $1) } }
}

private let base = "https://api.example.com/v1"

/// The parts of an answer's body, which an input puts together.
private let parts = [
    "{\"results\":[", "{\"data\":[", "[", "]", "{", "}", "{\"id\":1,\"title\":\"a\",\"year\":1971,\"band\":2}",
    "{\"id\":\"2\",\"title\":null}",
    "{\"type\":\"albums\",\"id\":\"1\",\"attributes\":{\"title\":\"a\"},\"relationships\":{\"band\":{\"data\":{\"type\":\"bands\",\"id\":\"1\"}}}}",
    "],\"count\":2", "],\"next\":\"https://api.example.com/v1/albums/?page=2\"", "],\"total_rows\":9223372036854775807",
    ",\"last_modified\":1,",
    "\"id\":", "\"title\":", "\"year\":", "\"band\":", "\"albums\":", ":", ",", "\"", "\\u0000", "\\ud83d", "null", "true", "-1", "1e400",
    "9223372036854775808", "\"2024-02-30T25:00:00Z\"", "\"__type\":\"Date\"", "{\"errors\":[{\"status\":\"404\",\"detail\":\"a\"}]}",
    "<html>", "é",
    "{\"id\":3,\"band\":{\"id\":1,\"name\":\"b\"},\"albums\":[1,2]}", "{\"url\":\"https://api.example.com/v1/albums/1/\"}",
]
private let statuses = [200, 200, 200, 200, 201, 202, 204, 206, 301, 304, 400, 401, 404, 409, 412, 429, 500, 503, 0, 999]
private let headers: [(String, String)] = [
    ("Link", "<\(base)/albums?page=2>; rel=\"next\""), ("ETag", "\"1\""), ("ETag", "W/\"\""), ("Next-Page", "\(base)/albums?_token=a"),
    ("Total-Records", "9223372036854775807"), ("Content-Type", "text/html"), ("Retry-After", "-1"), ("Last-Modified", "Thu, 99 Foo 1970"),
    ("Location", "\(base)/albums/9"), ("Content-Range", "items 0-1/*"), ("Link", "<>;;,<"), ("Date", "yesterday"),
]

/// Answers each request by the next part of an input, and none once that has ended.
private final class Script: Transport {
    private let rest: Mutex<[ArraySlice<UInt8>]>

    init(_ input: ArraySlice<UInt8>) { rest = Mutex(input.split(separator: 0xFF, omittingEmptySubsequences: false)) }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let next = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard var next else { throw TransportError(.cannotConnect, request: request.url) }
        let status = statuses[Int(next.popFirst() ?? 0) % statuses.count]
        let first = next.popFirst() ?? 0
        let fields = headers.indices.filter { Int(first) & (1 << ($0 % 8)) != 0 }.map { WebHeaders.Field(headers[$0].0, headers[$0].1) }
        return WebResponse(status: status, headers: WebHeaders(first & 1 == 0 ? [] : fields), body: assembled(next, of: parts))
    }
}

private func makeModel() -> NSManagedObjectModel {
    let band = NSEntityDescription(name: "Band")
    let album = NSEntityDescription(name: "Album")
    let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
    let owner = NSRelationshipDescription(name: "band", destination: band)
    albums.inverse(to: owner)
    band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
    album.properties = [
        NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer16),
        NSAttributeDescription(name: "released", type: .date), NSAttributeDescription(name: "price", type: .decimal), owner,
    ]
    return NSManagedObjectModel(entities: [band, album])
}

private let styles: [ServiceStyle] = [.plain, .djangoREST, .jsonAPI, .gitHub, .kinto, .couchDB, .parse]

/// Whatever a service answers is a result or an error; it must not stop the program. What was saved without an error has an identifier.
func fuzzAnswers(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = Array(UnsafeBufferPointer(start: start, count: count))[...]
    let choice = Int(input.popFirst() ?? 0)
    let model = makeModel()
    var options = WebClient.Options()
    options.retries.maximumTries = 1
    let service = WebService(base, style: styles[choice % styles.count], resources: [WebResource("Album"), WebResource("Band")])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    guard let backend = try? WebBackend(service, model: model, transport: Script(input), options: options),
        (try? coordinator.addRemoteStore(backend, options: RemoteStoreOptions(maximumResults: 500, maximumPages: 20))) != nil
    else { fatalError("The description of the fuzzer is wrong.") }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
        request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
        if choice & 16 != 0 { request.predicate = NSPredicate(format: "title CONTAINS 'a' AND band.name != nil") }
        if choice & 32 != 0 { request.fetchLimit = 2 }
        for album in (try? context.fetch(request)) ?? [] {
            _ = (album.value(forKey: "title"), album.value(forKey: "year"), album.value(forKey: "released"))
            _ = (album.value(forKey: "band") as? NSManagedObject)?.value(forKey: "albums") as? Set<NSManagedObject>
        }
        if choice & 64 != 0 { _ = try? context.count(for: request) }
        guard choice & 128 != 0 else { return }
        let new = NSManagedObject(entity: model.entitiesByName["Album"] ?? NSEntityDescription(), insertInto: context)
        new.setValue("new", forKey: "title")
        if (try? context.save()) != nil, new.objectID.isTemporaryID { fatalError("A saved object has no identifier.") }
    }
    return 0
}
