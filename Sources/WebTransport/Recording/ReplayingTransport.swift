internal import Foundation
internal import Platform

/// Answers requests from a cassette, without a network.
///
/// The answer to a request is that of a recorded request with the same method, address and body, all without secrets. The order of the keys of JSON
/// does not matter. A request that was recorded several times gets the answers in their order, and after that the last one again.
///
/// It may be used on any thread.
public final class ReplayingTransport: Transport {
    private struct Key: Hashable {
        var method: WebRequest.Method
        var url: String
        var body: [UInt8]
    }

    private let cassette: Cassette
    private let removal: SecretRemoval
    private let places: [Key: [Int]]
    /// The number of times that each request was sent.
    private let counts = LockedBox<[Key: Int]>([:])

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - cassette: The requests and their answers.
    ///   - removal: The rules for secrets of the recording.
    public init(_ cassette: Cassette, removing removal: SecretRemoval = SecretRemoval()) {
        self.cassette = cassette
        self.removal = removal
        var places: [Key: [Int]] = [:]
        for (index, interaction) in cassette.interactions.enumerated() {
            places[Self.key(removal.request(interaction.request) { $0 }), default: []].append(index)
        }
        self.places = places
    }

    /// Returns the recorded answer to a request.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/notRecorded``, which names the nearest request that was recorded.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let removing = RequestNotes.current?.removingSecrets ?? { $0 }
        let clean = removal.request(request, literally: removing)
        let key = Self.key(clean)
        guard let indices = places[key] else {
            throw TransportError(.notRecorded, request: "\(clean.method.rawValue) \(clean.url)", detail: nearest(to: key))
        }
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 1]
        }
        let response = cassette.interactions[indices[min(count, indices.count) - 1]].response
        guard response.body.count <= limits.maximumBytes else {
            throw TransportError(
                .tooLarge, request: "\(clean.method.rawValue) \(clean.url)", detail: "It may have \(limits.maximumBytes) bytes.")
        }
        return response
    }

    private static func key(_ request: WebRequest) -> Key {
        var body = request.body ?? []
        if let first = body.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = try? JSONSerialization.jsonObject(with: Data(body)),
            let sorted = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
        {
            body = Array(sorted)
        }
        let url = (try? WebAddress(request.url).text) ?? request.url
        return Key(method: request.method, url: url, body: body)
    }

    /// Returns the name of the most similar recorded request.
    private func nearest(to key: Key) -> String {
        func likeness(_ other: Key) -> Int {
            let urls = other.url == key.url ? 10_000 : other.url.commonPrefix(with: key.url).count
            return urls * 4 + (other.method == key.method ? 2 : 0) + (other.body == key.body ? 1 : 0)
        }
        let best = places.max { left, right in
            let (leftLikeness, rightLikeness) = (likeness(left.key), likeness(right.key))
            return leftLikeness == rightLikeness ? (left.value[0] > right.value[0]) : leftLikeness < rightLikeness
        }
        guard let best else { return "The cassette is empty." }
        let name = "\(best.key.method.rawValue) \(best.key.url)"
        guard best.key.url == key.url, best.key.method == key.method else { return "The nearest is \(name)." }
        let common = zip(best.key.body, key.body).prefix { $0 == $1 }.count
        return
            "The nearest is \(name), whose body of \(best.key.body.count) bytes differs from that of \(key.body.count) bytes at byte \(common)."
    }
}
