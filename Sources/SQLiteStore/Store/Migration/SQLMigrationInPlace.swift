internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Migrates a store in place, in one transaction: tables and columns are added, renamed and dropped, and rows are only changed if a value is.
struct SQLMigrationInPlace {
    let completion: SQLMigrationCompletion
    let connection: SQLConnection
    private var plan: SQLMigrationPlan { completion.plan }

    /// The names of columns and tables that are dropped later.
    static let droppedPrefix = "Z_DROPPED_"
    private static let movingPrefix = "Z_MOVING_"

    init(_ completion: SQLMigrationCompletion, on connection: SQLConnection) {
        (self.completion, self.connection) = (completion, connection)
    }

    /// Returns the approximate number of rows that are rewritten.
    ///
    /// - Parameter highestKeys: The largest keys by root entity number, which are known without counting rows.
    static func rewrittenRows(_ plan: SQLMigrationPlan, highestKeys: [Int64: Int64], deferred: Bool) -> Int64 {
        var count: Int64 = 0
        for table in plan.tables {
            guard let source = table.source else { continue }
            let rows = plan.source.entities.filter { $0.table == source }.compactMap { highestKeys[$0.rootNumber] }.max() ?? 0
            let old = plan.source.tables.first { $0.name == source }?.columns.map(\.name) ?? []
            let used = Set(table.columns.flatMap { $0.values.values.compactMap(\.column) })
            let dropped = deferred ? 0 : old.filter { !used.contains($0) }.count
            let filled = table.columns.filter { column in
                column.values.values.contains { $0.column != nil && !$0.isAsItIs } || Self.needsUpdate(column, table)
            }
            count += rows * Int64(dropped + filled.count)
        }
        return count
    }

    /// Returns whether a new column gets values that a default in SQLite cannot provide.
    private static func needsUpdate(_ column: SQLMigrationPlan.Column, _ table: SQLMigrationPlan.Table) -> Bool {
        let literals = table.numbers.map { column.values[$0]?.fallback }
        return column.values.values.allSatisfy { $0.column == nil } && Set(literals).count > 1
    }

