internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Reads the definitions of a database file's tables and views.
struct SQLiteCatalogueReader {
    typealias Relation = CatalogueRelation<SQLiteTableDialect>
    private typealias Column = CatalogueColumn<SQLiteTableDialect>

    let connection: SQLConnection
    /// The tables and views whose values are sampled, in lower case; nil for all.
    var wanted: Set<String>?
    /// The number of rows that are sampled.
    private static let sampleSize = 500
    /// The time limit for reading them. A view may take for ever to return its first row: then only the declarations of its columns count.
    private static let sampleTime = Duration.seconds(5)

    init(_ connection: SQLConnection, wanted: Set<String>? = nil) { (self.connection, self.wanted) = (connection, wanted) }

    /// Returns the tables and views of the file.
    ///
    /// - Throws: SQLite's errors, and code 134080 for a library that is too old.
    func read() throws -> Catalogue<SQLiteTableDialect> {
        try connection.reading {
            var relations: [Relation] = []
            var unread: [String] = []
            // sqlite_sequence and the like are SQLite's own, and so are the tables of a virtual table.
            let rows = try connection.texts(
                "SELECT l.name, l.type, l.wr, l.strict, coalesce(s.sql, '') FROM pragma_table_list l LEFT JOIN sqlite_schema s "
                    + "ON s.name = l.name AND s.type IN ('table', 'view') WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
                    + "ORDER BY l.name", .opening)
            for row in rows {
                let (name, type) = (row[0] ?? "", row[1] ?? "")
                switch type {
                case "table", "view":
                    do {
                        let table = Listed(
                            name: name, isView: type == "view", hasRowNumbers: row[2] == "0", isStrict: row[3] == "1", sql: row[4] ?? "")
                        relations.append(try relation(table))
                    } catch let error as NSError where Self.isOfItsProgram(error) {
                        // A view of a table that is gone, or a table or view that uses functions of its program.
                        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
                        unread.append("The \(type) \(name): SQLite cannot read it: \((cause ?? error).localizedDescription)")
                    }
                case "virtual": unread.append("The virtual table \(name): a module keeps its rows.")
                default: continue
                }
            }
            return Catalogue(schema: "main", relations: try withReferences(relations), unread: unread)
        }
    }

