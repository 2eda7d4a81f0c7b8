/// Work in the background.
extension CachedStore {
    /// Suspends until no reads from the backend are in progress in the background.
    public func waitForRefreshes() async { await refreshes.waitForAll() }
}
