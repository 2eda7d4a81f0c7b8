public import ObjectGraph

/// Where a cached store takes its answers from.
///
/// ```swift
/// var options = CachedStoreOptions()
/// options.policies["Album"] = .cacheFirst(maximumAge: 600)
/// options.policies["Message"] = .appendOnly(by: "sentAt")
/// request.cachePolicy = .networkOnly
/// ```
public enum CachePolicy: Sendable, Hashable {
    /// Asks the backend, and files the answer.
    case networkOnly
    /// Answers from the cache, with what there is. The backend is never asked.
    case cacheOnly
    /// Answers from the cache what is at most so many seconds old, and asks the backend otherwise. Where the backend cannot be reached, what
    /// is older is the answer.
    case cacheFirst(maximumAge: Double)
    /// Answers from the cache what it has, and asks the backend meanwhile: contexts that show it get what is new. The backend is awaited only
    /// for what the cache does not have.
    case cachedThenFresh
    /// Like ``cacheFirst(maximumAge:)`` with any age: objects that never change.
    case immutable
    /// Objects that never change, and new ones that have a greater value of an attribute: the backend is asked for these only.
    case appendOnly(by: String)
}

extension NSFetchRequest {
    /// Where a cached store takes the answer to this request from; nil for what the options of the store say. Other stores ignore it.
    public var cachePolicy: CachePolicy? {
        get { storeOptions[CachePolicyOption.self] }
        set { storeOptions[CachePolicyOption.self] = newValue }
    }
}

/// The policy of a request.
enum CachePolicyOption: StoreRequestOption { static var defaultValue: CachePolicy? { nil } }
