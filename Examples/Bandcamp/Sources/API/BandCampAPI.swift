internal import ExampleSupport
public import Foundation

/// Bandcamp's API, version 3, as a class: every method is one question over HTTP, and answers with the JSON as dictionaries.
///
/// It knows addresses and keys and nothing of Core Data. May be used from any thread; each call waits for its answer.
public final class BandCampAPI: Sendable {
    /// The address below which the API lies.
    public let baseURL: URL

    private let connection: BandCampConnection
    private let count = Locked(0)

    /// Makes an API.
    ///
    /// - Parameters:
    ///   - baseURL: the address below which the API lies, such as `http://api.bandcamp.com`.
    ///   - timeout: how many seconds an answer may take.
    public init(baseURL: URL, timeout: TimeInterval = 30) {
        self.baseURL = baseURL
        connection = BandCampConnection(timeout: timeout)
    }

    /// How many requests have been sent.
    public var requestCount: Int { count.withLock { $0 } }

    /// The bands, albums or tracks that a predicate asks for.
    ///
    /// What the service can narrow down it does; the answer may hold more than what matches (the service finds bands regardless of
    /// upper and lower case), never less.
    ///
    /// - Parameters:
    ///   - name: `Band`, `Album` or `Track`.
    ///   - predicate: which ones.
    /// - Throws: an error of ``BandCampErrorDomain``; for a predicate that gives the service nothing to look for it names the predicate.
    public func apiRequestEntities(withName name: String, predicate: NSPredicate?) throws -> [[String: Any]] {
        try entities(named: name, BandCampQuestion(entityName: name, predicate: predicate))
    }

    /// The albums of a band; none for a band that the service does not know.
    public func apiDiscographyForBand(withId bandId: Int) throws -> [[String: Any]] {
        try list("discography", at: "/api/band/3/discography", "band_id", String(bandId))
    }

    /// The tracks of an album, which come with the answer to the question for the album.
    public func apiTracksForAlbum(withId albumId: Int) throws -> [[String: Any]] {
        try list("tracks", at: "/api/album/2/info", "album_id", String(albumId))
    }

    /// The bands with one of several names, upper and lower case not told apart.
    public func apiBands(named names: [String]) throws -> [[String: Any]] {
        try list("results", at: "/api/band/3/search", "name", names.joined(separator: ","))
    }

    /// What the service knows about one band, album or track.
    ///
    /// - Throws: an error with the code ``BandCampErrorCode/unknownIdentifier`` when it does not exist.
    public func apiInfoForEntity(withName name: String, id: Int) throws -> [String: Any] {
        switch name {
        case "Band": try get("/api/band/3/info", "band_id", String(id))
        case "Album": try get("/api/album/2/info", "album_id", String(id))
        case "Track": try get("/api/track/3/info", "track_id", String(id))
        default: throw NSError.failure(BandCampErrorCode.unanswerableFetch, "Bandcamp has no entity “\(name)”.")
        }
    }

    // MARK: Questions

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
        let answer = try get(path, parameter, value)
        guard let list = answer[key] as? [[String: Any]] else {
            throw NSError.failure(
                BandCampErrorCode.malformedAnswer, asking: address(path, parameter, value), "The answer has no list “\(key)”.")
        }
        return list
    }

    private func get(_ path: String, _ parameter: String, _ value: String) throws -> [String: Any] {
        count.withLock { $0 += 1 }
        return try connection.object(at: address(path, parameter, value))
    }

    private func address(_ path: String, _ parameter: String, _ value: String) -> URL {
        // Everything that has a meaning in a query is encoded: a band may be called “AC&DC+1”.
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~,"))
        let encoded = value.addingPercentEncoding(withAllowedCharacters: allowed.intersection(Self.ascii)) ?? value
        let base = baseURL.absoluteString.hasSuffix("/") ? String(baseURL.absoluteString.dropLast()) : baseURL.absoluteString
        return URL(string: "\(base)\(path)?\(parameter)=\(encoded)") ?? baseURL
    }

    private static let ascii = CharacterSet(charactersIn: Unicode.Scalar(0)...Unicode.Scalar(127))
}
