internal import CSQLite
internal import Predicates

extension SQLConnection {
    /// Lets statements end with an error once the time of the work that they are for is over.
    func watchTime() { sqlite3_progress_handler(handle, 10_000, { _ in TimeLimit.isOver ? 1 : 0 }, nil) }

    /// Runs `body`, whose statements may take a time.
    ///
    /// - Returns: The result; nil where the time was over.
    func limitingTime<Result>(to duration: Duration, _ body: () throws -> Result) throws -> Result? {
        watchTime()
        return try TimeLimit.limited(to: duration, body)
    }
}
