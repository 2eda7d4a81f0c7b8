internal import Foundation

/// A rule of the cache that a test can switch off.
package enum CacheRule: String, Hashable, Sendable, CaseIterable {
    /// An older read never replaces newer values.
    case newestRead
    /// No bookmark passes changes that were not applied.
    case bookmark
    /// Objects that an answer lacks are looked up before they count as deleted.
    case wholeAnswer
    /// A confirmed value is merged beneath pending changes, and does not replace them.
    case folding
}

/// The configuration of a cached store.
public struct CachedStoreOptions: Sendable {
    /// The policies of entities, by their names; subentities inherit the policy of their superentity unless they have their own.
    public var policies: [String: CachePolicy]
    /// The policy of all other entities.
    public var defaultPolicy: CachePolicy
    /// The user who owns the cache: each user has a file of their own. Nil for a cache without a particular user.
    public var user: String?
    /// The number of objects above which the least recently used ones are removed; nil for no limit.
    public var maximumObjects: Int?
    /// The number of bytes of the cache's file, including the files of large values, above which the least recently used objects are removed; nil for no limit.
    public var maximumBytes: Int64?
    /// The age in seconds above which objects that were not used since are removed; nil for no limit.
    public var maximumAge: Double?
    /// The clock.
    public var clock: any CacheClock
    /// A source of random numbers between 0 and 1, for the jitter of delays.
    public var random: @Sendable () -> Double
    /// The limits of the requests to the backend.
    public var remote: RemoteStoreOptions
    /// A closure that is called if the backend could not be reached and the cache has answered instead, if a refresh in the background has failed, or if
    /// pending changes begin to wait for credentials (``CredentialsExpiredError``). It is called on any thread.
    public var didFail: (@Sendable (any Error) -> Void)?
    /// Further options of the SQLite store that contains the cache, such as those of an encrypting store.
    public var fileOptions: [String: any Sendable]
    /// The rule for objects that were changed here and, meanwhile, by others.
    public var conflicts = ConflictResolution.setAside
    /// Whether pending changes are sent as soon as possible; otherwise the program calls ``CachedStore/sendPending()``.
    public var sendsAutomatically = true
    /// Closures that are called with the number of each transaction of the file, before and after its commit, for crash tests.
    package var willCommit: (@Sendable (Int) -> Void)?
    package var didCommit: (@Sendable (Int) -> Void)?
    /// The rules that are switched off, for tests of the tests.
    package var switchedOff: Set<CacheRule> = []

    /// Creates options.
    public init(
        policies: [String: CachePolicy] = [:], defaultPolicy: CachePolicy = .cachedThenFresh, user: String? = nil,
        maximumObjects: Int? = nil, maximumAge: Double? = nil, clock: any CacheClock = .system,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, remote: RemoteStoreOptions = RemoteStoreOptions(),
        didFail: (@Sendable (any Error) -> Void)? = nil, fileOptions: [String: any Sendable] = [:]
    ) {
        self.policies = policies
        self.defaultPolicy = defaultPolicy
        self.user = user
        self.maximumObjects = maximumObjects
        self.maximumAge = maximumAge
        self.clock = clock
        self.random = random
        self.remote = remote
        self.didFail = didFail
        self.fileOptions = fileOptions
    }
}
