#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The statements that migrate a store's own tables from one version of its model to another, in one transaction, and the indexes that are built
/// after it.
///
/// Tables and columns stay in place: they are renamed, added, filled and dropped. Constraints and indexes are only recreated if they differ.
struct LayoutMigration {
    /// A version of the model, and its tables.
    struct Version {
        let schema: SQLSchema
        let definition: LayoutDefinition

        init(_ model: NSManagedObjectModel, _ entities: [NSEntityDescription]) {
            let layout = PostgreSQLLayout(entities: entities)
            schema = layout.schema(of: model)
            definition = LayoutDefinition(layout, schema)
        }
    }
    /// An entity that stays.
    struct Kept {
        let new: SQLEntity
        let old: SQLEntity
        let mapped: InferredMapping.Entity
    }
    /// The source of a column's values, for the rows of one older entity.
    struct Origin {
        let number: Int64
        /// The older column, if its values stay unchanged.
        let column: SQLIdentifier?
        /// Returns the SQL that selects the value, with the names of older columns.
        let value: (SQLIdentifier) -> String
        let source: SQLIdentifier?
        /// Whether the value is that of every new row.
        let isDefault: Bool
    }

    let old: Version
    let new: Version
    let kept: [Kept]
    var statements: [String] = []
    /// An index that is built after the transaction.
    struct Index {
        let name: SQLIdentifier
        /// The statement that builds it while others write.
        let statement: String
        /// The statement that builds it in a transaction.
        let blocking: String
    }
    /// The indexes of tables that may have rows.
    private(set) var indexes: [Index] = []
    /// The names of the indexes that stay unchanged.
    var keptIndexes: [SQLIdentifier] { new.definition.additions.filter(stays).compactMap(\.index) }
    /// The older table that each new one was.
    private var reused: [SQLIdentifier: SQLIdentifier] = [:]
    /// The names that older tables have meanwhile.
    var current: [SQLIdentifier: SQLIdentifier] = [:]
    private var asideCount = 0

    /// - Parameter hasHistory: Whether the store has tables of a history.
    init(from old: Version, to new: Version, by mapping: InferredMapping, hasHistory: Bool) throws {
        (self.old, self.new) = (old, new)
        kept = mapping.entities.compactMap { mapped in
            guard let source = mapped.source.flatMap(old.schema.entity), let destination = mapped.destination.flatMap(new.schema.entity)
            else { return nil }
            return Kept(new: destination, old: source, mapped: mapped)
        }
        // Pending deferred checks of earlier statements would block later ones.
        statements.append("SET CONSTRAINTS ALL IMMEDIATE")
        try chooseTables()
        deleteGone()
        removeAdditions()
        moveTables()
        for table in new.schema.tables where reused[table.name] == nil { statements += new.definition.creations[table.name] ?? [] }
        var plans: [ColumnPlan] = []
        for table in new.schema.tables {
            guard let before = reused[table.name] else { continue }
            var plan = try ColumnPlan(table, old.schema.tables.first { $0.name == before }.known("it is one of the older tables"), self)
            statements += plan.beginning()
            plans.append(plan)
        }
        try moveJoins(plans)
        for plan in plans { statements += plan.ending() }
        for table in new.schema.tables { statements += numbering(of: table) }
        addAdditions()
        dropTables()
        if hasHistory { statements += historyStatements() }
        statements.append("DELETE FROM \(PostgreSQLTables.entities)")
        for entity in new.schema.entities {
            statements.append(
                "INSERT INTO \(PostgreSQLTables.entities) VALUES (\(entity.number), \(sqlLiteral(entity.entity.name ?? "")))")
        }
    }

    static func unsupported(_ what: String) -> NSError {
        CoreDataError.make(
            NSMigrationError, "The store cannot be migrated by its database.", reason: what,
            next: "Take the change in several versions, or copy the objects to a new store.")
    }

    mutating func asideName() -> SQLIdentifier {
        asideCount += 1
        return LayoutNames.identifier("coredata_old_\(asideCount)")
    }

    // MARK: Tables

    private mutating func chooseTables() throws {
        var taken: Set<SQLIdentifier> = []
        for table in new.schema.tables {
            let sources = Set(kept.filter { $0.new.table == table.name }.map(\.old.table))
            guard let source = sources.first else { continue }
            guard sources.count == 1, taken.insert(source).inserted else {
                throw Self.unsupported("The hierarchy of entities in the table \(source.name) is split.")
            }
            reused[table.name] = source
        }
    }

    /// Whether constraints and indexes of a table may stay: it keeps its name and the columns that both versions have.
    private func isStable(_ table: SQLIdentifier) -> Bool {
        if old.schema.joins.contains(where: { $0.name == table }) {
            return old.definition.creations[table] == new.definition.creations[table]
        }
        guard reused[table] == table, let before = old.schema.tables.first(where: { $0.name == table }),
            let after = new.schema.tables.first(where: { $0.name == table }), let plan = try? ColumnPlan(after, before, self)
        else { return false }
        return before.columns.allSatisfy { column in
            plan.reused[column.name] == column.name || !after.columns.contains { $0.name == column.name }
        }
    }

