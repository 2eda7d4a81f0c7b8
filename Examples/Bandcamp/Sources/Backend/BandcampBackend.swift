internal import ExampleSupport
public import Foundation
internal import Predicates
public import RemoteStore

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Bandcamp's API as a backend: its calls as endpoints, and the translation of its answers.
///
/// What a fetch asks, what is finished in memory, and what is asked together, is up to the store over it. The model is the one of
/// ``BandCampIS``, which does all that by hand.
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
/// try coordinator.addRemoteStore(BandcampBackend(at: address))
/// ```
public struct BandcampBackend: Backend {
    /// The base URL of the API.
    public let location: URL

    /// The calls of the API that read bands, albums and tracks.
    public let resources = [
        Resource(
            "Band",
            endpoints: [
                // Names are whole, and found regardless of case.
                Endpoint("search", parameters: [Parameter("name", isRequired: true, maximumValues: 50, text: .caseInsensitive)]),
                Endpoint("info", parameters: [Parameter("SELF", "band_id", name: "id", isRequired: true)]),
            ]),
        Resource(
            "Album",
            endpoints: [
                Endpoint(
                    "discography", parameters: [Parameter("band", "band_id", "band.band_id", name: "id", isRequired: true)],
                    cost: .init(expectedRows: 20)),
                Endpoint(
                    "info", parameters: [Parameter("SELF", "album_id", name: "id", isRequired: true)],
                    embeddings: [.init("tracks", isAlwaysThere: true)]),
            ]),
        Resource(
            "Track",
            endpoints: [
                Endpoint(
                    "album", parameters: [Parameter("album", "album_id", "album.album_id", name: "id", isRequired: true)],
                    cost: .init(expectedRows: 20)),
                Endpoint("info", parameters: [Parameter("SELF", "track_id", name: "id", isRequired: true, maximumValues: 25)]),
            ]),
    ]

    let session: URLSession

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - location: The base URL of the API, such as `http://api.bandcamp.com`.
    ///   - timeout: The maximum number of seconds for an answer.
    public init(at location: URL, timeout: TimeInterval = 30) {
        self.location = location
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    /// Makes one call of the API.
    ///
    /// - Throws: An error of ``BandCampErrorDomain`` that names the address.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        var answer = request.answer()
        // What a call by identifier does not bring does not exist.
        answer.isComplete = true
        switch (request.entity, request.endpoint) {
        case ("Band", "search"):
            for band in try await list("results", at: "/api/band/3/search", "name", try Self.names(request)) {
                try add(band, to: &answer, "Band")
            }
        case ("Band", _):
            if let band = try await info("/api/band/3/info", "band_id", request) { try add(band, to: &answer, "Band") }
        case ("Album", "discography"):
            for album in try await list("discography", at: "/api/band/3/discography", "band_id", Self.numbers(request)) {
                try add(album, to: &answer, "Album")
            }
        case ("Album", _):
            guard let album = try await info("/api/album/2/info", "album_id", request) else { break }
            let tracks = album["tracks"] as? [[String: Any]] ?? []
            try add(album, to: &answer, "Album", ["tracks": .many(tracks.compactMap { Self.reference($0["track_id"]) })])
            for track in tracks { try embed(track, in: &answer, "Track") }
        case ("Track", "album"):
            let album = try await info("/api/album/2/info", "album_id", request)
            for track in album?["tracks"] as? [[String: Any]] ?? [] { try add(track, to: &answer, "Track") }
        default:
            guard let found = try await info("/api/track/3/info", "track_id", request) else { break }
            // Of several tracks, each is a member of the answer.
            for track in found["track_id"] == nil ? found.values.compactMap({ $0 as? [String: Any] }) : [found] {
                try add(track, to: &answer, "Track")
            }
        }
        return answer
    }
}
