/// A record of one request through a ``WebClient`` with all its tries, which is a line in the trace of a fetch. It has no credentials.
public struct RequestRecord: Hashable, Sendable, CustomStringConvertible {
    /// The purpose of the request.
    public var label: String
    /// The method.
    public var method: WebRequest.Method
    /// The requested address, without credentials.
    public var url: String
    /// The status of the answer; nil if there was none.
    public var status: Int?
    /// The reason why there was no answer, without credentials; nil if there was one.
    public var failure: String?
    /// The number of bytes in the bodies that were sent.
    public var bytesSent = 0
    /// The number of bytes in the bodies that were received, decompressed.
    public var bytesReceived = 0
    /// The time from the last try until the first byte of its answer, in seconds; nil if the transport does not tell it.
    public var secondsToFirstByte: Double?
    /// The time of the request with all its tries, in seconds.
    public var seconds = 0.0
    /// The part of ``seconds`` that the client spent waiting: for a retry, and for the service's rate limit.
    public var secondsWaiting = 0.0
    /// The number of times that the request was sent.
    public var tries = 0
    /// Whether the service may have received a try without an answer, or with an internal error. In that case, the status 404, 409 or 412 in the last
    /// answer may be a result of that try.
    public var mayHaveArrivedBefore = false
    /// The number of redirects that were followed.
    public var redirects = 0

    /// One line: `GET https://api.example.com/albums 200 in 35 ms (first byte 30 ms), 5120 bytes [Album.list]`.
    public var description: String {
        var text = "\(method.rawValue) \(url) \(status.map(String.init) ?? "failed") in \(Self.milliseconds(seconds))"
        if let secondsToFirstByte { text += " (first byte \(Self.milliseconds(secondsToFirstByte)))" }
        text += ", \(bytesReceived) bytes"
        if bytesSent > 0 { text += ", \(bytesSent) bytes sent" }
        if tries != 1 { text += ", \(tries) tries" }
        if redirects > 0 { text += ", \(redirects) \(redirects == 1 ? "redirect" : "redirects")" }
        if secondsWaiting > 0 { text += ", \(Self.milliseconds(secondsWaiting)) of it waiting" }
        if !label.isEmpty { text += " [\(label)]" }
        if let failure { text += ": \(failure)" }
        return text
    }

    private static func milliseconds(_ seconds: Double) -> String {
        let value = seconds * 1000
        return value.isFinite && value.magnitude < 1e15
            ? "\(value < 10 ? (value * 10).rounded() / 10 : value.rounded()) ms".replacingTail() : "?"
    }
}

extension String {
    /// Shortens `35.0 ms` to `35 ms`.
    fileprivate func replacingTail() -> String { hasSuffix(".0 ms") ? dropLast(5) + " ms" : self }
}
