/// The limits of a remote store.
public struct RemoteStoreOptions: Sendable {
    /// The number of requests that are under way at the same time.
    public var concurrentRequests: Int
    /// The number of resources that a fetch may read beyond its results, because a part of it is finished in memory.
    public var maximumRows: Int
    /// The number of requests that a fetch may make, where a part of it is finished in memory.
    public var maximumRequests: Int
    /// The number of resources that a fetch may read at all: a backend whose pages never end is given up after so many.
    public var maximumResults: Int
    /// The number of requests that a fetch may make at all, one for each page: a backend whose small pages never end is given up after so many.
    public var maximumPages: Int
    /// The number of rows that are kept until they are asked for, because they came along with others.
    public var keptRows: Int
    /// The time, for ``Endpoint/freshness``: a duration since any moment. A monotonic clock unless set.
    public var now: @Sendable () -> Duration
    /// Called for each resource that could not be read, on any thread; what a backend has noted otherwise has no identifier.
    public var didFindUnreadable: (@Sendable (UnreadableResource) -> Void)?

    /// ``maximumPages`` unless set.
    public static let usualPages = 10_000

    /// Creates options.
    public init(
        concurrentRequests: Int = 8, maximumRows: Int = 20_000, maximumRequests: Int = 200,
        maximumResults: Int = 5_000_000, maximumPages: Int = RemoteStoreOptions.usualPages, keptRows: Int = 50_000,
        now: (@Sendable () -> Duration)? = nil,
        didFindUnreadable: (@Sendable (UnreadableResource) -> Void)? = nil
    ) {
        self.didFindUnreadable = didFindUnreadable
        self.concurrentRequests = max(1, concurrentRequests)
        self.maximumRows = max(1, maximumRows)
        self.maximumRequests = max(1, maximumRequests)
        self.maximumResults = max(1, maximumResults)
        self.maximumPages = max(1, maximumPages)
        self.keptRows = max(0, keptRows)
        let start = ContinuousClock.now
        self.now = now ?? { ContinuousClock.now - start }
    }
}
