/// What one request through a ``WebClient`` took, with all its tries: a line of the trace of a fetch. It has no credentials.
public struct RequestRecord: Hashable, Sendable, CustomStringConvertible {
    /// What the request was for.
    public var label: String
    /// The method.
    public var method: WebRequest.Method
    /// The address that was asked for, without credentials.
    public var url: String
    /// The status of the answer; nil where none came.
    public var status: Int?
    /// The reason why no answer came, without credentials; nil where one did.
    public var failure: String?
    /// The bytes of the bodies that were sent.
    public var bytesSent = 0
    /// The bytes of the bodies that came, decompressed.
    public var bytesReceived = 0
    /// The time from the last try until its first byte came, in seconds, where the transport says so.
    public var secondsToFirstByte: Double?
    /// The time of the request with all its tries, in seconds.
    public var seconds = 0.0
    /// The part of ``seconds`` in which the client waited: before another try, and for the service's limit of requests.
    public var secondsWaiting = 0.0
    /// How often the request was sent.
    public var tries = 0
    /// Whether the service may have got one of the tries to which no answer came, or an error of the service: where the answer to the last one is
    /// 404, 409 or 412, that may be so because of this one.
    public var mayHaveArrivedBefore = false
    /// How many redirects were followed.
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
    /// Writes `35.0 ms` as `35 ms`.
    fileprivate func replacingTail() -> String { hasSuffix(".0 ms") ? dropLast(5) + " ms" : self }
}
