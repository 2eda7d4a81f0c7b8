package import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// A transaction of the history, without its changes.
    package struct HistoryEntry: Sendable {
        package let number: Int64
        package let date: Date
        package let author: String?
        package let context: String?
        package let bundle: String?
        package let process: String?
        /// How many objects of each entity were changed, and how.
        package let counts: [HistoryCount]
    }

    /// The number of changes of one kind.
    package struct HistoryCount: Sendable {
        package let entity: String
        package let type: NSPersistentHistoryChangeType
        package let count: Int
    }

    /// A change of one object.
    package struct HistoryChange: Sendable {
        package let id: NSManagedObjectID
        package let type: NSPersistentHistoryChangeType
        /// The names of the properties that were updated.
        package let properties: [String]
    }

    /// Whether the store has a history.
    package var hasHistory: Bool { historyReader != nil }

    /// Returns transactions, the newest first; no others are read.
    ///
    /// - Parameter number: The transaction before which they were; nil for the newest.
    /// - Throws: The errors of reading.
    package func historyEntries(before number: Int64?, limit: Int) throws -> [HistoryEntry] {
        guard let history = historyReader else { return [] }
        return try reading { reader in
            let connection = reader.database()
            return try connection.reading {
                func text(_ key: String) -> String { "(SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = \(key))" }
                let process = history.hasProcess ? text("ZPROCESSIDTS") : "NULL"
                let sql =
                    "SELECT Z_PK, ZTIMESTAMP, \(text("ZAUTHORTS")), \(text("ZCONTEXTNAMETS")), \(text("ZBUNDLEIDTS")), \(process) "
                    + "FROM ATRANSACTION WHERE Z_PK < ? ORDER BY Z_PK DESC LIMIT ?"
                return try connection.with(sql) { statement in
                    statement.bind(number ?? Int64.max, at: 1)
                    statement.bind(Int64(limit), at: 2)
                    func text(_ column: Int) -> String? { statement.isNull(column) ? nil : statement.text(column) }
                    var entries: [HistoryEntry] = []
                    while try statement.step() {
                        let number = statement.int64(0)
                        entries.append(
                            HistoryEntry(
                                number: number, date: Date(timeIntervalSinceReferenceDate: statement.double(1)), author: text(2),
                                context: text(3), bundle: text(4), process: text(5), counts: try counts(number, connection)))
                    }
                    return entries
                }
            }
        }
    }

    private func counts(_ number: Int64, _ connection: SQLConnection) throws -> [HistoryCount] {
        let sql = "SELECT ZENTITY, ZCHANGETYPE, COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID = ? GROUP BY ZENTITY, ZCHANGETYPE"
        return try connection.with(sql) { statement in
            statement.bind(number, at: 1)
            var counts: [HistoryCount] = []
            while try statement.step() {
                guard let type = NSPersistentHistoryChangeType(rawValue: Int(statement.int64(1))) else { continue }
                // The model may have lost the entity.
                let entity = schema.entity(numbered: statement.int64(0))?.entity.name ?? "entity \(statement.int64(0))"
                counts.append(HistoryCount(entity: entity, type: type, count: Int(statement.int64(2))))
            }
            return counts
        }
    }

    /// Returns changes of a transaction in their order, limited to entities that the model has.
    ///
    /// - Parameter page: Their places among all of them.
    /// - Throws: The errors of reading.
    package func historyChanges(of number: Int64, page: Range<Int>) throws -> [HistoryChange] {
        guard historyReader != nil else { return [] }
        return try reading { reader in
            let sql =
                "SELECT ZENTITY, ZENTITYPK, ZCHANGETYPE, ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID = ? ORDER BY Z_PK LIMIT ? OFFSET ?"
            return try reader.database().with(sql) { statement in
                statement.bind(number, at: 1)
                statement.bind(Int64(page.count), at: 2)
                statement.bind(Int64(page.lowerBound), at: 3)
                var changes: [HistoryChange] = []
                while try statement.step() {
                    guard let entity = schema.entity(numbered: statement.int64(0)),
                        let type = NSPersistentHistoryChangeType(rawValue: Int(statement.int64(2)))
                    else { continue }
                    let properties = type == .update ? Self.properties(statement.data(3), entity.entity).map(\.name).sorted() : []
                    changes.append(
                        HistoryChange(id: reader.values.id(statement.int64(1), of: entity.entity), type: type, properties: properties))
                }
                return changes
            }
        }
    }
}
