internal import Synchronization

/// The number of resources in the largest page that a call has brought, and the largest number of all that its answers have told.
///
/// A service may give fewer at a time than it is asked for. A smaller page than one that has come is the last of its list; one that is as large may be all
/// that the service gives.
final class PageCounts: Sendable {
    private let largest = Atomic<Int>(0)
    private let largestTotal = Atomic<Int>(0)

    func note(_ count: Int) { largest.max(count, ordering: .relaxed) }

    /// Notes the number of all resources that an answer has told.
    func note(total: Int) { largestTotal.max(total, ordering: .relaxed) }

    /// Returns whether a number of all resources may be where the service stops to count: no answer has told a larger one.
    func mayBeCut(_ total: Int) -> Bool { largestTotal.load(ordering: .relaxed) <= total }

    /// Returns whether pages have come, and none with so many resources.
    func areShort(of size: Int) -> Bool { (1..<size).contains(largest.load(ordering: .relaxed)) }

    /// Returns whether a larger page has come than one with so many resources.
    func hasLarger(than count: Int) -> Bool { largest.load(ordering: .relaxed) > count }
}
