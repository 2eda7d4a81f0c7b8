internal import Synchronization

/// The time limit of work for an external caller: evaluations and SQLite's statements end with an error once it is over.
///
/// It applies on the thread that does the work: for the current task, or for the current call if there is no task.
package enum TimeLimit {
    /// The end of the time; nil if there is no limit.
    @TaskLocal private static var end: ContinuousClock.Instant?
    private static let isUsedFlag = Atomic<Bool>(false)

    /// Whether any work of the program has a limit. From then on, evaluations and newly opened connections observe it.
    package static var isUsed: Bool { isUsedFlag.load(ordering: .relaxed) }

    /// Makes connections that are opened from now on observe the time limit.
    package static func enable() { isUsedFlag.store(true, ordering: .relaxed) }

    /// Whether the time of the current work is over.
    package static var isOver: Bool {
        guard isUsed, let end else { return false }
        return ContinuousClock.now >= end
    }

    /// Runs `body` with a time limit.
    ///
    /// - Throws: The errors of `body`. If ``isOver`` is true, the cause is the time limit.
    package static func limiting<Result>(to duration: Duration, _ body: () throws -> Result) rethrows -> Result {
        enable()
        let own = ContinuousClock.now + duration
        return try $end.withValue(min(own, end ?? own), operation: body)
    }

    /// Runs `body` with a time limit.
    ///
    /// - Returns: The result; nil if the time was over.
    ///
    /// - Throws: The errors of `body` before the time is over.
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
