internal import Predicates

/// The order in which things were asked for and became known, within one run: an older answer never replaces what is newer.
// Everything is in a `LockedBox`.
final class AskOrder: Sendable {
    private struct GoneResource: Hashable {
        let resource: ResourceID
        let root: ObjectIdentifier
    }
    private struct State {
        var last: UInt64 = 0
        /// What was asked for and is not filed yet.
        var open: Set<UInt64> = []
        /// When rows became what they are, as long as something is under way that was asked for earlier.
        var confirmed: [CacheKey: UInt64] = [:]
        /// The objects that were deleted lately, with their last version.
        var gone: [GoneResource: (version: ResourceVersion?, time: UInt64, uptime: Duration)] = [:]
        /// The version marks that rows have had lately: a copy of the backend that lags may still answer with them.
        var replaced: [CacheKey: [(version: String, uptime: Duration)]] = [:]
        /// The new objects that the backend has saved lately: a copy of it that lags may not have them yet.
        var made: [CacheKey: Duration] = [:]
    }
    private let state = LockedBox(State())
    /// How long an earlier version mark is known for one.
    private static let memory: Duration = .seconds(60)

    /// Returns the time of something that is about to be asked for. Every call is followed by one of ``end(_:)``.
    func begin() -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.open.insert(state.last)
            return state.last
        }
    }

    /// Says that what was asked for at a time is filed, or has failed.
    func end(_ time: UInt64) {
        state.withLock { state in
            state.open.remove(time)
            if state.open.isEmpty, !state.confirmed.isEmpty { state.confirmed = [:] }
        }
    }

    /// When the first thing was asked for that is under way.
    var oldestOpen: UInt64 { state.withLock { $0.open.min() ?? $0.last } }

    /// Returns the present.
    var now: UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// Notes that rows are what was asked for at a time.
    func note(_ keys: some Sequence<CacheKey>, at time: UInt64) {
        state.withLock { state in
            guard state.open.contains(where: { $0 < time }) else { return }
            for key in keys where state.confirmed[key] ?? 0 < time { state.confirmed[key] = time }
        }
    }

    /// Returns whether a row became what it is by something that was asked for later.
    func isNewer(_ key: CacheKey, than time: UInt64) -> Bool { state.withLock { $0.confirmed[key] ?? 0 > time } }

    /// Notes that a version mark of a row was replaced.
    func noteReplaced(_ version: String, of key: CacheKey, uptime: Duration) {
        state.withLock { state in
            if state.replaced.count > 10_000 { state.replaced = state.replaced.filter { $1.contains { uptime - $0.uptime < Self.memory } } }
            state.replaced[key, default: []].append((version, uptime))
            if state.replaced[key]?.count ?? 0 > 8 { state.replaced[key]?.removeFirst() }
        }
    }

    /// Returns whether a version mark is one that the row has had before.
    func wasReplaced(_ version: String, of key: CacheKey, uptime: Duration) -> Bool {
        state.withLock { state in
            state.replaced[key]?.contains { $0.version == version && uptime - $0.uptime < Self.memory } ?? false
        }
    }

    /// Notes that the backend has saved a new object.
    func noteMade(_ key: CacheKey, uptime: Duration) {
        state.withLock { state in
            if state.made.count > 10_000 { state.made = state.made.filter { uptime - $1 < Self.memory } }
            state.made[key] = uptime
        }
    }

    /// Returns whether a new object was saved so lately that an answer without it does not say that it is gone.
    func wasJustMade(_ key: CacheKey, uptime: Duration) -> Bool {
        state.withLock { $0.made[key].map { uptime - $0 < Self.memory } ?? false }
    }

    /// Notes that the backend does not have an object any more.
    func noteGone(_ resource: ResourceID, _ root: ObjectIdentifier, _ version: ResourceVersion?, at time: UInt64, uptime: Duration) {
        state.withLock { state in
            if state.gone.count > 10_000 { state.gone = state.gone.filter { uptime - $1.uptime < Self.memory } }
            state.gone[GoneResource(resource: resource, root: root)] = (version, time, uptime)
        }
    }

    /// Whether objects were deleted lately.
    var hasGone: Bool { state.withLock { !$0.gone.isEmpty } }

    /// Returns whether an object was deleted after a time, or is answered with the version that it had when it was deleted.
    func isGone(
        _ resource: ResourceID, _ root: ObjectIdentifier, _ version: ResourceVersion?, since time: UInt64, uptime: Duration
    ) -> Bool {
        state.withLock { state in
            if state.gone.isEmpty { return false }
            let key = GoneResource(resource: resource, root: root)
            guard let known = state.gone[key] else { return false }
            if uptime - known.uptime > Self.memory {
                state.gone[key] = nil
                return false
            }
            switch (version, known.version) {
            case (.number(let new)?, .number(let old)?): return new <= old
            case (let new?, let old?): return new == old || known.time > time
            default: return known.time > time
            }
        }
    }
}
