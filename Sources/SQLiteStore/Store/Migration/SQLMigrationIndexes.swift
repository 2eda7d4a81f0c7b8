internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Compares the indexes of a file with those that a schema requires. It compares what they index, because renaming a column leaves the names of
/// indexes unchanged.
enum SQLMigrationIndexes {
    /// An index of a file.
    struct Found {
        let name: String
        let table: String
        /// The indexed columns, in order, and whether the index is unique.
        let definition: String
        /// The columns.
        let columns: Set<String>
    }

    /// Returns the indexes of Core Data's kind in a file.
    static func all(in connection: SQLConnection) throws -> [Found] {
        let rows = try connection.texts(
            "SELECT m.name, m.tbl_name, l.\"unique\", x.name, x.\"desc\", x.coll FROM sqlite_master m "
                + "JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name JOIN pragma_index_xinfo(m.name) x "
                + "WHERE m.type = 'index' AND m.sql IS NOT NULL AND m.name LIKE 'Z%' AND x.key = 1 AND l.partial = 0 ORDER BY m.name, x.seqno"
        )
        var parts: [String: (table: String, definition: String, columns: Set<String>)] = [:]
        for row in rows {
            let name = row[0] ?? ""
            let table = (row[1] ?? "").lowercased()
            var part = parts[name] ?? (table, "\(table) \(row[2] ?? "")", [])
            part.definition += " \((row[3] ?? "").lowercased()) \(row[4] ?? "") \(row[5] ?? "")"
            part.columns.insert((row[3] ?? "").lowercased())
            parts[name] = part
        }
        return parts.sorted { $0.key < $1.key }.map {
            Found(name: $0.key, table: $0.value.table, definition: $0.value.definition, columns: $0.value.columns)
        }
    }

    /// Returns the indexes to drop by name, and those to create.
    static func changes(in connection: SQLConnection, to schema: SQLSchema) throws -> (drop: [String], create: [SQLIndex]) {
        let blank = try SQLiteFiles.connectForWriting(URL(fileURLWithPath: "/dev/null"), timeout: 0, creates: true)
        for table in schema.tables { try blank.execute(table.definition) }
        for join in schema.joins { try blank.execute(join.definition) }
        for index in schema.indexes { try blank.execute(index.sql) }
        let wanted = try all(in: blank)
        var kept: [String: Found] = [:]
        var drop: [String] = []
        let definitions = Set(wanted.map(\.definition))
        for index in try all(in: connection) {
            if definitions.contains(index.definition), kept[index.definition] == nil {
                kept[index.definition] = index
            } else {
                drop.append(index.name)
            }
        }
        var missing = wanted.filter { kept[$0.definition] == nil }
        // A new index may need the name of an index that stays.
        var next = 0
        while next < missing.count {
            let name = missing[next].name.lowercased()
            next += 1
            guard let holder = kept.values.first(where: { $0.name.lowercased() == name }) else { continue }
            kept[holder.definition] = nil
            drop.append(holder.name)
            missing += wanted.filter { $0.definition == holder.definition }
        }
        let names = Set(missing.map { $0.name.lowercased() })
        return (drop, schema.indexes.filter { names.contains($0.name.name.lowercased()) })
    }
}
