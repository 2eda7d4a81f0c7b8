#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// The statements that create the tables of a new store.
struct LayoutDefinition {
    /// The number of keys that a sequence gives at once.
    static let keysPerBlock: Int64 = 50

    private let schema: SQLSchema
    private let references: [PostgreSQLLayout.Reference]
    private var names: LayoutNames
    private(set) var statements: [String] = []
    /// The statements that create each table, without its constraints and indexes.
    private(set) var creations: [SQLIdentifier: [String]] = [:]
    /// The checks of each table.
    private(set) var rules: [SQLIdentifier: [String]] = [:]
    /// A constraint or an index.
    struct Addition {
        let tables: [SQLIdentifier]
        let statement: String
        /// The statement that removes it.
        let removal: String
        /// The name of an index, which can be built while others write; nil for a constraint.
        var index: SQLIdentifier?
    }
    private(set) var additions: [Addition] = []
    /// The indexes of the model that are not created, each with the reason.
    private(set) var unmade: [String] = []

    init(_ layout: PostgreSQLLayout, _ schema: SQLSchema) {
        self.schema = schema
        references = layout.references
        names = LayoutNames(
            schema.tables.map(\.name.name) + schema.joins.map(\.name.name) + schema.tables.map { Self.sequence(of: $0.name).name }
                + PostgreSQLTables.all)
        addOwnTables()
        for table in schema.tables { addTable(table) }
        for join in schema.joins { addJoin(join) }
        for reference in references { addReference(reference) }
        for entity in schema.entities {
            addIndexes(entity)
            addUniqueness(entity)
        }
    }

    /// Returns the sequence of a table's keys.
    static func sequence(of table: SQLIdentifier) -> SQLIdentifier { LayoutNames.identifier(table.name.prefix(55) + "_id_seq") }

    private mutating func addOwnTables() {
        statements += [
            "CREATE TABLE \(PostgreSQLTables.metadata) (only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), layout integer NOT NULL, "
                + "uuid uuid NOT NULL, metadata bytea NOT NULL, model bytea)",
            "CREATE TABLE \(PostgreSQLTables.commits) (id uuid PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())",
            "CREATE INDEX ON \(PostgreSQLTables.commits) (at)",
            "CREATE TABLE \(PostgreSQLTables.entities) (number integer PRIMARY KEY, name text NOT NULL)",
        ]
        for entity in schema.entities {
            statements.append(
                "INSERT INTO \(PostgreSQLTables.entities) VALUES (\(entity.number), \(sqlLiteral(entity.entity.name ?? "")))")
        }
    }

    private mutating func addTable(_ table: SQLTable) {
        let kinds = schema.entities.filter { $0.table == table.name }
        let numbers = kinds.map { String($0.number) }.joined(separator: ", ")
        let sequence = Self.sequence(of: table.name)
        let next = "nextval(\(sqlLiteral(sequence.sql)))"
        var parts = [
            "id bigint PRIMARY KEY DEFAULT \(next)",
            "entity integer NOT NULL\(kinds.count == 1 ? " DEFAULT \(kinds[0].number)" : "")",
            "version bigint NOT NULL DEFAULT 1",
        ]
        parts += table.columns.map { "\($0.name) \($0.type)" }
        let checks = ["CHECK (entity IN (\(numbers)))"] + kinds.flatMap { self.checks($0) }
        rules[table.name] = checks
        creations[table.name] = [
            "CREATE SEQUENCE \(sequence) INCREMENT BY \(Self.keysPerBlock)",
            "CREATE TABLE \(table.name) (\((parts + checks).joined(separator: ", ")))",
            "ALTER SEQUENCE \(sequence) OWNED BY \(table.name).id",
        ]
        statements += creations[table.name] ?? []
        if kinds.count > 1 { addIndex(on: table.name, ["entity"], "entity") }
    }

    private mutating func addJoin(_ join: SQLJoinTable) {
        let columns = join.columns.map { "\($0) bigint NOT NULL" } + join.orderColumns.map { "\($0) bigint" }
        let key = join.columns.map(\.sql).joined(separator: ", ")
        let creation = "CREATE TABLE \(join.name) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))"
        creations[join.name] = [creation]
        statements.append(creation)
    }

    /// Rows are written in any order: the keys are checked at the end of the transaction.
    private mutating func addReference(_ reference: PostgreSQLLayout.Reference) {
        let isOfJoin = schema.joins.contains { $0.name == reference.table }
        // The primary key of a join table begins with its first column.
        if !isOfJoin || schema.joins.contains(where: { $0.name == reference.table && $0.columns[0] != reference.column }) {
            addIndex(on: reference.table, [reference.column.sql], reference.column.name)
        }
        guard reference.isChecked else { return }
        let name = names.claim("\(reference.table.name)_\(reference.column.name)_fkey")
        add(
            "ALTER TABLE \(reference.table) ADD CONSTRAINT \(name) FOREIGN KEY (\(reference.column)) REFERENCES \(reference.target) (id) "
                + "ON DELETE \(isOfJoin ? "CASCADE" : "SET NULL") DEFERRABLE INITIALLY DEFERRED",
            to: [reference.table, reference.target], "ALTER TABLE \(reference.table) DROP CONSTRAINT IF EXISTS \(name)")
    }

