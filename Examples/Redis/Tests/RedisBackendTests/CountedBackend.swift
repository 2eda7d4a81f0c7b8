import Foundation
import RedisBackend
import RemoteStore

/// A backend that counts what is asked of it, and can lose an answer.
struct CountedBackend: Backend {
    /// The requests and saves so far.
    // Unchecked: `lock` guards everything.
    final class Log: @unchecked Sendable {
        private let lock = NSLock()
        private var made: [String] = []
        private var losesAnswer = false

        func note(_ text: String) { lock.withLock { made.append(text) } }
        var all: [String] { lock.withLock { made } }
        func clear() { lock.withLock { made = [] } }
        /// Loses the answer of the next save.
        func loseAnswer() { lock.withLock { losesAnswer = true } }
        fileprivate func losesThis() -> Bool {
            lock.withLock {
                defer { losesAnswer = false }
                return losesAnswer
            }
        }
    }

    let base: RedisBackend
    let log = Log()

    var location: URL { base.location }
    var resources: [Resource] { base.resources }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        log.note("\(request)")
        return try await base.answer(request)
    }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        log.note("save \(changes.count)")
        let outcomes = try await base.save(changes)
        if log.losesThis() { throw UnknownOutcome(RedisError.connection("lost by the test")) }
        return outcomes
    }
}
