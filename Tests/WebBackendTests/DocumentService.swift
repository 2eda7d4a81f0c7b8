import Foundation
import JSONReading
import Synchronization
import WebTransport

/// A service that knows only whole documents: it lists them, and replaces one by `PUT`, of the version that `If-Match` names.
final class DocumentService: Transport {
    private struct State {
        var albums: [String: JSONObject] = [:]
        var version: Int64 = 0
        var requests: [WebRequest] = []
    }
    private let state = Mutex(State())

    /// The documents by their identifiers.
    var albums: [String: JSONObject] { state.withLock { $0.albums } }
    /// The requests that have arrived.
    var requests: [WebRequest] { state.withLock { $0.requests } }
    func forgetRequests() { state.withLock { $0.requests = [] } }

    /// Does to a document what another client does; nil: it is there no more.
    func change(_ id: String, _ body: (inout JSONObject) -> Void) {
        state.withLock { state in
            var album = state.albums[id] ?? JSONObject()
            body(&album)
            Self.put(id, album, &state)
        }
    }

    func remove(_ id: String) { state.withLock { _ = $0.albums.removeValue(forKey: id) } }

    private static func put(_ id: String, _ album: JSONObject, _ state: inout State) {
        state.version += 1
        var album = album
        (album["id"], album["version"]) = (.string(id), .integer(state.version))
        state.albums[id] = album
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            state.requests.append(request)
            let id = request.path.split(separator: "/").dropFirst().first.map(String.init)
            let old = id.flatMap { state.albums[$0] }
            guard let id else {
                let all = state.albums.sorted { $0.key < $1.key }.map { JSONValue.object($0.value) }
                return .json(JSONValue.array(all).description)
            }
            if let tag = request.headers["If-Match"], old?["version"].map({ "\"\($0.integer ?? 0)\"" }) != tag {
                return .json("{}", status: 412)
            }
            if request.headers["If-None-Match"] == "*", old != nil { return .json("{}", status: 412) }
            switch request.method {
            case .put:
                Self.put(id, request.json?.object ?? JSONObject(), &state)
            case .delete:
                state.albums[id] = nil
                return .json("{}", status: old == nil ? 404 : 204)
            default:
                break
            }
            return state.albums[id].map { .json(JSONValue.object($0).description) } ?? .json("{}", status: 404)
        }
    }
}
