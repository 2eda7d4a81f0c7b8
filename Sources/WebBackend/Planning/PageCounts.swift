internal import Synchronization

/// The size of the largest page of a call so far, and the largest total in its answers.
///
/// A service may have a smaller limit than the requested page size. A page that is smaller than an earlier one is the last of its list. A page of the
/// same size as the largest may have reached the limit.
final class PageCounts: Sendable {
    private let largest = Atomic<Int>(0)
    private let largestTotal = Atomic<Int>(0)

    func note(_ count: Int) { largest.max(count, ordering: .relaxed) }

    /// Notes a total from an answer.
    func note(total: Int) { largestTotal.max(total, ordering: .relaxed) }

    /// Returns whether a total may be the number at which the service stops counting: no answer has had a larger one.
    func mayBeCut(_ total: Int) -> Bool { largestTotal.load(ordering: .relaxed) <= total }

    /// Returns whether pages have come, and all of them were smaller than a size.
    func areShort(of size: Int) -> Bool { (1..<size).contains(largest.load(ordering: .relaxed)) }

    /// Returns whether a page with more resources than a number has come.
    func hasLarger(than count: Int) -> Bool { largest.load(ordering: .relaxed) > count }
}
