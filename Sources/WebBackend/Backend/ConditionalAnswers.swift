internal import Platform
internal import Predicates
internal import WebTransport

/// A cache of the last answers that have an `ETag` or a date. The service does not send an answer again if nothing has changed.
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
    /// The maximum size of the kept bodies, in bytes.
    private let limit: Int

    init(limit: Int = 4 << 20) { self.limit = limit }

    /// Returns a request whose answer is only sent if it differs from the kept one, and that kept answer.
    func conditional(_ request: WebRequest) -> (request: WebRequest, kept: WebResponse?) {
        guard request.method == .get else { return (request, nil) }
        let kept = state.withLock { state -> WebResponse? in
            state.clock += 1
            state.entries[request.url]?.used = state.clock
            return state.entries[request.url]?.response
        }
        guard let kept else { return (request, nil) }
        var asked = request
        if let tag = kept.headers["ETag"] {
            asked.headers["If-None-Match"] = tag
        } else if let date = kept.headers["Last-Modified"], date != kept.headers["Date"] {
            // The date has whole seconds, so the resource may have changed again within the same second.
            asked.headers["If-Modified-Since"] = date
        } else {
            return (request, nil)
        }
        return (asked, kept)
    }

    /// Forgets an answer that cannot be read. Otherwise the service would report for ever that it has not changed.
    func forget(_ request: WebRequest) {
        state.withLock { state in
            if let old = state.entries.removeValue(forKey: request.url) { state.bytes -= old.response.body.count }
        }
    }

    /// Returns the answer to a request. If the service reports that nothing has changed (304), this is the answer that the condition was made from: the
    /// one in the cache may be another by now, even an older one.
    func answer(_ response: WebResponse, to request: WebRequest, kept: WebResponse? = nil) -> WebResponse {
        guard request.method == .get else { return response }
        if response.status == 304 { return kept ?? response }
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
