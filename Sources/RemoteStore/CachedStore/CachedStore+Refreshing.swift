/// What goes on in the background.
extension CachedStore {
    /// Suspends until nothing is read from the backend in the background.
    public func waitForRefreshes() async { await refreshes.waitForAll() }
}
