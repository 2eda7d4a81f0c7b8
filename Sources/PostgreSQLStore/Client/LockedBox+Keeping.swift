#if PostgreSQL
internal import Platform
internal import Predicates

extension LockedBox {
    /// Returns the value under a key; `make` returns it the first time. All values are dropped when there are too many.
    ///
    /// - Parameter make: Called without the lock.
    func kept<Key, Kept>(_ key: Key, limit: Int, _ make: () -> Kept) -> Kept where Value == [Key: Kept] {
        if let known = withLock({ $0[key] }) { return known }
        let made = make()
        withLock { kept in
            if kept.count >= limit { kept = [:] }
            kept[key] = made
        }
        return made
    }
}
#endif
