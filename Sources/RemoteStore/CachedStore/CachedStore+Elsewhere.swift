@_spi(Stores) internal import ObjectGraph

/// Answers that arrive after another process has settled changes of the same file.
///
/// Only the process that has sent a change knows since when an answer is older than that (``AskOrder``). Here it is seen that something was settled, and
/// asked again. Where that happens time and again, the answer is filed around what was pending when it was asked for.
extension CachedStore {
    /// How often something is asked for before its answer is filed in any case.
    static let mostAttempts = 3

    /// How much was settled, and what was pending, before something is asked for.
    struct PendingMark {
        private struct Pending {
            let key: CacheKey
            let resource: ResourceID?
            let version: ResourceVersion?
        }
        private let settled: Double
        private let pending: [Pending]

        /// - Parameter keepsRows: Whether the answer is filed in any case: only then it matters what was pending.
        init(_ store: CachedStore, keepsRows: Bool) throws {
            // First: what is settled while the rows are read counts as settled since.
            settled = try store.file.settledElsewhere()
            pending =
                keepsRows
                ? try store.file.rows(store.pendingKeys()).map {
                    let key = store.file.key(of: $0)
                    return Pending(key: key, resource: key.entity.resource(of: $0), version: key.entity.version(of: $0))
                } : []
        }

        /// Returns whether another process has settled changes since. Then what was pending counts as newer than what was asked for since.
        ///
        /// What others have saved and settled since is not known; a further answer has it.
        func isOutdated(_ store: CachedStore) throws -> Bool {
            let file = store.file!
            if try file.settledElsewhere() == settled { return false }
            if pending.isEmpty { return true }
            let (now, uptime) = (file.order.now, file.clock.uptime)
            file.order.note(pending.lazy.map(\.key), at: now)
            for one in pending {
                guard let resource = one.resource, try file.row(one.key, isFresh: true) == nil else { continue }
                file.order.noteGone(resource, one.key, one.version, at: now, uptime: uptime)
            }
            return true
        }
    }

    /// Asks for something, and files it: again where another process has settled changes meanwhile, which the answer may be older than.
    ///
    /// - Parameters:
    ///   - ask: Returns the answer.
    ///   - take: Files an answer that was asked for at a time.
    func ask<Answer>(_ ask: () async throws -> Answer, filing take: (Answer, UInt64) throws -> Void) async throws {
        var attempts = 0
        while true {
            attempts += 1
            let isLast = attempts == Self.mostAttempts
            let askedAt = file.order.begin()
            defer { file.order.end(askedAt) }
            let mark = try PendingMark(self, keepsRows: isLast)
            let answer = try await ask()
            if try !mark.isOutdated(self) || isLast {
                try take(answer, askedAt)
                // While it was filed, too.
                if try isLast || !mark.isOutdated(self) { return }
            }
            reader.forgetEarlierAnswers()
        }
    }
}