    private mutating func addIndex(on table: SQLIdentifier, _ elements: [String], _ name: String) {
        let name = names.claim("\(table.name)_\(name)_index")
        add(
            "CREATE INDEX \(name) ON \(table) (\(elements.joined(separator: ", ")))", to: [table], "DROP INDEX IF EXISTS \(name)",
            index: name)
    }

    private mutating func add(_ statement: String, to tables: [SQLIdentifier], _ removal: String, index: SQLIdentifier? = nil) {
        additions.append(Addition(tables: tables, statement: statement, removal: removal, index: index))
        statements.append(statement)
    }

    // MARK: The model's rules

    /// Returns the bounds of numbers that the model's validation predicates set.
    private func checks(_ entity: SQLEntity) -> [String] {
        entity.entity.declaredProperties.compactMap { $0 as? NSAttributeDescription }.sorted { $0.name < $1.name }.flatMap { attribute in
            guard attribute.slotIndex < entity.properties.count, case .attribute(let place) = entity[attribute] else { return [String]() }
            switch place.storage {
            case .integer, .double, .decimal: break
            default: return []
            }
            return attribute.validationPredicates.compactMap { predicate in
                guard case .comparison(let comparison)? = try? predicate.tree(), comparison.modifier == .direct,
                    comparison.left == .evaluatedObject, case .constant(let bound) = comparison.right, let number = Self.literal(bound)
                else { return nil }
                switch comparison.operator {
                case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
                    return "CHECK (\(place.column) \(comparison.operator.symbol.sql) \(number))"
                default: return nil
                }
            }
        }
    }

    private static func literal(_ value: PropertyValue) -> String? {
        switch value {
        case .int64(let number): String(number)
        case .double(let number): number.isFinite ? "\(number)" : nil
        case .decimal(let number): number.isNaN ? nil : number.description
        default: nil
        }
    }

    // MARK: Indexes

    private mutating func addIndexes(_ entity: SQLEntity) {
        let description = entity.entity
        for index in description.indexes {
            let reason: String? =
                if index.partialIndexPredicate != nil {
                    "its predicate"
                } else if index.elements.contains(where: { $0.collationType == .rTree }) {
                    "the R-tree"
                } else if index.elements.contains(where: { $0.property is NSExpressionDescription }) {
                    "the expression"
                } else { nil }
            if let reason {
                unmade.append("“\(index.name)” of “\(description)”, for \(reason)")
                continue
            }
            let elements = index.elements.map { element in
                element.property.flatMap { column(of: $0, in: entity) }
                    .map { "\($0) \(element.isAscending ? "ASC NULLS FIRST" : "DESC NULLS LAST")" }
            }
            if elements.contains(nil) || elements.isEmpty { continue }
            addIndex(on: entity.table, elements.compactMap { $0 }, TableNames.words(index.name))
        }
    }

    /// Two rows may exchange their values: constraints are checked at the end of the transaction.
    private mutating func addUniqueness(_ entity: SQLEntity) {
        for constraint in entity.entity.uniquenessConstraints {
            let properties = NSEntityDescription.names(in: constraint).map { $0.flatMap { entity.entity.frozenParts.byName[$0] } }
            let columns = properties.map { $0.flatMap { column(of: $0, in: entity) } }
            if columns.contains(nil) || columns.isEmpty { continue }
            // Equal values may have different archives.
            let isArchived = properties.contains { property in
                guard let property, case .attribute(let place) = entity[property] else { return false }
                return switch place.storage {
                case .transformable, .composite: true
                default: false
                }
            }
            if isArchived { continue }
            let name = names.claim(
                "\(entity.table.name)_\(columns.compactMap { $0?.name }.joined(separator: "_"))_key")
            let list = columns.compactMap { $0?.sql }
            let rule =
                entity.isWholeTable
                ? "UNIQUE (\(list.joined(separator: ", ")))"
                // Rows of other entities do not count.
                : "EXCLUDE USING btree (\(list.map { "\($0) WITH =" }.joined(separator: ", "))) "
                    + "WHERE (entity IN (\(entity.numbers.map(String.init).joined(separator: ", "))))"
            add(
                "ALTER TABLE \(entity.table) ADD CONSTRAINT \(name) \(rule) DEFERRABLE INITIALLY DEFERRED", to: [entity.table],
                "ALTER TABLE \(entity.table) DROP CONSTRAINT IF EXISTS \(name)")
        }
    }

    private func column(of property: NSPropertyDescription, in entity: SQLEntity) -> SQLIdentifier? {
        guard property.slotIndex >= 0, property.slotIndex < entity.properties.count else { return nil }
        switch entity[property] {
        case .attribute(let attribute): return attribute.column
        case .toOne(let key): return key.column
        case .toMany, .unstored: return nil
        }
    }
}
#endif
