import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import WebBackend
import WebTransport

/// A service that answers as a closure says, and keeps what it was asked.
final class ScriptedService: Transport {
    private let answer: @Sendable (WebRequest) throws -> WebResponse
    private let kept = Mutex<[WebRequest]>([])

    init(_ answer: @escaping @Sendable (WebRequest) throws -> WebResponse) { self.answer = answer }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        kept.withLock { $0.append(request) }
        return try answer(request)
    }

    /// The requests so far.
    var requests: [WebRequest] { kept.withLock { $0 } }
    /// The methods and paths with parameters of the requests so far, without the address.
    var targets: [String] { requests.map(\.target) }
}

extension WebRequest {
    /// Method, path and parameters: `GET /bands?name=x`.
    var target: String { "\(method.rawValue) \(url.dropFirst(base.count).removingPercentEncoding ?? url)" }
    /// The path without parameters.
    var path: String { String(url.dropFirst(base.count).prefix { $0 != "?" }) }
    /// The values of a parameter.
    func query(_ name: String) -> String? {
        URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
    }
    /// The body as JSON.
    var json: JSONValue? { body.flatMap { try? JSONValue(parsing: $0) } }
}

/// The address of the services of the tests.
let base = "https://api.example.com/v1"

extension WebResponse {
    /// An answer in JSON.
    static func json(_ text: String, status: Int = 200, headers: WebHeaders = [:]) -> WebResponse {
        WebResponse(status: status, headers: headers, body: Array(text.utf8))
    }
}

extension WebService {
    /// A context with a store over the service, as a transport answers for it.
    func context(_ transport: some Transport, _ model: NSManagedObjectModel = Music.model()) throws -> NSManagedObjectContext {
        var options = WebClient.Options()
        options.retries.maximumTries = 1
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(WebBackend(self, model: model, transport: transport, options: options))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

/// Bands with albums with tracks.
enum Music {
    static func model() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album")
        let track = NSEntityDescription(name: "Track")
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)
        band.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "homepage", type: .uri), albums,
        ]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "releaseDate", type: .date),
            NSAttributeDescription(name: "rating", type: .double), NSAttributeDescription(name: "price", type: .decimal),
            NSAttributeDescription(name: "isLive", type: .boolean), NSAttributeDescription(name: "year", type: .integer64),
            NSAttributeDescription(name: "kind", type: .string), albumBand, tracks,
        ]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "seconds", type: .integer64), trackAlbum,
        ]
        return NSManagedObjectModel(entities: [band, album, track])
    }
}

/// A fetch request.
func fetch(_ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by keys: [String] = [], limit: Int = 0)
    -> NSFetchRequest<NSManagedObject>
{
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = keys.map { key in
        key.hasPrefix("-")
            ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false) : NSSortDescriptor(key: key, ascending: true)
    }
    request.fetchLimit = limit
    return request
}

extension NSManagedObject {
    /// The text of an attribute.
    func text(_ name: String) -> String? { value(forKey: name) as? String }
}

/// A value that is used on any thread.
final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Synchronization.Mutex<Value>
    init(_ value: Value) { mutex = Synchronization.Mutex(value) }
    func withValue<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { mutex.withLock { body(&$0) } }
}
