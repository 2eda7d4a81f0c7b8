internal import CSQLite
internal import Predicates

extension SQLConnection {
    /// Lets statements end with an error once the time limit of the current work is over.
    func watchTime() { sqlite3_progress_handler(handle, 10_000, { _ in TimeLimit.isOver ? 1 : 0 }, nil) }

    /// Runs `body`, with a time limit for its statements.
    ///
    /// - Returns: The result; nil if the time was over.
    func limitingTime<Result>(to duration: Duration, _ body: () throws -> Result) throws -> Result? {
        watchTime()
        return try TimeLimit.limited(to: duration, body)
    }
}
