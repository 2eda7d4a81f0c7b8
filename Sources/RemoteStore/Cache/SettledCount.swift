@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// How many changes were settled in a file, by all processes that have it open.
///
/// Only the process that has sent a change knows since when an answer is older than that (``AskOrder``). The others see by the number that something was
/// settled since they have asked, and ask again.
extension CacheFile {
    fileprivate static let settledKey = "settled"

    /// The number of changes that other processes have settled in the file, which grows. Call it on any thread, outside transactions.
    func settledElsewhere() throws -> Double {
        guard let settings = entity(named: names.setting),
            let number = settings.inner.frozenParts.byName["number"] as? NSAttributeDescription
        else { return 0 }
        let query = StoreQuery(settings.inner).with(predicate: NSPredicate(tree: .isSetting(Self.settledKey)))
        // Between two transactions of this process: one that is read and not counted yet would hide one of another process.
        return try betweenTransactions {
            guard case .rows(let rows) = try read(query, isFresh: true) else { return 0 }
            // There are several where processes have made the first one at the same time.
            return rows.reduce(-ownSettled.withLock { $0 }) { sum, row in
                guard case .double(let count) = row.value(of: number) else { return sum }
                return sum + count
            }
        }
    }
}

extension CacheTransaction {
    /// Notes that a change is pending no more.
    func noteSettled() throws {
        guard let settings = file.entity(named: file.names.setting) else { return }
        let row = try setting(CacheFile.settledKey) ?? insert(settings)
        try row.set(.string(CacheFile.settledKey), "key")
        var count = 0.0
        if case .double(let number) = try row.value("number") { count = number }
        try row.set(.double(count + 1), "number")
        whenCommitted { [file] in file.ownSettled.withLock { $0 += 1 } }
    }
}

extension CacheTransaction {
    /// Returns the row of a setting, to be changed; nil where the file has none.
    func setting(_ key: String) throws -> CacheRow? {
        guard let settings = file.entity(named: file.names.setting) else { return nil }
        return try rows(of: settings, where: .isSetting(key), limit: 1).first.map { edit($0) }
    }
}

extension PredicateTree {
    /// Matches the row of a setting.
    fileprivate static func isSetting(_ key: String) -> PredicateTree { .compare(.keyPath(["key"]), .equal, .constant(.string(key))) }
}