    private func stays(_ addition: LayoutDefinition.Addition) -> Bool {
        old.definition.additions.contains { $0.statement == addition.statement }
            && new.definition.additions.contains { $0.statement == addition.statement } && addition.tables.allSatisfy(isStable)
    }

    private mutating func removeAdditions() {
        statements += old.definition.additions.filter { !stays($0) }.map(\.removal)
    }

    private mutating func addAdditions() {
        let filled = Set(reused.keys).union(old.schema.joins.map(\.name))
        for addition in new.definition.additions where !stays(addition) {
            guard let name = addition.index, addition.tables.allSatisfy(filled.contains) else {
                statements.append(addition.statement)
                continue
            }
            let statement = addition.statement.replacing("CREATE INDEX ", with: "CREATE INDEX CONCURRENTLY ", maxReplacements: 1)
            indexes.append(Index(name: name, statement: statement, blocking: addition.statement))
        }
    }

    /// Renames tables and their sequences, by way of temporary names.
    private mutating func moveTables() {
        let names = Dictionary(reused.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for table in old.schema.tables {
            current[table.name] = table.name
            if names[table.name] == table.name { continue }
            let aside = asideName()
            rename(table.name, to: aside)
            current[table.name] = aside
        }
        for (before, after) in names.sorted(by: { $0.key.name < $1.key.name }) where before != after {
            rename(current[before] ?? before, to: after)
            current[before] = after
        }
    }

    private mutating func rename(_ table: SQLIdentifier, to name: SQLIdentifier) {
        statements.append("ALTER TABLE \(table) RENAME TO \(name)")
        statements.append(
            "ALTER SEQUENCE \(LayoutDefinition.sequence(of: table)) RENAME TO \(LayoutDefinition.sequence(of: name))")
    }

    private mutating func dropTables() {
        let gone = old.schema.tables.map(\.name).filter { !reused.values.contains($0) }.compactMap { current[$0] }
        let joins = old.schema.joins.map(\.name).compactMap { current[$0] }.filter { $0.name.hasPrefix("coredata_old_") }
        if !(gone + joins).isEmpty { statements.append("DROP TABLE \((gone + joins).map(\.sql).joined(separator: ", "))") }
    }

    // MARK: Numbers of entities

    /// Returns the new number of an older entity; nil if it is removed.
    func newNumber(_ number: Int64) -> Int64? { kept.first { $0.old.number == number }?.new.number }

    /// Returns the SQL that selects the new number of an entity.
    func renumbered(_ column: String) -> String {
        let cases = kept.filter { $0.old.number != $0.new.number }.map { "WHEN \($0.old.number) THEN \($0.new.number)" }
        return cases.isEmpty ? column : "CASE \(column) \(cases.joined(separator: " ")) ELSE \(column) END"
    }

    /// Deletes the rows of removed entities; constraints handle the references to them.
    private mutating func deleteGone() {
        for table in old.schema.tables {
            let former = old.schema.entities.filter { $0.table == table.name }
            let gone = former.map(\.number).filter { newNumber($0) == nil }
            if gone.isEmpty { continue }
            let condition = gone.count == former.count ? "" : " WHERE entity IN (\(gone.map(String.init).joined(separator: ", ")))"
            statements.append("DELETE FROM \(table.name)\(condition)")
        }
    }

    /// Gives rows the new numbers of their entities.
    private func numbering(of table: SQLTable) -> [String] {
        guard let before = reused[table.name] else { return [] }
        let former = old.schema.entities.filter { $0.table == before }
        let moved = former.contains { entity in newNumber(entity.number).map { $0 != entity.number } ?? false }
        let hasNewRules = old.definition.rules[before] != new.definition.rules[table.name] || before != table.name
        var statements: [String] = []
        if hasNewRules {
            statements.append(
                """
                DO $coredata$ DECLARE found_check record; BEGIN FOR found_check IN SELECT conname FROM pg_constraint
                WHERE conrelid = \(sqlLiteral(table.name.sql))::regclass AND contype = 'c'
                LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', \(sqlLiteral(table.name.sql)), found_check.conname); END LOOP; END $coredata$
                """)
        }
        if moved { statements.append("UPDATE \(table.name) SET entity = \(renumbered("entity"))") }
        let kinds = new.schema.entities.filter { $0.table == table.name }
        if moved || kinds.count != former.count {
            statements.append(
                "ALTER TABLE \(table.name) ALTER COLUMN entity \(kinds.count == 1 ? "SET DEFAULT \(kinds[0].number)" : "DROP DEFAULT")")
        }
        if hasNewRules { statements += (new.definition.rules[table.name] ?? []).map { "ALTER TABLE \(table.name) ADD \($0)" } }
        return statements
    }
}
#endif
