internal import ExampleSupport
public import Foundation

/// A client of Bandcamp's API, version 3: every method sends one request over HTTP, and returns the JSON as dictionaries.
///
/// It knows nothing of Core Data. Use it on any thread; each call waits for its answer.
public final class BandCampAPI: Sendable {
    /// The base URL of the API.
    public let baseURL: URL

    private let connection: BandCampConnection
    private let count = Locked(0)

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The base URL of the API, such as `http://api.bandcamp.com`.
    ///   - timeout: The maximum number of seconds for an answer.
    public init(baseURL: URL, timeout: TimeInterval = 30) {
        self.baseURL = baseURL
        connection = BandCampConnection(timeout: timeout)
    }

    /// The number of requests sent.
    public var requestCount: Int { count.withLock { $0 } }

    /// Requests the bands, albums or tracks that match a predicate.
    ///
    /// The service filters as far as it can; the answer may contain more than what matches (the service ignores the case of band names),
    /// but never less.
    ///
    /// - Parameters:
    ///   - name: `Band`, `Album` or `Track`.
    ///   - predicate: The predicate.
    /// - Throws: An error of ``BandCampErrorDomain``; for a predicate that the service cannot search for, it names the predicate.
    public func apiRequestEntities(withName name: String, predicate: NSPredicate?) throws -> [[String: Any]] {
        try entities(named: name, BandCampQuestion(entityName: name, predicate: predicate))
    }

    /// Requests the albums of a band; none for an unknown band.
    public func apiDiscographyForBand(withId bandId: Int) throws -> [[String: Any]] {
        try list("discography", at: "/api/band/3/discography", "band_id", String(bandId))
    }

    /// Requests the tracks of an album, which are part of the answer for the album.
    public func apiTracksForAlbum(withId albumId: Int) throws -> [[String: Any]] {
        try list("tracks", at: "/api/album/2/info", "album_id", String(albumId))
    }

    /// Requests the bands with one of several names, ignoring case.
    public func apiBands(named names: [String]) throws -> [[String: Any]] {
        try list("results", at: "/api/band/3/search", "name", names.joined(separator: ","))
    }

    /// Requests the values of one band, album or track.
    ///
    /// - Throws: An error with the code ``BandCampErrorCode/unknownIdentifier`` when it does not exist.
    public func apiInfoForEntity(withName name: String, id: Int) throws -> [String: Any] {
        switch name {
        case "Band": try get("/api/band/3/info", "band_id", String(id))
        case "Album": try get("/api/album/2/info", "album_id", String(id))
        case "Track": try get("/api/track/3/info", "track_id", String(id))
        default: throw NSError.failure(BandCampErrorCode.unanswerableFetch, "Bandcamp has no entity “\(name)”.")
        }
    }

    // MARK: Requests

    private func entities(named name: String, _ question: BandCampQuestion) throws -> [[String: Any]] {
        switch question {
        case .nothing: return []
        case .bandNames(let names): return try apiBands(named: names.sorted())
        case .identifiers(let ids): return try ids.sorted().compactMap { try infoIfKnown(name, $0) }
        case .discographies(let bands): return try bands.sorted().flatMap { try apiDiscographyForBand(withId: $0) }
        case .tracks(let albums): return try albums.sorted().flatMap { try tracksIfKnown($0) }
        case .all(let questions): return try questions.flatMap { try entities(named: name, $0) }
        }
    }

    private func infoIfKnown(_ name: String, _ id: Int) throws -> [String: Any]? {
        do { return try apiInfoForEntity(withName: name, id: id) } catch  where error.isUnknownIdentifier { return nil }
    }

    private func tracksIfKnown(_ album: Int) throws -> [[String: Any]] {
        do { return try apiTracksForAlbum(withId: album) } catch  where error.isUnknownIdentifier { return [] }
    }

    // MARK: HTTP

    private func list(_ key: String, at path: String, _ parameter: String, _ value: String) throws -> [[String: Any]] {
        try BandCampResponse.list(key, of: get(path, parameter, value), at: baseURL.call(path, parameter, value))
    }

    private func get(_ path: String, _ parameter: String, _ value: String) throws -> [String: Any] {
        count.withLock { $0 += 1 }
        return try connection.object(at: baseURL.call(path, parameter, value))
    }
}
