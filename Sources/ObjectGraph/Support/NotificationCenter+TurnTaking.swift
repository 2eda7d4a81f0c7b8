internal import Foundation
internal import Synchronization

extension NotificationCenter {
    /// Whether a thread posts.
    private static let isPosting = Atomic(false)
    /// The number of times that a thread lets others run before it posts concurrently with another one.
    private static let mostTurns = 20

    /// Posts to the default center like ``post(name:object:userInfo:)``, on the calling thread; threads that post at the same time take turns if that is
    /// possible at once.
    ///
    /// The center's lock goes from each thread to the one that has waited longest, which has to be woken first. If many contexts save, all of them
    /// soon wait for it. A thread that posts after another one finds the lock free. No thread waits for an observer: after some turns, it posts
    /// concurrently with others.
    static func postInTurn(name: Notification.Name, object: Any?, userInfo: [AnyHashable: Any]? = nil) {
        var turns = 0
        var isTurn = takeTurn()
        while !isTurn, turns < mostTurns {
            sched_yield()
            turns += 1
            isTurn = takeTurn()
        }
        defer { if isTurn { isPosting.store(false, ordering: .releasing) } }
        `default`.post(name: name, object: object, userInfo: userInfo)
    }

    private static func takeTurn() -> Bool {
        isPosting.compareExchange(expected: false, desired: true, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
    }
}
