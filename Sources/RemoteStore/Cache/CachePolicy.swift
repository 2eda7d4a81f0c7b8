public import ObjectGraph

/// The policy for the source of a cached store's answers.
///
/// ```swift
/// var options = CachedStoreOptions()
/// options.policies["Album"] = .cacheFirst(maximumAge: 600)
/// options.policies["Message"] = .appendOnly(by: "sentAt")
/// request.cachePolicy = .networkOnly
/// ```
public enum CachePolicy: Sendable, Hashable {
    /// Asks the backend, and stores the answer.
    case networkOnly
    /// Answers from the cache only. The backend is never asked.
    case cacheOnly
    /// Answers from the cache if the objects are at most a number of seconds old, and asks the backend otherwise. If the backend cannot be reached, the answer
    /// is stale.
    case cacheFirst(maximumAge: Double)
    /// Answers from the cache, and asks the backend in the background: contexts are updated with new values. The call waits for the backend only for objects
    /// that the cache does not have.
    case cachedThenFresh
    /// Like ``cacheFirst(maximumAge:)`` with any age, for objects that never change.
    case immutable
    /// For objects that never change, where new ones have a greater value of an attribute: the backend is asked for new ones only.
    case appendOnly(by: String)
}

extension NSFetchRequest {
    /// The policy for this request to a cached store; nil for the policy in the options of the store. Other stores ignore it.
    public var cachePolicy: CachePolicy? {
        get { storeOptions[CachePolicyOption.self] }
        set { storeOptions[CachePolicyOption.self] = newValue }
    }
}

/// The policy of a request.
enum CachePolicyOption: StoreRequestOption { static var defaultValue: CachePolicy? { nil } }
