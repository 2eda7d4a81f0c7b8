internal import Foundation

extension NSPersistentStoreCoordinator {
    /// Executes a history request in each store that tracks history.
    ///
    /// - Throws: Code 134091 if no store does, 134301 for a token older than the history, 134501 for a token of missing stores; the store's error.
    func executeHistory(
        _ request: NSPersistentHistoryChangeRequest, in context: NSManagedObjectContext
    ) throws -> NSPersistentHistoryResult {
        let affected = request.affectedStores
        let asked = persistentStores.filter { store in
            (store.interface as? any HistoryStore)?.keepsHistory ?? false && affected?.contains { $0 === store } ?? true
        }
        guard !asked.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The NSPersistentHistoryChangeRequest cannot be executed.",
                reason: "None of the stores keeps a history.", next: "Open a SQLite store with NSPersistentHistoryTrackingKey.")
        }
        try checkStores(of: request, asked)
        if request.isDeletion {
            for store in asked { try checkWritable(store) }
            var count = 0
            for store in asked {
                // A token that does not contain the store deletes nothing there.
                guard let boundary = HistoryQuery.Boundary(request.limit, of: store.identifier) else { continue }
                count += try (store.interface as? any HistoryStore)?.deleteHistory(before: boundary) ?? 0
            }
            let answer = request.resultType == .count ? NSNumber(value: count) : NSNumber(value: true)
            return NSPersistentHistoryResult(answer, request.resultType == .count ? .count : .statusOnly)
        }
        var records: [HistoryRecord] = []
        for store in asked {
            records += try (store.interface as? any HistoryStore)?.history(HistoryQuery(request, of: store.identifier)) ?? []
        }
        if asked.count > 1 { records.sort { $0.timestamp < $1.timestamp } }
        return NSPersistentHistoryResult(try answer(request, records), request.resultType)
    }

    /// Checks that the stores of a token exist: the replacement of such a store has another history, in which the token has no position.
    private func checkStores(of request: NSPersistentHistoryChangeRequest, _ asked: [NSPersistentStore]) throws {
        guard case .token(let token?) = request.limit else { return }
        let missing = Set(token.positions.keys).subtracting(persistentStores.compactMap(\.identifier)).sorted()
        if missing.isEmpty { return }
        let other = asked.compactMap(\.identifier).filter { token.positions[$0] == nil }
        let found = other.isEmpty ? "" : ", and not of \(other.joined(separator: ", "))"
        throw CoreDataError.make(
            historyTokenOfOtherStores, "The NSPersistentHistoryChangeRequest cannot be executed.",
            reason:
                "Its token is one of the stores \(missing.joined(separator: ", "))\(found). This coordinator does not have the former: they were "
                + "replaced by others, or are not open.",
            next: "Fetch the objects again, and the history from currentPersistentHistoryToken(fromStores:) on.",
            info: [NSAffectedStoresErrorKey: asked])
    }

    private func answer(_ request: NSPersistentHistoryChangeRequest, _ all: [HistoryRecord]) throws -> Any {
        var records = all
        var changes: [NSPersistentHistoryChange]?
        if let fetch = request.fetchRequest.map(namingOwnObjects) {
            switch fetch.entity?.name ?? fetch.entityName {
            case HistoryEntities.change.name:
                let candidates = records.flatMap { NSPersistentHistoryTransaction($0).changes ?? [] }
                let chosen = try HistorySchema.changes.select(candidates, by: fetch)
                changes = chosen
                // The transactions contain the selected changes only.
                let kept = Dictionary(
                    grouping: chosen, by: { $0.transaction.known("changes of a transaction that was read have it").record.key })
                records = records.compactMap { record in
                    kept[record.key].map { changes in
                        let numbers = Set(changes.map(\.changeID))
                        return record.with(record.changes?.filter { numbers.contains($0.number) })
                    }
                }
            case HistoryEntities.transaction.name:
                records = try HistorySchema.transactions.select(records.map(NSPersistentHistoryTransaction.init), by: fetch).map(\.record)
            case let name:
                throw CoreDataError.make(
                    NSCoreDataError, "The NSPersistentHistoryChangeRequest cannot be executed.",
                    reason: "The entity of its fetch request, “\(name ?? "?")”, describes no history.",
                    next:
                        "Make the fetch request with NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest."
                )
            }
        }
        switch request.resultType {
        case .statusOnly: return NSNumber(value: true)
        case .count: return NSNumber(value: changes?.count ?? records.count)
        case .objectIDs:
            var seen: Set<NSManagedObjectID> = []
            return records.flatMap { $0.changes ?? [] }.map(\.objectID).filter { seen.insert($0).inserted }
        case .transactionsOnly: return records.map { NSPersistentHistoryTransaction($0.with(nil)) }
        case .changesOnly: return changes ?? records.flatMap { NSPersistentHistoryTransaction($0).changes ?? [] }
        case .transactionsAndChanges: return records.map(NSPersistentHistoryTransaction.init)
        }
    }
}

extension HistoryRecord {
    struct Key: Hashable {
        let store: String
        let number: Int64
    }
    var key: Key { Key(store: storeID, number: number) }
}
