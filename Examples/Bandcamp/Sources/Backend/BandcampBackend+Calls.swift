internal import ExampleSupport
internal import Foundation
internal import Predicates
internal import RemoteStore

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension BandcampBackend {
    // MARK: Calls

    /// Returns a list of a call's answer; empty without anything to ask for.
    func list(_ key: String, at path: String, _ parameter: String, _ value: String) async throws -> [[String: Any]] {
        if value.isEmpty { return [] }
        let url = location.call(path, parameter, value)
        return try BandCampResponse.list(key, of: try await object(at: url), at: url)
    }

    /// Returns the answer of a call by identifier; nil for what Bandcamp does not know.
    func info(_ path: String, _ parameter: String, _ request: BackendRequest) async throws -> [String: Any]? {
        do { return try await object(at: location.call(path, parameter, Self.numbers(request))) } catch  where error.isUnknownIdentifier {
            return nil
        }
    }

    private func object(at url: URL) async throws -> [String: Any] {
        let body: Data
        let response: URLResponse
        do { (body, response) = try await session.answer(to: URLRequest(url: url)) } catch {
            try Task.checkCancellation()
            throw NSError.failure(BandCampErrorCode.unreachable, asking: url, "No answer came: \(error.localizedDescription)", cause: error)
        }
        return try BandCampResponse.object(body, status: (response as? HTTPURLResponse)?.statusCode ?? 0, of: url)
    }

    // MARK: Parameters

    /// Returns the identifiers that a request is about, given as objects or as numbers.
    static func numbers(_ request: BackendRequest) -> String {
        guard let filter = request.filter("id") else { return "" }
        let given =
            filter.ids.map(\.description) + filter.values.compactMap { if case .int64(let number) = $0 { "\(number)" } else { nil } }
        return given.joined(separator: ",")
    }

    /// Returns the names that a request is about. No band has an empty name.
    static func names(_ request: BackendRequest) throws -> String {
        let names = (request.filter("name")?.values ?? []).compactMap { if case .string(let name) = $0 { name } else { nil } }
        if let name = names.first(where: { $0.contains(",") }) {
            throw NSError.failure(
                BandCampErrorCode.unanswerableFetch,
                "Bandcamp cannot look for a band called “\(name)”: it takes the comma for the end of a name.")
        }
        return names.filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }.sorted().joined(separator: ",")
    }

    // MARK: Answers

    func add(
        _ sent: [String: Any], to answer: inout BackendAnswer, _ entity: String, _ more: [String: ResourceValue] = [:]
    ) throws {
        try answer.add(Self.identifier(of: sent, entity), Self.values(sent, of: entity).merging(more) { $1 })
    }

    func embed(_ sent: [String: Any], in answer: inout BackendAnswer, _ entity: String) throws {
        try answer.embed(Self.identifier(of: sent, entity), entity: entity, Self.values(sent, of: entity))
    }

    static func reference(_ number: Any?) -> ResourceReference? { (number as? Int).map { ResourceReference(.integer(Int64($0))) } }

    private static func identifier(of sent: [String: Any], _ entity: String) throws -> ResourceID {
        let key = "\(entity.lowercased())_id"
        guard let reference = reference(sent[key]) else {
            throw NSError.failure(BandCampErrorCode.malformedAnswer, "An answer has a “\(entity)” without the number “\(key)”.")
        }
        return reference.id
    }

    /// Returns the service's values as those of an entity. What the model does not have is left out.
    private static func values(_ sent: [String: Any], of entity: String) throws -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        for name in attributes[entity] ?? [] { values[name] = .value(try PropertyValue(any: sent[name])) }
        switch entity {
        case "Album":
            values["band"] = .one(reference(sent["band_id"]))
            if let seconds = sent["release_date"] as? Double {
                values["release_date"] = .value(.date(Date(timeIntervalSince1970: seconds)))
            }
        case "Track": values["album"] = .one(reference(sent["album_id"]))
        default: break
        }
        return values
    }

    /// The attributes that every answer with an entity has. Of these, one that is not sent has no value.
    private static let attributes = [
        "Band": ["band_id", "name", "subdomain", "url", "offsite_url"],
        "Album": ["album_id", "band_id", "title", "release_date", "downloadable", "url", "small_art_url", "large_art_url"],
        "Track": [
            "track_id", "album_id", "band_id", "number", "title", "artist", "duration", "downloadable", "url", "streaming_url",
            "small_art_url", "large_art_url",
        ],
    ]
}
