@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The number of changes that were settled in a file, by all processes that have it open.
///
/// Only the process that has sent a change knows which answers are older than the change (``AskOrder``). The other processes see by this number that a change
/// was settled since their request, and repeat it.
extension CacheFile {
    fileprivate static let settledKey = "settled"

    /// The number of changes that other processes have settled in the file. It only grows. Call it on any thread, outside transactions.
    func settledElsewhere() throws -> Double {
        guard let settings = entity(named: names.setting),
            let number = settings.inner.frozenParts.byName["number"] as? NSAttributeDescription
        else { return 0 }
        let query = StoreQuery(settings.inner).with(predicate: NSPredicate(tree: .isSetting(Self.settledKey)))
        // The read is between two transactions of this process: a change that is read but not counted yet would hide one of another process.
        return try betweenTransactions {
            guard case .rows(let rows) = try read(query, isFresh: true) else { return 0 }
            // There are several rows if processes have created the first one at the same time.
            return rows.reduce(-ownSettled.withLock { $0 }) { sum, row in
                guard case .double(let count) = row.value(of: number) else { return sum }
                return sum + count
            }
        }
    }
}

extension CacheTransaction {
    /// Notes that a change is no longer pending.
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
    /// Returns the row of a setting for editing; nil if the file has none.
    func setting(_ key: String) throws -> CacheRow? {
        guard let settings = file.entity(named: file.names.setting) else { return nil }
        return try rows(of: settings, where: .isSetting(key), limit: 1).first.map { edit($0) }
    }
}

extension PredicateTree {
    /// Returns the predicate for the row of a setting.
    fileprivate static func isSetting(_ key: String) -> PredicateTree { .compare(.keyPath(["key"]), .equal, .constant(.string(key))) }
}
