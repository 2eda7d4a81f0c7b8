internal import Foundation

/// A rule of the cache that a test can switch off.
package enum CacheRule: String, Hashable, Sendable, CaseIterable {
    /// An older read never replaces what is newer.
    case newestRead
    /// No bookmark passes what was not applied.
    case bookmark
    /// What an answer lacks is looked for before it is taken for deleted.
    case wholeAnswer
    /// What was confirmed is read below what is pending, and not over it.
    case folding
}

/// How a cached store works.
public struct CachedStoreOptions: Sendable {
    /// The policies of entities, by their names; subentities have that of their superentity unless they have one of their own.
    public var policies: [String: CachePolicy]
    /// The policy of all other entities.
    public var defaultPolicy: CachePolicy
    /// The user whose cache it is: each has a file of its own beside the others'. Nil for a cache that is nobody's in particular.
    public var user: String?
    /// The number of objects above which those that were not used for the longest time are removed; nil for any number.
    public var maximumObjects: Int?
    /// The number of bytes of the cache's file, with the files of large values, above which objects are removed that were not used for the longest
    /// time; nil for any number.
    public var maximumBytes: Int64?
    /// The age in seconds above which objects are removed that were not used since; nil for any age.
    public var maximumAge: Double?
    /// The time.
    public var clock: any CacheClock
    /// A number between 0 and 1, for waits that are to differ.
    public var random: @Sendable () -> Double
    /// The limits of the requests to the backend.
    public var remote: RemoteStoreOptions
    /// Called when the backend could not be reached and the cache has answered instead, a refresh in the background has failed, or pending changes begin to
    /// wait for credentials (``CredentialsExpiredError``). On any thread.
    public var didFail: (@Sendable (any Error) -> Void)?
    /// Further options of the SQLite store that the cache is kept in, such as those of an encrypting one.
    public var fileOptions: [String: any Sendable]
    /// What becomes of objects that were changed here and, meanwhile, by others.
    public var conflicts = ConflictResolution.setAside
    /// Whether pending changes are sent as soon as they can be; otherwise the program calls ``CachedStore/sendPending()``.
    public var sendsAutomatically = true
    /// Called with the number of each transaction of the file, before and after it is committed: for tests of what a crash leaves behind.
    package var willCommit: (@Sendable (Int) -> Void)?
    package var didCommit: (@Sendable (Int) -> Void)?
    /// The rules that are not kept: for tests of the tests.
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
