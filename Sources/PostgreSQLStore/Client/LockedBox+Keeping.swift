#if PostgreSQL
internal import Platform
internal import Predicates

extension LockedBox {
    /// Returns what is kept under a key, which `make` returns the first time. Where there are too many, all are forgotten.
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
