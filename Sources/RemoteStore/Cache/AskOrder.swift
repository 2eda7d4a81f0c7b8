internal import Platform
internal import Predicates

/// The order of requests and of their results within one run: an older answer never replaces newer values.
// Everything is in a `LockedBox`.
final class AskOrder: Sendable {
    private struct GoneResource: Hashable {
        let resource: ResourceID
        let root: ObjectIdentifier
    }
    private struct Deletion {
        /// The last version of the object.
        var version: ResourceVersion?
        /// The version tags that it has had recently.
        var marks: Set<String>
        var time: UInt64
        var uptime: Duration
    }
    private struct State {
        var last: UInt64 = 0
        var skips = 0
        /// The requests whose results are not stored yet, with their times.
        var open: [UInt64: Duration] = [:]
        /// The times at which rows got their current values, as long as an earlier request is in flight.
        var confirmed: [CacheKey: UInt64] = [:]
        /// For rows that have received a version without an order: the last request by then. Kept as long as a request is in flight.
        var crossed: [CacheKey: UInt64] = [:]
        /// The rows with two crossing answers: a further answer determines which is newer.
        var doubtful: Set<CacheKey> = []
        /// The recently deleted objects.
        var gone: [GoneResource: Deletion] = [:]
        /// The recent version tags of rows: a lagging replica of the backend may still answer with them.
        var replaced: [CacheKey: [(version: String, uptime: Duration)]] = [:]
        /// The keys from which on reads have created rows recently, by root entity: at most one for each second.
        var read: [ObjectIdentifier: [(first: Int64, uptime: Duration)]] = [:]
        /// The new objects that the backend has saved recently: a lagging replica may not have them yet.
        var made: [CacheKey: Duration] = [:]
    }
    private let state = LockedBox(State())
    private let uptime: @Sendable () -> Duration
    /// The start of the run, by the monotonic clock.
    private let begun: Duration
    /// The time for which an earlier version tag is remembered.
    private static let memory: Duration = .seconds(60)

    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
        begun = uptime()
    }

    /// Returns the time of a request that is about to be made. Every call is followed by a call of ``end(_:)``.
    func begin() -> UInt64 {
        let uptime = uptime()
        return state.withLock { state in
            state.last += 1
            state.open[state.last] = uptime
            return state.last
        }
    }

    /// Notes that the results of a request are stored, or that it has failed.
    func end(_ time: UInt64) {
        state.withLock { state in
            state.open[time] = nil
            guard state.open.isEmpty else { return }
            if !state.confirmed.isEmpty { state.confirmed = [:] }
            if !state.crossed.isEmpty { state.crossed = [:] }
        }
    }

    /// The time of the oldest request in flight.
    var oldestOpen: UInt64 { state.withLock { $0.open.keys.min() ?? $0.last } }

    /// Returns the uptime at which a request in flight was made. Its answer may lack objects that were new then, regardless of its duration.
    func uptime(of time: UInt64) -> Duration { state.withLock { $0.open[time] } ?? uptime() }

    /// The current time in this order.
    var now: UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    /// Notes that rows have the values of a request made at a time.
    func note(_ keys: some Sequence<CacheKey>, at time: UInt64) {
        state.withLock { state in
            guard state.open.keys.contains(where: { $0 < time }) else { return }
            for key in keys where state.confirmed[key] ?? 0 < time { state.confirmed[key] = time }
        }
    }

    // MARK: Crossing answers

    /// Notes that rows have received versions from a request made at a time, and that these versions have no order.
    func noteCrossing(_ keys: some Sequence<CacheKey>, at time: UInt64) {
        state.withLock { state in
            guard let last = state.open.keys.max(), last > time else { return }
            for key in keys { state.crossed[key] = last }
        }
    }

    /// Returns whether the answer to a request, although it arrived after the row's current values, may be older: the backend may have answered the later
    /// request first. If so, the object becomes one of ``takeDoubtful()``.
    func crosses(_ key: CacheKey, askedAt time: UInt64) -> Bool {
        state.withLock { state in
            guard let last = state.crossed[key], time <= last else { return false }
            state.doubtful.insert(key)
            state.skips += 1
            return true
        }
    }

    /// Returns the rows with crossing answers since the last call: they must be requested again.
    func takeDoubtful() -> Set<CacheKey> {
        state.withLock { state in
            if state.doubtful.isEmpty { return [] }
            defer { state.doubtful = [] }
            return state.doubtful
        }
    }

    // MARK: Existing values

    /// The number of results that were not stored because the existing values may be newer: they must be requested again.
    var skips: Int { state.withLock { $0.skips } }

    /// Notes that a result was not stored because the existing values may be newer.
    func noteSkip() { state.withLock { $0.skips += 1 } }

    /// Returns whether a row got its values from a later request.
    func isNewer(_ key: CacheKey, than time: UInt64) -> Bool { state.withLock { $0.confirmed[key] ?? 0 > time } }

    /// Notes that a version tag of a row was replaced.
    func noteReplaced(_ version: String, of key: CacheKey, uptime: Duration) {
        state.withLock { state in
            if state.replaced.count > 10_000 { state.replaced = state.replaced.filter { $1.contains { uptime - $0.uptime < Self.memory } } }
            state.replaced[key, default: []].append((version, uptime))
            if state.replaced[key]?.count ?? 0 > 8 { state.replaced[key]?.removeFirst() }
        }
    }

    /// Returns whether a version tag is a previous one of the row.
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

    /// Returns whether a new object was saved so recently that an answer without it does not mean that it was deleted.
    func wasJustMade(_ key: CacheKey, uptime: Duration) -> Bool {
        state.withLock { $0.made[key].map { uptime - $0 < Self.memory } ?? false }
    }

    /// Notes that a read creates rows from a key on: keys increase.
    func noteRead(_ first: CacheKey, uptime: Duration) {
        state.withLock { state in
            // The time is doubled, because an answer may take a while.
            var marks = (state.read[first.entity.root] ?? []).filter { uptime - $0.uptime < Self.memory * 2 }
            if let last = marks.last, uptime - last.uptime < .seconds(1) { return }
            marks.append((first.number, uptime))
            state.read[first.entity.root] = marks
        }
    }

    /// Returns whether an object was saved, or read for the first time, so recently that a lagging replica may not have it. Objects from an earlier run may be
    /// that new while this run is young.
    func mayBeNew(_ key: CacheKey, uptime: Duration) -> Bool {
        if uptime - begun < Self.memory || wasJustMade(key, uptime: uptime) { return true }
        return state.withLock { state in
            let first = state.read[key.entity.root]?.first { uptime - $0.uptime < Self.memory }
            return first.map { key.number >= $0.first } ?? false
        }
    }

    /// Notes that the backend no longer has an object: its row, and the version and the time of the deletion.
    func noteGone(
        _ resource: ResourceID, _ key: CacheKey, _ version: ResourceVersion?, at time: UInt64, uptime: Duration
    ) {
        state.withLock { state in
            if state.gone.count > 10_000 { state.gone = state.gone.filter { uptime - $1.uptime < Self.memory } }
            let place = GoneResource(resource: resource, root: key.entity.root)
            var deletion = Deletion(version: version, marks: [], time: time, uptime: uptime)
            if let version { deletion.marks.insert(version.encoded) }
            for old in state.replaced[key] ?? [] { deletion.marks.insert(old.version) }
            // If several objects have had the identifier one after the other, all their tags are old.
            if let earlier = state.gone[place], uptime - earlier.uptime < Self.memory {
                deletion.marks.formUnion(earlier.marks)
                deletion.version = deletion.version ?? earlier.version
                deletion.time = max(deletion.time, earlier.time)
            }
            state.gone[place] = deletion
        }
    }

    /// Notes that the backend has returned a resource in answer to a request made at a time: a deletion that was known then is obsolete.
    func noteThere(_ resource: ResourceID, _ root: ObjectIdentifier, askedAt time: UInt64) {
        state.withLock { state in
            let place = GoneResource(resource: resource, root: root)
            if let known = state.gone[place], known.time <= time { state.gone[place] = nil }
        }
    }

    /// Whether an object was deleted recently.
    var hasGone: Bool { state.withLock { !$0.gone.isEmpty } }

    /// Returns whether a row belongs to an object that was deleted since the request, or has a previous version of a deleted object.
    ///
    /// A row with another version belongs to a new object, which has received the identifier of the deleted one.
    func isGone(
        _ resource: ResourceID, _ root: ObjectIdentifier, _ version: ResourceVersion?, since time: UInt64, uptime: Duration
    ) -> Bool {
        state.withLock { state in
            if state.gone.isEmpty { return false }
            let key = GoneResource(resource: resource, root: root)
            guard let known = state.gone[key] else { return false }
            if uptime - known.uptime > Self.memory {
                if uptime - known.uptime > Self.memory * 2 { state.gone[key] = nil }
                return false
            }
            switch (version, known.version) {
            case (.number(let new)?, .number(let old)?): return new <= old
            case (let new?, _): return known.marks.contains(new.encoded) || known.time > time
            default: return known.time > time
            }
        }
    }
}
