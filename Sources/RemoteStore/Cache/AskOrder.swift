internal import Platform
internal import Predicates

/// The order in which things were asked for and became known, within one run: an older answer never replaces what is newer.
// Everything is in a `LockedBox`.
final class AskOrder: Sendable {
    private struct GoneResource: Hashable {
        let resource: ResourceID
        let root: ObjectIdentifier
    }
    private struct Deletion {
        /// The last version of the object.
        var version: ResourceVersion?
        /// The version marks that it has had lately.
        var marks: Set<String>
        var time: UInt64
        var uptime: Duration
    }
    private struct State {
        var last: UInt64 = 0
        var skips = 0
        /// What was asked for and is not filed yet, with the time.
        var open: [UInt64: Duration] = [:]
        /// When rows became what they are, as long as something is under way that was asked for earlier.
        var confirmed: [CacheKey: UInt64] = [:]
        /// For rows that have got a version whose place among others is not known: the last thing that was asked for by then. Kept as long as
        /// something is under way.
        var crossed: [CacheKey: UInt64] = [:]
        /// Rows of which two answers crossed: which is newer, a further one tells.
        var doubtful: Set<CacheKey> = []
        /// The objects that were deleted lately.
        var gone: [GoneResource: Deletion] = [:]
        /// The version marks that rows have had lately: a copy of the backend that lags may still answer with them.
        var replaced: [CacheKey: [(version: String, uptime: Duration)]] = [:]
        /// The keys from which on rows were made by reads lately, by inheritance: one for each second at most.
        var read: [ObjectIdentifier: [(first: Int64, uptime: Duration)]] = [:]
        /// The new objects that the backend has saved lately: a copy of it that lags may not have them yet.
        var made: [CacheKey: Duration] = [:]
    }
    private let state = LockedBox(State())
    private let uptime: @Sendable () -> Duration
    /// When the run has begun, by the monotonic clock.
    private let begun: Duration
    /// How long an earlier version mark is known for one.
    private static let memory: Duration = .seconds(60)

    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
        begun = uptime()
    }

    /// Returns the time of something that is about to be asked for. Every call is followed by one of ``end(_:)``.
    func begin() -> UInt64 {
        let uptime = uptime()
        return state.withLock { state in
            state.last += 1
            state.open[state.last] = uptime
            return state.last
        }
    }

    /// Says that what was asked for at a time is filed, or has failed.
    func end(_ time: UInt64) {
        state.withLock { state in
            state.open[time] = nil
            guard state.open.isEmpty else { return }
            if !state.confirmed.isEmpty { state.confirmed = [:] }
            if !state.crossed.isEmpty { state.crossed = [:] }
        }
    }

    /// When the first thing was asked for that is under way.
    var oldestOpen: UInt64 { state.withLock { $0.open.keys.min() ?? $0.last } }

    /// Returns the uptime at which something was asked for that is under way: what was new then, the answer may lack, however long it took.
    func uptime(of time: UInt64) -> Duration { state.withLock { $0.open[time] } ?? uptime() }

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
            guard state.open.keys.contains(where: { $0 < time }) else { return }
            for key in keys where state.confirmed[key] ?? 0 < time { state.confirmed[key] = time }
        }
    }

    // MARK: Answers that cross

    /// Notes that rows have got versions by what was asked for at a time, whose place among other versions is not known.
    func noteCrossing(_ keys: some Sequence<CacheKey>, at time: UInt64) {
        state.withLock { state in
            guard let last = state.open.keys.max(), last > time else { return }
            for key in keys { state.crossed[key] = last }
        }
    }

    /// Returns whether what was asked for at a time, and has come after what a row has, may yet be older: the backend may have answered the later
    /// question first. Then the object is one of ``takeDoubtful()``.
    func crosses(_ key: CacheKey, askedAt time: UInt64) -> Bool {
        state.withLock { state in
            guard let last = state.crossed[key], time <= last else { return false }
            state.doubtful.insert(key)
            state.skips += 1
            return true
        }
    }

    /// Returns the rows of which answers have crossed since the last call: they are to be asked for again.
    func takeDoubtful() -> Set<CacheKey> {
        state.withLock { state in
            if state.doubtful.isEmpty { return [] }
            defer { state.doubtful = [] }
            return state.doubtful
        }
    }

    // MARK: What is there

    /// The number of times that something was not filed because what is there may be newer: it has to be asked for again.
    var skips: Int { state.withLock { $0.skips } }

    /// Notes that something was not filed because what is there may be newer.
    func noteSkip() { state.withLock { $0.skips += 1 } }

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

    /// Notes that a read brings new rows, the first of which has a key: keys grow.
    func noteRead(_ first: CacheKey, uptime: Duration) {
        state.withLock { state in
            // As long again: an answer may take its time.
            var marks = (state.read[first.entity.root] ?? []).filter { uptime - $0.uptime < Self.memory * 2 }
            if let last = marks.last, uptime - last.uptime < .seconds(1) { return }
            marks.append((first.number, uptime))
            state.read[first.entity.root] = marks
        }
    }

    /// Returns whether an object was saved, or read for the first time, so lately that a copy of the backend that lags may not have it. What an
    /// earlier run has read may be that new for as long as this one is young.
    func mayBeNew(_ key: CacheKey, uptime: Duration) -> Bool {
        if uptime - begun < Self.memory || wasJustMade(key, uptime: uptime) { return true }
        return state.withLock { state in
            let first = state.read[key.entity.root]?.first { uptime - $0.uptime < Self.memory }
            return first.map { key.number >= $0.first } ?? false
        }
    }

    /// Notes that the backend does not have an object any more: its row, and the version and the time that this is known by.
    func noteGone(
        _ resource: ResourceID, _ key: CacheKey, _ version: ResourceVersion?, at time: UInt64, uptime: Duration
    ) {
        state.withLock { state in
            if state.gone.count > 10_000 { state.gone = state.gone.filter { uptime - $1.uptime < Self.memory } }
            let place = GoneResource(resource: resource, root: key.entity.root)
            var deletion = Deletion(version: version, marks: [], time: time, uptime: uptime)
            if let version { deletion.marks.insert(version.encoded) }
            for old in state.replaced[key] ?? [] { deletion.marks.insert(old.version) }
            // Of several objects that had the identifier one after the other, all marks are old.
            if let earlier = state.gone[place], uptime - earlier.uptime < Self.memory {
                deletion.marks.formUnion(earlier.marks)
                deletion.version = deletion.version ?? earlier.version
                deletion.time = max(deletion.time, earlier.time)
            }
            state.gone[place] = deletion
        }
    }

    /// Notes that the backend has told of a resource, by what was asked for at a time: a deletion that was known then is over.
    func noteThere(_ resource: ResourceID, _ root: ObjectIdentifier, askedAt time: UInt64) {
        state.withLock { state in
            let place = GoneResource(resource: resource, root: root)
            if let known = state.gone[place], known.time <= time { state.gone[place] = nil }
        }
    }

    /// Whether an object was deleted lately.
    var hasGone: Bool { state.withLock { !$0.gone.isEmpty } }

    /// Returns whether a row is that of an object that was deleted since it was asked for, or has a version that the object had before.
    ///
    /// A row with another version is that of a new object, which has got the identifier of the deleted one.
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
