import Foundation
import RedisBackend
import RemoteStore

/// A backend that counts what is asked of it.
struct CountedBackend: Backend {
    /// The requests and saves so far.
    // Unchecked: `lock` guards everything.
    final class Log: @unchecked Sendable {
        private let lock = NSLock()
        private var made: [String] = []

        func note(_ text: String) { lock.withLock { made.append(text) } }
        var all: [String] { lock.withLock { made } }
        func clear() { lock.withLock { made = [] } }
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
        return try await base.save(changes)
    }
}
