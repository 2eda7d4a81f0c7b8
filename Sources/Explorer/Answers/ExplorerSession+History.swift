internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import PropertyLists
internal import SQLiteStore
package import StoreCommands

extension ExplorerSession {
    /// The maximum number of transactions in an answer.
    private static let transactions = 50
    /// The maximum number of changes in an answer.
    private static let changes = 100

    /// Returns transactions of the persistent history, newest first.
    ///
    /// - Parameter number: The transaction that they precede; nil for the newest.
    /// - Throws: The errors of reading.
    package func history(before number: Int?) async throws -> JSONValue {
        try await ask { reading in
            guard let sqlite = reading.sqlite, sqlite.hasHistory else {
                return .members(["isKept": .bool(false), "transactions": .array([])])
            }
            let entries = try sqlite.historyEntries(before: number.map { Int64($0) }, limit: Self.transactions)
            return .members([
                "isKept": .bool(true), "transactions": .array(entries.map(Self.json)),
                "isLast": .bool(entries.count < Self.transactions),
            ])
        }
    }

    private static func json(_ entry: SQLiteStore.HistoryEntry) -> JSONValue {
        func text(_ value: String?) -> JSONValue? { value.flatMap { $0.isEmpty ? nil : .string($0) } }
        return .members([
            "number": .integer(entry.number), "date": .string(DateText.text(entry.date)), "author": text(entry.author),
            "context": text(entry.context), "bundle": text(entry.bundle), "process": text(entry.process),
            "counts": .array(
                entry.counts.map { count in
                    .members(["entity": .string(count.entity), "type": .string(name(count.type)), "count": .count(count.count)])
                }),
        ])
    }

    private static func name(_ type: NSPersistentHistoryChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    /// Returns changes of a transaction, in order.
    ///
    /// - Throws: The errors of reading.
    package func changes(of number: Int64, offset: Int) async throws -> JSONValue {
        let start = min(max(0, offset), TableQuestion.mostOffset)
        let page = start..<(start + Self.changes)
        return try await ask { reading in
            let changes = try reading.sqlite?.historyChanges(of: number, page: page) ?? []
            let labels = try Labels.json(changes.map(\.id), in: reading)
            return .members([
                "changes": .array(
                    changes.map { change in
                        .members([
                            "type": .string(Self.name(change.type)), "object": labels[change.id],
                            "properties": .array(change.properties.map(JSONValue.string)),
                        ])
                    }), "isLast": .bool(changes.count < Self.changes),
            ])
        }
    }
}
