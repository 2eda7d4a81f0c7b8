#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import Platform

/// Chooses the event loop of a request: the one with the fewest requests of the transport; of several, the first.
///
/// Consecutive requests therefore run on the loop of the connection that they use, so that no thread waits for another, while simultaneous requests use
/// several loops.
// `LockedBox` guards what changes.
final class EventLoopChoice: Sendable {
    private let loops: [any EventLoop]
    /// The number of requests on each loop.
    private let busy: LockedBox<[Int]>

    init(_ client: HTTPClient) {
        loops = Array(client.eventLoopGroup.makeIterator())
        busy = LockedBox(Array(repeating: 0, count: loops.count))
    }

    /// Returns the event loop for a request, and its index, which must be given back.
    func take() -> (place: Int, loop: any EventLoop) {
        let place = busy.withLock { busy in
            var place = 0
            for index in busy.indices where busy[index] < busy[place] { place = index }
            busy[place] += 1
            return place
        }
        return (place, loops[place])
    }

    /// Notes that a request has ended.
    func giveBack(_ place: Int) { busy.withLock { $0[place] -= 1 } }
}
#endif
