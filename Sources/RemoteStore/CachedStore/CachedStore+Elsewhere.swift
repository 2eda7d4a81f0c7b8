@_spi(Stores) internal import ObjectGraph

/// Handles answers that arrive after another process has settled changes of the same file.
///
/// Only the process that has sent a change knows which answers are older than the change (``AskOrder``). Other processes detect that a change was settled, and
/// repeat the request. If that happens several times, the answer is imported except for the objects that were pending at the time of the request.
extension CachedStore {
    /// The number of requests before an answer is imported in any case.
    static let mostAttempts = 3

    /// The number of settled changes, and the pending ones, before a request.
    struct PendingMark {
        private struct Pending {
            let key: CacheKey
            let resource: ResourceID?
            let version: ResourceVersion?
        }
        private let settled: Double
        private let pending: [Pending]

        /// - Parameter keepsRows: Whether the answer is imported in any case: only then the pending changes matter.
        init(_ store: CachedStore, keepsRows: Bool) throws {
            // This is read first: a change that is settled while the rows are read counts as settled since.
            settled = try store.file.settledElsewhere()
            pending =
                keepsRows
                ? try store.file.rows(store.pendingKeys()).map {
                    let key = store.file.key(of: $0)
                    return Pending(key: key, resource: key.entity.resource(of: $0), version: key.entity.version(of: $0))
                } : []
        }

        /// Returns whether another process has settled changes since. If so, the changes that were pending count as newer than answers requested since.
        ///
        /// Changes that others have both saved and settled since are not known; a further answer contains them.
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

    /// Makes a request, and imports the answer. Repeats it if another process has settled changes meanwhile, which the answer may not contain.
    ///
    /// - Parameters:
    ///   - ask: A closure that returns the answer.
    ///   - take: A closure that imports an answer that was requested at a time.
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
                // Changes may also have been settled during the import.
                if try isLast || !mark.isOutdated(self) { return }
            }
            reader.forgetEarlierAnswers()
        }
    }
}
