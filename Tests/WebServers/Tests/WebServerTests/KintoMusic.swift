import CoreData
import Foundation
import RemoteStore
import WebBackend
import WebTransport

/// Buckets of a Kinto server, each with the collections of a model.
enum Kinto {
    static let authentication = Authentication.basic(user: "tests", password: .value("secret"))

    /// The account that owns every bucket, made once.
    private static let account = Result {
        let server = try PythonServer.kinto.get()
        try send(.put, "\(server.address)/v1/accounts/tests", #"{"data": {"password": "secret"}}"#, .none)
    }

    /// Makes a bucket with collections; returns the address of the collections.
    static func bucket(_ name: String, _ collections: [String]) throws -> String {
        let server = try PythonServer.kinto.get()
        try account.get()
        let bucket = "/v1/buckets/\(name)"
        let paths = [bucket] + collections.map { "\(bucket)/collections/\($0)" }
        let list = paths.map { #"{"method": "PUT", "path": "\#($0)"}"# }.joined(separator: ", ")
        try send(.post, "\(server.address)/v1/batch", #"{"requests": [\#(list)]}"#, authentication)
        return "\(server.address)\(bucket)/collections"
    }

    /// Sends a request as another program would, and returns the answer.
    @discardableResult
    static func send(
        _ method: WebRequest.Method, _ url: String, _ body: String? = nil, _ authentication: Authentication = Kinto.authentication
    ) throws -> WebResponse {
        var options = WebClient.Options()
        options.authentication = authentication
        let client = try WebClient(baseURL: url, options: options)
        let request = WebRequest(method, url, headers: ["Content-Type": "application/json"], body: body.map { Array($0.utf8) })
        let response = try waiting { try await client.send(request) }
        guard response.status < 400 else {
            throw PythonServer.Failure(
                description: "\(method.rawValue) \(url): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return response
    }

    /// Returns the records of all pages from an address on, as another program reads them.
    static func records(_ url: String) throws -> [[String: Any]] {
        var records: [[String: Any]] = []
        var next: String? = url
        while let url = next {
            let response = try send(.get, url)
            let body = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
            records += body?["data"] as? [[String: Any]] ?? []
            next = response.headers["Next-Page"]
        }
        return records
    }

    /// Strings are in the order of their code points in Kinto's memory.
    static var styleOfMemory: ServiceStyle {
        var style = ServiceStyle.kinto
        style.filters.comparesTextInOrder = true
        style.sorting.sortsTextInOrder = true
        return style
    }
}

/// Waits for asynchronous work on a thread of its own.
func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let place = ResultPlace<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: WaitingThreads.shared) {
        do { place.result = .success(try await body()) } catch { place.result = .failure(error) }
        done.signal()
    }
    done.wait()
    return try place.result!.get()
}

/// Threads for work that others wait for: those of the shared pool may all be waiting.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()
    private let queue = DispatchQueue(label: "WebServerTests.waiting", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

// Unchecked: a semaphore orders the write before the read.
private final class ResultPlace<Value: Sendable>: @unchecked Sendable {
    var result: Result<Value, any Error>?
}

/// Bands, albums and labels.
enum Music {
    static func model() -> NSManagedObjectModel {
        let (band, album, label) = (
            NSEntityDescription(name: "Band"), NSEntityDescription(name: "Album"), NSEntityDescription(name: "Label")
        )
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        albums.inverse(to: NSRelationshipDescription(name: "band", destination: band))
        let labels = NSRelationshipDescription(name: "labels", destination: label, toMany: true)
        labels.inverse(to: NSRelationshipDescription(name: "albums", destination: album, toMany: true))
        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true) -> NSAttributeDescription {
            NSAttributeDescription(name: name, type: type, isOptional: isOptional)
        }
        band.properties = [attribute("name", .string), attribute("founded", .integer32), albums]
        album.properties = [
            attribute("title", .string), attribute("year", .integer32), attribute("rating", .double), attribute("price", .decimal),
            attribute("isLive", .boolean), attribute("recordedAt", .date), albums.inverseRelationship!, labels,
        ]
        label.properties = [attribute("name", .string), labels.inverseRelationship!]
        return NSManagedObjectModel(entities: [band, album, label])
    }

    /// A store over a bucket of its own, or one that is there.
    static func kinto(_ style: ServiceStyle = .kinto, at address: String? = nil) throws -> WebStore {
        let address = try address ?? Kinto.bucket("music-\(UUID().uuidString.lowercased())", ["bands", "albums", "labels"])
        return try WebStore(WebService(address, style: style), model(), Kinto.authentication)
    }
}

extension WebStore {
    /// The address of the service.
    var address: String { store.url?.absoluteString ?? "" }

    /// Returns a new object.
    @discardableResult
    func insert(_ entity: String, _ values: [String: Any], in context: NSManagedObjectContext? = nil) -> NSManagedObject {
        let object = NSManagedObject(
            entity: coordinator.managedObjectModel.entitiesByName[entity]!, insertInto: context ?? self.context)
        object.setValuesForKeys(values)
        return object
    }

    /// Saves bands with albums of the years 1960, 1961, …; the first album of each has no year.
    func fill(bands: Int, albums: Int) throws {
        try context.performAndWait {
            var year = 1960
            for number in 1...bands {
                let band = insert("Band", ["name": "Band \(number)"])
                for index in 0..<albums {
                    let album = insert("Album", ["title": "Album \(index) of \(number)", "band": band])
                    if index > 0 {
                        album.setValue(year, forKey: "year")
                        year += 1
                    }
                }
            }
            try context.save()
            context.reset()
        }
        requests.clear()
    }
}
