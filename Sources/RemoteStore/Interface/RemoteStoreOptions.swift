/// The limits of a remote store.
public struct RemoteStoreOptions: Sendable {
    /// The number of concurrent requests.
    public var concurrentRequests: Int
    /// The number of resources that a fetch may read beyond its results because a part of it is evaluated in memory.
    public var maximumRows: Int
    /// The number of requests that a fetch may make if a part of it is evaluated in memory.
    public var maximumRequests: Int
    /// The number of resources that a fetch may read in total. It stops the fetch of a backend whose pages never end.
    public var maximumResults: Int
    /// The number of requests that a fetch may make in total, one for each page. It stops the fetch of a backend whose small pages never end.
    public var maximumPages: Int
    /// The number of embedded rows that are kept until they are needed.
    public var keptRows: Int
    /// The clock for ``Endpoint/freshness``: a duration since any moment. A monotonic clock by default.
    public var now: @Sendable () -> Duration
    /// A closure that is called for each resource that could not be read, on any thread. Resources that a backend has reported as other errors have no
    /// identifier.
    public var didFindUnreadable: (@Sendable (UnreadableResource) -> Void)?

    /// The default of ``maximumPages``.
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
