import Foundation
import Platform

@testable import WebTransport

/// A clock that goes forward only by the waits of its client, which take no time.
final class VirtualTime: Sendable {
    private let now = LockedBox(1000.0)
    private let sleeps = LockedBox<[Double]>([])

    /// The seconds since 1970 when the clock begins.
    static let start = 1_800_000_000.0

    var waits: [Double] { sleeps.withLock { $0 } }

    func advance(_ seconds: Double) { now.withLock { $0 += seconds } }

    /// - Parameter random: What chance says, always.
    func clientTime(random: Double = 0.5) -> ClientTime {
        ClientTime(
            seconds: { self.now.withLock { $0 } }, secondsSince1970: { Self.start - 1000 + self.now.withLock { $0 } },
            sleep: { seconds in
                try Task.checkCancellation()
                self.sleeps.withLock { $0.append(seconds) }
                self.advance(seconds)
            }, random: { random })
    }
}
