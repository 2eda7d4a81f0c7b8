#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension MappedSaveRun {
    /// Inserts new rows, which do not refer to each other.
    mutating func insert(_ level: [(change: StoreChange, omitted: Set<Int>)]) async throws {
        for part in stride(from: 0, to: level.count, by: 1000).map({ level[$0..<min($0 + 1000, level.count)] }) {
            // Others may be sent with them.
            let first = calls.count
            for (change, omitted) in part {
                let entity = try content.sqlEntity(change.entity)
                let call = try insertion(change, omitted, entity, mapping.table(entity))
                calls.append(call)
            }
            let results = try await send()
            for ((change, _), result) in zip(part, results.dropFirst(first)) {
                let table = mapping.table(try content.sqlEntity(change.entity))
                guard result.rowCount == 1 else {
                    throw CoreDataError.make(
                        NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.",
                        reason: "The database inserted no row: a rule or a trigger of \(table.relation.name) prevents it.")
                }
                if change.objectID.isTemporaryID {
                    assigned[change.objectID] = NSManagedObjectID(
                        entity: change.entity, token: content.token, reference: table.key.kind.reference(result, 0, 0))
                }
            }
        }
    }

    /// Returns the statement that inserts a row, and returns its key.
    private func insertion(_ change: StoreChange, _ omitted: Set<Int>, _ entity: SQLEntity, _ table: MappedTable) throws -> Call {
        let values = try self.values(ofNew: change, without: omitted, entity, table)
        let alias = MappedTable.alias
        let returned = "RETURNING \(table.key.selected(of: alias))"
        if values.assignments.isEmpty { return Call("INSERT INTO \(table.sql) AS \(alias) DEFAULT VALUES \(returned)") }
        let isForced = table.relation.columns.contains { column in
            if case .identity(isStrict: true) = column.source { values.contains(column.name) } else { false }
        }
        let names = values.assignments.map { LayoutNames.identifier($0.column).sql }.joined(separator: ", ")
        return Call(
            "INSERT INTO \(table.sql) AS \(alias) (\(names)) \(isForced ? "OVERRIDING SYSTEM VALUE " : "")"
                + "VALUES (\(values.assignments.map(\.value).joined(separator: ", "))) \(returned)", values.parameters)
    }
}
#endif