    /// Migrates the store. Call it within a transaction.
    func run() throws {
        try dropTriggers()
        try dropTables()
        try renameTables()
        for (index, table) in plan.tables.enumerated() where table.source != nil { try change(table, index) }
        for (index, join) in plan.joins.enumerated() where join.source != nil { try change(join, index) }
        let names = Set(try connection.texts("SELECT lower(name) FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] })
        for table in plan.destination.tables where !names.contains(table.name.name.lowercased()) {
            try connection.execute(table.definition)
        }
        for join in plan.destination.joins where !names.contains(join.name.name.lowercased()) { try connection.execute(join.definition) }
        for step in completion.steps { try step.run(connection) }
        let changes = try SQLMigrationIndexes.changes(in: connection, to: plan.destination)
        for name in changes.drop { try connection.execute("DROP INDEX \(SQLIdentifier(name))") }
        // The version guarantees its constraints, while other indexes only make fetches faster.
        for index in changes.create where !completion.rules.deferred || index.sql.hasPrefix("CREATE UNIQUE") {
            try completion.create(index, on: connection)
        }
        try completion.createTriggers(on: connection)
        try completion.describe(connection)
    }

    private func dropTriggers() throws {
        let names = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND (name LIKE 'Z\\_DA\\_%' ESCAPE '\\' OR sql LIKE '%NSCoreData%')")
        for name in names { try connection.execute("DROP TRIGGER \(SQLIdentifier(name[0] ?? ""))") }
    }

    private func dropTables() throws {
        let names = Set(try connection.texts("SELECT lower(name) FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] })
        for table in plan.tablesWithoutSuccessor where names.contains(table.name.lowercased()) {
            if completion.rules.deferred {
                for index in try SQLMigrationIndexes.all(in: connection) where index.table == table.name.lowercased() {
                    try connection.execute("DROP INDEX \(SQLIdentifier(index.name))")
                }
                try connection.execute("ALTER TABLE \(table) RENAME TO \(Self.unused(names, "\(Self.droppedPrefix)\(table.name)"))")
            } else {
                try connection.execute("DROP TABLE \(table)")
            }
        }
        for entity in plan.removed where plan.tables.contains(where: { $0.source == entity.table }) {
            try connection.execute("DELETE FROM \(entity.table) WHERE Z_ENT = \(entity.number)")
        }
    }

    private static func unused(_ names: Set<String>, _ name: String) -> SQLIdentifier {
        var candidate = name
        var count = 0
        while names.contains(candidate.lowercased()) {
            count += 1
            candidate = "\(name)_\(count)"
        }
        return SQLIdentifier(candidate)
    }

    // MARK: Tables

    private func renameTables() throws {
        var moving: [(from: SQLIdentifier, to: SQLIdentifier)] = []
        let all =
            plan.tables.compactMap { table in table.source.map { ($0, table.name) } }
            + plan.joins.compactMap { join in join.source.map { ($0, join.table.name) } }
        // Names may be exchanged.
        for (index, (old, new)) in all.enumerated() where old.name != new.name {
            let between = SQLIdentifier("\(Self.movingPrefix)\(index)")
            try connection.execute("ALTER TABLE \(old) RENAME TO \(between)")
            moving.append((between, new))
        }
        for (old, new) in moving { try connection.execute("ALTER TABLE \(old) RENAME TO \(new)") }
    }

    private func columns(of table: SQLIdentifier) throws -> [String] {
        try connection.texts("SELECT name FROM pragma_table_info(\(sqlLiteral(table.name)))").compactMap { $0[0] }
    }

    /// Renames columns, drops unused ones, and adds new ones.
    ///
    /// - Parameters:
    ///   - wanted: The columns, each with its present name, or nil for a new one, and with the end of its declaration.
    ///   - known: The columns of the older version; those that are not wanted are dropped.
    private func change(
        _ table: SQLIdentifier, _ wanted: [(name: SQLIdentifier, old: SQLIdentifier?, declaration: String)], known: [SQLIdentifier]
    ) throws {
        let used = Set(wanted.compactMap { $0.old?.name.lowercased() })
        let existing = try columns(of: table)
        let isKnown = Set(known.map { $0.name.lowercased() })
        let needed = Set(wanted.map { $0.name.name.lowercased() })
        let dropped = existing.filter { name in
            let name = name.lowercased()
            return !used.contains(name) && !["z_pk", "z_ent", "z_opt"].contains(name) && (isKnown.contains(name) || needed.contains(name))
        }
        try drop(dropped, from: table, existing)
        var moving: [(from: SQLIdentifier, to: SQLIdentifier)] = []
        for (index, column) in wanted.enumerated() {
            guard let old = column.old, old.name.lowercased() != column.name.name.lowercased() else { continue }
            let between = SQLIdentifier("\(Self.movingPrefix)\(index)")
            try connection.execute("ALTER TABLE \(table) RENAME COLUMN \(old) TO \(between)")
            moving.append((between, column.name))
        }
        for (old, new) in moving { try connection.execute("ALTER TABLE \(table) RENAME COLUMN \(old) TO \(new)") }
        for column in wanted where column.old == nil {
            try connection.execute("ALTER TABLE \(table) ADD COLUMN \(column.name) \(column.declaration)")
        }
    }

    private func drop(_ names: [String], from table: SQLIdentifier, _ existing: [String]) throws {
        if names.isEmpty { return }
        let lowered = Set(names.map { $0.lowercased() })
        for index in try SQLMigrationIndexes.all(in: connection)
        where index.table == table.name.lowercased() && !index.columns.isDisjoint(with: lowered) {
            try connection.execute("DROP INDEX \(SQLIdentifier(index.name))")
        }
        for name in names {
            if completion.rules.deferred {
                let between = Self.unused(Set(existing.map { $0.lowercased() }), "\(Self.droppedPrefix)\(name)")
                try connection.execute("ALTER TABLE \(table) RENAME COLUMN \(SQLIdentifier(name)) TO \(between)")
            } else {
                try connection.execute("ALTER TABLE \(table) DROP COLUMN \(SQLIdentifier(name))")
            }
        }
    }

    private func change(_ table: SQLMigrationPlan.Table, _ index: Int) throws {
        let isShared = table.numbers.count > 1 || !(plan.destination.entities.first { $0.table == table.name }?.isAlone ?? true)
        var updates: [String] = []
        let old = plan.source.tables.first { $0.name == table.source }?.columns.map(\.name) ?? []
        let wanted = table.columns.map { column -> (name: SQLIdentifier, old: SQLIdentifier?, declaration: String) in
            if let source = column.values.values.lazy.compactMap(\.column).first {
                updates += self.updates(column, source, in: table)
                return (column.name, source, column.type)
            }
            let literals = table.numbers.map { column.values[$0]?.fallback }
            // SQLite returns a default for all rows that lack the column, without writing them.
            if Set(literals).count == 1, let literal = literals[0] {
                return (column.name, nil, "\(column.type) DEFAULT \(literal)")
            }
            for number in table.numbers {
                guard let literal = column.values[number]?.fallback else { continue }
                updates.append("UPDATE \(table.name) SET \(column.name) = \(literal) WHERE Z_ENT = \(number)")
            }
            return (column.name, nil, column.type)
        }
        try change(table.name, wanted, known: old)
        // Rows of a table that belonged to one entity alone may have any number.
        if isShared, table.numbers.count == 1, plan.source.entities.first(where: { $0.number == table.numbers[0] })?.isAlone ?? false {
            updates.insert("UPDATE \(table.name) SET Z_ENT = \(table.numbers[0]) WHERE Z_ENT IS NOT \(table.numbers[0])", at: 0)
        }
        for update in updates { try connection.execute(update) }
    }

    /// Returns the statements that change the values of a remaining column.
    private func updates(_ column: SQLMigrationPlan.Column, _ source: SQLIdentifier, in table: SQLMigrationPlan.Table) -> [String] {
        let isWhole = Set(column.values.values.map { "\($0)" }).count == 1 && column.values.count == table.numbers.count
        var updates: [String] = []
        for number in isWhole ? Array(table.numbers.prefix(1)) : table.numbers {
            let kind = isWhole ? "" : "Z_ENT = \(number)"
            if let value = column.values[number] {
                if value.isAsItIs { continue }
                let sql = value.sql(column.name.sql)
                var condition = [kind].filter { !$0.isEmpty }
                if let fallback = value.fallback, sql == "ifnull(\(column.name), \(fallback))" {
                    condition.append("\(column.name) IS NULL")
                } else if value.fallback == nil {
                    condition.append("\(column.name) IS NOT NULL")
                }
                let ending = condition.isEmpty ? "" : " WHERE \(condition.joined(separator: " AND "))"
                updates.append("UPDATE \(table.name) SET \(column.name) = \(sql)\(ending)")
            } else if hadProperty(in: source, number) {
                updates.append("UPDATE \(table.name) SET \(column.name) = NULL WHERE \(kind) AND \(column.name) IS NOT NULL")
            }
        }
        return updates
    }

    /// Returns whether an entity of the older version had values in a column.
    private func hadProperty(in column: SQLIdentifier, _ number: Int64) -> Bool {
        plan.source.entity(numbered: number)?.properties.contains { property in
            switch property {
            case .attribute(let place): place.column == column
            case .toOne(let place): place.column == column || place.entityColumn == column
            case .toMany, .unstored: false
            }
        } ?? false
    }

    private func change(_ join: SQLMigrationPlan.Join, _ index: Int) throws {
        guard let source = join.source, let old = plan.source.joins.first(where: { $0.name == source }) else { return }
        let names = join.table.columns + join.table.orderColumns
        let wanted = zip(names, join.columns).map { name, old in (name: name, old: old, declaration: "INTEGER") }
        try change(join.table.name, wanted, known: old.columns + old.orderColumns)
    }
}
