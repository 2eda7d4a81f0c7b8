internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import PropertyLists
internal import SQLiteStore

/// Shows the persistent history of a store.
package struct HistoryReport {
    private let transactions: [NSPersistentHistoryTransaction]
    private let entity: NSEntityDescription?

    /// - Parameters:
    ///   - since: A date in ISO 8601, or the number of a transaction. The report begins after it.
    ///   - entity: The entity whose changes are shown; nil for all.
    ///   - limit: The maximum number of transactions, counted from the last one.
    /// - Throws: The mistake in the parameters, and an error if the store has no history.
    package init(_ store: OpenStore, since: String? = nil, entity: String? = nil, limit: Int? = nil) throws {
        self.entity = try entity.map { try store.entity($0) }
        let wanted = self.entity
        if !store.kind.hasFiles {
            throw CommandError.make(
                "The history of the store at \(store.place) is not shown.", reason: "This command reads that of SQLite stores.",
                next: "Fetch it in a program, with NSPersistentHistoryChangeRequest.")
        }
        guard try StoreHistory.isKept(by: store) else {
            throw CommandError.make(
                "The store at \(store.url.path) has no history.", reason: "It was never opened with NSPersistentHistoryTrackingKey.")
        }
        let request = try Self.request(since, store)
        request.resultType = .transactionsAndChanges
        let found: [NSPersistentHistoryTransaction] = try store.read {
            let result = try store.context.execute(request) as? NSPersistentHistoryResult
            return result?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        let matching = found.filter { transaction in
            wanted == nil || (transaction.changes ?? []).contains { Self.isOf(wanted, $0) }
        }
        transactions = limit.map { Array(matching.suffix(max(0, $0))) } ?? matching
    }

    private static func isOf(_ entity: NSEntityDescription?, _ change: NSPersistentHistoryChange) -> Bool {
        entity.map { change.changedObjectID.entity.isKindOf(entity: $0) } ?? true
    }

    /// The start of a history.
    enum Start {
        /// After a transaction.
        case transaction(Int64)
        case date(Date)
    }

    /// Returns the start of a history for an option.
    ///
    /// - Throws: An error for text that is neither a date nor a number.
    static func start(_ since: String) throws -> Start {
        if let number = Int64(since) { return .transaction(number) }
        do throws(DateMistake) {
            return .date(try DateText.date(since, .typed))
        } catch {
            throw CommandError.make(
                "“\(since)” after --since is neither a date nor the number of a transaction.", reason: error.description(of: since),
                next: "Write \(DateNotation.typed.examples), or the number of a transaction.")
        }
    }

    private static func request(_ since: String?, _ store: OpenStore) throws -> NSPersistentHistoryChangeRequest {
        switch try since.map(start) ?? .date(.distantPast) {
        case .transaction(let number): .fetchHistory(after: NSPersistentHistoryToken([store.store.identifier ?? "": number]))
        case .date(let date): .fetchHistory(after: date)
        }
    }

    private static func name(_ type: NSPersistentHistoryChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    package func json() -> JSONValue {
        .array(
            transactions.map { transaction in
                func text(_ value: String?) -> JSONValue { value.flatMap { $0.isEmpty ? nil : .string($0) } ?? .null }
                return .members([
                    "number": .integer(transaction.transactionNumber), "timestamp": .string(DateText.text(transaction.timestamp)),
                    "author": text(transaction.author), "context": text(transaction.contextName), "bundle": text(transaction.bundleID),
                    "process": text(transaction.processID),
                    "changes": .array((transaction.changes ?? []).filter { Self.isOf(entity, $0) }.map(Self.json)),
                ])
            })
    }

    private static func json(_ change: NSPersistentHistoryChange) -> JSONValue {
        var tombstone: JSONValue?
        if let values = change.tombstone, !values.isEmpty {
            let members = values.map { key, value in
                let attribute = change.changedObjectID.entity.attributesByName["\(key.base)"]
                return JSONValue.Member(
                    name: "\(key.base)", value: attribute.map { ValueText.json(value, $0) } ?? .string(String(describing: value)))
            }
            tombstone = .object(members.sorted { $0.name < $1.name })
        }
        return .members([
            "type": .string(name(change.changeType)),
            "object": .string(change.changedObjectID.uriRepresentation().absoluteString),
            "updated": change.updatedProperties.map { .array($0.map(\.name).sorted().map(JSONValue.string)) }, "tombstone": tombstone,
        ])
    }

    package func write(_ format: OutputFormat, to output: any Output) throws {
        if format == .json { return try output.line(json().text()) }
        for transaction in transactions {
            let who = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID]
                .compactMap { $0.flatMap { $0.isEmpty ? nil : $0 } }
            try output.line(
                "\(transaction.transactionNumber)  \(DateText.text(transaction.timestamp))  \(DisplayText.line(who.joined(separator: " · ")))"
            )
            for change in transaction.changes ?? [] where Self.isOf(entity, change) {
                let updated = change.updatedProperties.map { $0.map(\.name).sorted().joined(separator: ", ") } ?? ""
                try output.line(
                    DisplayText.line("    \(Self.name(change.changeType))  \(ValueText.short(change.changedObjectID))  \(updated)").trimmed)
            }
        }
        try output.line(transactions.isEmpty ? "No transactions." : DisplayText.counted(transactions.count, "transaction") + ".")
    }
}

/// Tells whether a store keeps a history.
enum StoreHistory {
    static func isKept(by store: OpenStore) throws -> Bool {
        guard let file = store.file else { return false }
        return try file.keepsHistory()
    }
}

extension String {
    /// The text without blanks at its end.
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
