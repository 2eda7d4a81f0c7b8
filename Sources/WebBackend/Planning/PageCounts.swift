internal import Synchronization

/// The number of resources in the largest page that a call has brought.
///
/// A service may give fewer at a time than it is asked for. A smaller page than one that has come is the last of its list; one that is as large may be all
/// that the service gives.
final class PageCounts: Sendable {
    private let largest = Atomic<Int>(0)

    func note(_ count: Int) { largest.max(count, ordering: .relaxed) }

    /// Returns whether pages have come, and none with so many resources.
    func areShort(of size: Int) -> Bool { (1..<size).contains(largest.load(ordering: .relaxed)) }

    /// Returns whether a larger page has come than one with so many resources.
    func hasLarger(than count: Int) -> Bool { largest.load(ordering: .relaxed) > count }
}
