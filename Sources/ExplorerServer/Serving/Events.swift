#if Command
internal import Explorer
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Tells a page when the files of the store change (server-sent events).
struct Events: Sendable {
    static let path = "/api/events"

    private let session: ExplorerSession
    private static let interval = Duration.milliseconds(300)
    /// The number of intervals after which a closed page is noticed.
    private static let silence = 50

    init(_ session: ExplorerSession) { self.session = session }

    func response() -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: .init { [session] writer in
                var known = session.stamp()
                var silent = 0
                try await writer.write(ByteBuffer(string: "retry: 1000\nevent: open\ndata: \(known)\n\n"))
                while !Task.isCancelled {
                    try await Task.sleep(for: Self.interval)
                    let stamp = session.stamp()
                    silent += 1
                    if stamp != known {
                        (known, silent) = (stamp, 0)
                        try await writer.write(ByteBuffer(string: "event: changed\ndata: \(stamp)\n\n"))
                    } else if silent >= Self.silence {
                        silent = 0
                        try await writer.write(ByteBuffer(string: ": still here\n\n"))
                    }
                }
                try await writer.finish(nil)
            })
    }
}
#endif