    /// Returns whether SQLite cannot interpret the definition of a table or view, and the file is otherwise intact.
    private static func isOfItsProgram(_ error: NSError) -> Bool { error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_ERROR) }

    private struct Listed {
        let name: String
        let isView: Bool
        let hasRowNumbers: Bool
        let isStrict: Bool
        /// The statement that created it.
        let sql: String
    }

    // MARK: Columns

    private func relation(_ table: Listed) throws -> Relation {
        var relation = Relation(name: table.name, kind: table.isView ? .view : .table)
        // name, type, NOT NULL, default, place in the primary key, 1 for hidden columns and 2 or 3 for generated ones
        let rows = try texts(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1", table.name)
        let key = rows.filter { $0[4] != "0" }.sorted { Int($0[4] ?? "") ?? 0 < Int($1[4] ?? "") ?? 0 }.map { $0[0] ?? "" }
        let indexed = try readIndexes(&relation)
        // A descending key of that type is no number of the row, by a mistake of SQLite's that files rely on: it has an index then.
        let rowNumber =
            table.hasRowNumbers && !table.isView && key.count == 1
                && rows.contains { $0[0] == key[0] && ($0[1] ?? "").uppercased() == "INTEGER" } && !indexed.hasKey
            ? key[0] : nil
        var types = rows.map { row -> SQLiteColumnType in
            let (name, declared) = (row[0] ?? "", row[1] ?? "")
            var type = SQLiteColumnType(
                place: "\(table.name).\(name)", declared: declared, affinity: .init(declared: declared), isStrict: table.isStrict)
            type.isRowNumber = name == rowNumber
            type.isIndexed = indexed.columns.contains(name) || (!table.hasRowNumbers && name == key.first)
            type.isJSON = Self.isJSON(name, table.sql)
            type.collation = table.isView ? nil : collation(table.name, name)
            type.hasUnknownCollation = type.collation.map(isUnknown) ?? false
            return type
        }
        if wanted?.contains(table.name.lowercased()) ?? true {
            let found = try connection.limitingTime(to: Self.sampleTime) { try sampled(table.name, rows.map { $0[0] ?? "" }, types) }
            types = found ?? types
        }
        relation.columns = zip(rows, types).map { row, type in
            let name = row[0] ?? ""
            let source: Column.Source =
                row[5] == "2" || row[5] == "3"
                ? .expression : type.isRowNumber ? .identity(isStrict: false) : .program(hasDefault: row[3] != nil)
            // Other keys may be NULL in tables with numbers of rows.
            let isRequired = row[2] == "1" || type.isRowNumber || (!table.hasRowNumbers && key.contains(name))
            return Column(name: name, type: type, isRequired: isRequired, source: source)
        }
        relation.primaryKey = key
        if !table.isView { try addUniqueRules(&relation) }
        if key.isEmpty, table.hasRowNumbers, !table.isView {
            let names = Set(relation.columns.map { $0.name.lowercased() })
            if let name = ["rowid", "_rowid_", "oid"].first(where: { !names.contains($0) }) {
                var type = SQLiteColumnType(place: "\(table.name).\(name)", declared: "INTEGER", affinity: .integer, isStrict: true)
                type.isRowNumber = true
                relation.rowNumber = Column(name: name, type: type, isRequired: true, source: .identity(isStrict: false))
                relation.primaryKey = [name]
            }
        }
        return relation
    }

    /// Returns how a column of a table compares texts, in capitals.
    private func collation(_ table: String, _ column: String) -> String? {
        var collation: UnsafePointer<CChar>?
        guard sqlite3_table_column_metadata(connection.handle, "main", table, column, nil, &collation, nil, nil, nil) == SQLITE_OK,
            let collation
        else { return nil }
        return String(cString: collation).uppercased()
    }

    /// Returns whether SQLite does not have a collation. It requests a collation when a statement compares by it, and lists unknown ones, too.
    private func isUnknown(_ collation: String) -> Bool {
        if ["BINARY", "NOCASE", "RTRIM"].contains(collation) { return false }
        let sql = "SELECT '' = '' COLLATE \(TableNames.identifier(collation))"
        let isPrepared = (try? SQLStatement(sql, connection: connection, isKept: false)) != nil
        return !isPrepared || connection.unknownCollations?.names.contains(collation) ?? false
    }

    /// Returns whether the statement of a table declares that a column has JSON: `CHECK (json_valid("name") OR …)`, as Django writes it.
    private static func isJSON(_ column: String, _ sql: String) -> Bool {
        let sql = sql.lowercased()
        guard sql.contains("json_valid") else { return false }
        let name = column.lowercased()
        return ["\"\(name)\"", name, "`\(name)`", "[\(name)]"].contains { sql.contains("json_valid(\($0))") }
    }

    // MARK: Indexes

    private struct Indexes {
        /// The columns with which an index begins.
        var columns: Set<String> = []
        /// Whether the primary key has an index of its own.
        var hasKey = false
    }

    private func readIndexes(_ relation: inout Relation) throws -> Indexes {
        var found = Indexes()
        for index in try texts("SELECT name, \"unique\", origin, partial FROM pragma_index_list(?) ORDER BY seq", relation.name) {
            if index[2] == "pk" { found.hasKey = true }
            if index[3] == "1" { continue }
            // A column without a name is an expression.
            let columns = try texts("SELECT name FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno", index[0] ?? "").map { $0[0] }
            if let first = columns.first, let first { found.columns.insert(first) }
            let names = columns.compactMap { $0 }
            if index[1] == "1", index[2] != "pk", names.count == columns.count { relation.uniques.append(names) }
        }
        relation.uniques.sort { $0.lexicographicallyPrecedes($1) }
        return found
    }

    /// Adds the rules that keep rows distinct, once the columns are known.
    private func addUniqueRules(_ relation: inout Relation) throws {
        if !relation.primaryKey.isEmpty { relation.addUniqueRule(relation.primaryKey) }
        let indexes = try texts(
            "SELECT l.name, coalesce(s.sql, '') FROM pragma_index_list(?) l LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name "
                + "WHERE l.\"unique\" AND l.origin <> 'pk' ORDER BY l.seq", relation.name)
        for index in indexes {
            let names = try texts("SELECT name FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno", index[0] ?? "").map { $0[0] }
            let definition = index[1] ?? ""
            let condition = SQLWords.after("WHERE", in: definition)
            // A column without a name is an expression, which appears in the statement of the index.
            let expressions = names.contains(nil) ? (SQLWords.after("ON", in: definition) ?? "") : ""
            relation.addUniqueRule(
                names.compactMap { $0 }, expressions: condition.map { String(expressions.dropLast($0.count)) } ?? expressions,
                condition: condition)
        }
    }

    // MARK: Foreign keys

    /// Adds the foreign keys. SQLite's names are case-insensitive: the spelling of the existing tables is used.
    private func withReferences(_ relations: [Relation]) throws -> [Relation] {
        let byName = Dictionary(relations.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        func real(_ name: String, in relation: Relation) -> String {
            relation.columns.first { $0.name == name }?.name ?? relation.columns.first { $0.name.lowercased() == name.lowercased() }?.name
                ?? name
        }
        return try relations.map { relation in
            guard relation.kind == .table else { return relation }
            var relation = relation
            var keys: [(id: Int, target: String, columns: [String], targets: [String?], action: String)] = []
            for row in try texts(
                "SELECT id, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq", relation.name)
            {
                let id = Int(row[0] ?? "") ?? 0
                if keys.last?.id != id { keys.append((id, row[1] ?? "", [], [], row[4] ?? "")) }
                keys[keys.count - 1].columns.append(real(row[2] ?? "", in: relation))
                keys[keys.count - 1].targets.append(row[3])
            }
            relation.references = keys.map { key in
                let target = byName[key.target.lowercased()]
                // Without columns, the primary key is meant.
                let columns =
                    key.targets.contains(nil)
                    ? target?.primaryKey ?? []
                    : key.targets.compactMap { name in name.map { name in target.map { real(name, in: $0) } ?? name } }
                let action: CatalogueReference.DeleteAction =
                    switch key.action {
                    case "CASCADE": .cascade
                    case "SET NULL", "SET DEFAULT": .clear
                    default: .refuse
                    }
                return CatalogueReference(
                    name: "(\(key.columns.joined(separator: ", ")))", columns: key.columns, targetSchema: "main",
                    target: target?.name ?? key.target, targetColumns: columns, onDelete: action)
            }.sorted { $0.columns.lexicographicallyPrecedes($1.columns) }
            return relation
        }
    }

    // MARK: Values

    /// Returns the types of columns, with sample values for those whose declared types are ambiguous.
    private func sampled(_ table: String, _ names: [String], _ types: [SQLiteColumnType]) throws -> [SQLiteColumnType] {
        var types = types
        let open = types.indices.filter { types[$0].isOpen }
        for part in stride(from: 0, to: open.count, by: 500).map({ open[$0..<min($0 + 500, open.count)] }) {
            let list = part.map { TableNames.identifier(names[$0]).sql }.joined(separator: ", ")
            let sql = "SELECT \(list) FROM \"main\".\(TableNames.identifier(table)) LIMIT \(Self.sampleSize)"
            let statement = try SQLStatement(sql, connection: connection, isKept: false)
            while try statement.step(.opening) {
                for (column, index) in part.enumerated() {
                    types[index].values.add(SQLiteColumnValue.raw(sqlite3_column_value(statement.handle, Int32(column))))
                }
            }
            try connection.checkCollations(sql)
        }
        return types
    }

    private func texts(_ sql: String, _ argument: String) throws -> [[String?]] {
        try connection.with(sql) { statement in
            statement.bind(argument, at: 1)
            var rows: [[String?]] = []
            let count = Int(sqlite3_column_count(statement.handle))
            while try statement.step(.opening) { rows.append((0..<count).map { statement.isNull($0) ? nil : statement.text($0) }) }
            return rows
        }
    }
}

extension SQLiteColumnType {
    /// Whether the values decide about the form, or about how they are written.
    fileprivate var isOpen: Bool {
        // Large values are not read.
        if isRowNumber || (affinity == .none && !declared.isEmpty) { return false }
        return !(isStrict && ["INT", "INTEGER", "REAL"].contains(word))
    }
}
