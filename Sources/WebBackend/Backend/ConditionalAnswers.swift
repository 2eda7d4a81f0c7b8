internal import Predicates
internal import WebTransport

/// The last answers that had an `ETag` or a date, so that the service need not send them again where nothing has changed.
// Everything is in a `LockedBox`.
final class ConditionalAnswers: Sendable {
    private struct Entry {
        let response: WebResponse
        var used: UInt64
    }
    private struct State {
        var entries: [String: Entry] = [:]
        var bytes = 0
        var clock: UInt64 = 0
    }

    private let state = LockedBox(State())
    /// The number of bytes of bodies that are kept.
    private let limit: Int

    init(limit: Int = 4 << 20) { self.limit = limit }

    /// Returns a request that asks for an answer only if it is another one than the kept one.
    func conditional(_ request: WebRequest) -> WebRequest {
        guard request.method == .get else { return request }
        let kept = state.withLock { state -> WebResponse? in
            state.clock += 1
            state.entries[request.url]?.used = state.clock
            return state.entries[request.url]?.response
        }
        guard let kept else { return request }
        var request = request
        if let tag = kept.headers["ETag"] {
            request.headers["If-None-Match"] = tag
        } else if let date = kept.headers["Last-Modified"] {
            request.headers["If-Modified-Since"] = date
        }
        return request
    }

    /// Returns the answer to a request: the kept one, where the service says that it is still right.
    func answer(_ response: WebResponse, to request: WebRequest) -> WebResponse {
        guard request.method == .get else { return response }
        if response.status == 304 {
            return state.withLock { $0.entries[request.url]?.response } ?? response
        }
        guard response.status == 200, response.body.count <= limit / 8,
            response.headers["ETag"] != nil || response.headers["Last-Modified"] != nil
        else { return response }
        state.withLock { state in
            state.clock += 1
            if let old = state.entries[request.url] { state.bytes -= old.response.body.count }
            state.entries[request.url] = Entry(response: response, used: state.clock)
            state.bytes += response.body.count
            guard state.bytes > limit else { return }
            for (url, entry) in state.entries.sorted(by: { $0.value.used < $1.value.used }) where state.bytes > limit * 3 / 4 {
                state.bytes -= entry.response.body.count
                state.entries[url] = nil
            }
        }
        return response
    }
}
