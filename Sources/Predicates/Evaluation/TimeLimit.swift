internal import Synchronization

/// The time that a piece of work may take for somebody who asks from outside: evaluations and SQLite's statements end with an error once it is over.
///
/// It holds on the thread that does the work: for the current task, or the current call where there is no task.
package enum TimeLimit {
    /// When the time is over; nil where there is no limit.
    @TaskLocal private static var end: ContinuousClock.Instant?
    private static let isUsedFlag = Atomic<Bool>(false)

    /// Whether any work of the program is limited. Once it is, connections that are opened look at the time, and evaluations.
    package static var isUsed: Bool { isUsedFlag.load(ordering: .relaxed) }

    /// Lets the connections that are opened from now on look at the time.
    package static func enable() { isUsedFlag.store(true, ordering: .relaxed) }

    /// Whether the time of the current work is over.
    package static var isOver: Bool {
        guard isUsed, let end else { return false }
        return ContinuousClock.now >= end
    }

    /// Runs `body`, which may take a time.
    ///
    /// - Throws: What `body` throws: where ``isOver`` says so, it is an error of the time.
    package static func limiting<Result>(to duration: Duration, _ body: () throws -> Result) rethrows -> Result {
        enable()
        let own = ContinuousClock.now + duration
        return try $end.withValue(min(own, end ?? own), operation: body)
    }

    /// Runs `body`, which may take a time.
    ///
    /// - Returns: The result; nil where the time was over.
    /// - Throws: What `body` throws while there is time.
    package static func limited<Result>(to duration: Duration, _ body: () throws -> Result) rethrows -> Result? {
        try limiting(to: duration) {
            do { return try body() } catch {
                if isOver { return nil }
                throw error
            }
        }
    }

    /// - Throws: ``InvalidPredicateError/Kind/tooCostly`` once the time is over.
    static func check() throws {
        guard isOver else { return }
        throw InvalidPredicateError(
            kind: .tooCostly, message: "The predicate takes longer than its time. Let it compare fewer objects, or nest fewer subqueries")
    }
}
