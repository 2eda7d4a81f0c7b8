#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The changes to the columns of one table in a migration.
struct ColumnPlan {
    private let table: SQLTable
    private let before: SQLTable
    private let migration: LayoutMigration
    private var origins: [SQLIdentifier: [LayoutMigration.Origin]] = [:]
    /// The new columns by the older columns that are kept in place.
    private(set) var reused: [SQLIdentifier: SQLIdentifier] = [:]
    /// The names that older columns have meanwhile, or for good.
    private(set) var current: [SQLIdentifier: SQLIdentifier] = [:]

    init(_ table: SQLTable, _ before: SQLTable, _ migration: LayoutMigration) throws {
        (self.table, self.before, self.migration) = (table, before, migration)
        for kept in migration.kept where kept.new.table == table.name { try findOrigins(kept) }
        var taken: Set<SQLIdentifier> = []
        for column in table.columns {
            let all = origins[column.name] ?? []
            guard let source = all.first?.column, all.allSatisfy({ $0.column == source }),
                let former = before.columns.first(where: { $0.name == source }), Self.type(former) == Self.type(column),
                taken.insert(source).inserted
            else { continue }
            reused[source] = column.name
        }
    }

    private static let required = " NOT NULL"
    private static func isRequired(_ column: SQLTable.Column) -> Bool { column.type.hasSuffix(required) }
    private static func type(_ column: SQLTable.Column) -> String {
        isRequired(column) ? String(column.type.dropLast(required.count)) : column.type
    }

    // MARK: Sources of values

    private mutating func add(
        _ column: SQLIdentifier, _ number: Int64, _ source: SQLIdentifier, _ value: ((SQLIdentifier) -> String)? = nil
    ) {
        origins[column, default: []].append(
            LayoutMigration.Origin(
                number: number, column: value == nil ? source : nil, value: value ?? { $0.sql }, source: source, isDefault: false))
    }

    private mutating func add(_ column: SQLIdentifier, _ number: Int64, literal: String) {
        origins[column, default: []].append(
            LayoutMigration.Origin(number: number, column: nil, value: { _ in literal }, source: nil, isDefault: true))
    }

    private mutating func findOrigins(_ kept: LayoutMigration.Kept) throws {
        let old = kept.old
        func former(_ name: String) -> SQLProperty? { old.entity.frozenParts.byName[name].map { old[$0] } }
        for (index, property) in kept.new.entity.frozenParts.properties.enumerated() {
            switch kept.new.properties[index] {
            case .attribute(let place):
                guard let attribute = property as? NSAttributeDescription else { continue }
                let source = kept.mapped.attributes.first { $0.destination.name == attribute.name }?.source
                if let source, case .attribute(let known)? = former(source.name) {
                    add(place.column, old.number, known.column, ColumnConversion.conversion(from: known.storage, to: place.storage))
                } else if let literal = try ColumnConversion.defaultValue(of: attribute, place.storage) {
                    add(place.column, old.number, literal: literal)
                }
            case .toOne(let place):
                guard let relationship = property as? NSRelationshipDescription else { continue }
                let source = kept.mapped.relationships.first { $0.destination.name == relationship.name }?.source
                guard let source else {
                    try checkInverse(of: relationship)
                    continue
                }
                guard case .toOne(let known)? = former(source.name) else { continue }
                add(place.column, old.number, known.column)
                if let column = place.entityColumn { addEntity(column, known, source, old.number) }
                if let order = orderColumn(relationship, migration.new.schema) {
                    if let former = orderColumn(source, migration.old.schema) { add(order, old.number, former) }
                }
            case .toMany, .unstored: continue
            }
        }
        try findOneWay(kept)
    }

    /// The keys of one-way relationships to this entity are in this table.
    private mutating func findOneWay(_ kept: LayoutMigration.Kept) throws {
        for owner in migration.kept {
            for relation in owner.mapped.relationships {
                let relationship = relation.destination
                guard relationship.isToMany, relationship.storedInverse == nil, relationship.entity === owner.new.entity,
                    case .toMany(.foreignKey(let place))? = owner.new.entity.frozenParts.byName[relationship.name].map({ owner.new[$0] }),
                    place.table == table.name, let source = relation.source
                else { continue }
                guard source.isToMany, source.storedInverse == nil,
                    case .toMany(.foreignKey(let known))? = owner.old.entity.frozenParts.byName[source.name].map({ owner.old[$0] }),
                    known.table == before.name
                else { throw LayoutMigration.unsupported("“\(relationship)” loses its inverse, or was to-one.") }
                add(place.column, kept.old.number, known.column)
                if let column = place.entityColumn, let former = known.entityColumn {
                    addNumbers(column, kept.old.number, former)
                }
                if let order = place.orderColumn, let former = known.orderColumn { add(order, kept.old.number, former) }
            }
        }
    }

    /// A to-one relationship is new only if its inverse is.
    private func checkInverse(of relationship: NSRelationshipDescription) throws {
        guard let inverse = relationship.storedInverse else { return }
        let hasSource = migration.kept.contains { kept in
            kept.mapped.relationships.contains {
                $0.destination.name == inverse.name && $0.destination.entity === inverse.entity && $0.source != nil
            }
        }
        if hasSource {
            throw LayoutMigration.unsupported("“\(relationship)” becomes the inverse of “\(inverse)”, which has been without it.")
        }
    }

    private mutating func addEntity(_ column: SQLIdentifier, _ known: SQLToOne, _ source: NSRelationshipDescription, _ number: Int64) {
        if let former = known.entityColumn { return addNumbers(column, number, former) }
        // There was one entity only.
        guard let entity = source.destinationEntity.flatMap(migration.old.schema.entity), let new = migration.newNumber(entity.number)
        else {
            return
        }
        let key = known.column
        origins[column, default: []].append(
            LayoutMigration.Origin(
                number: number, column: nil, value: { "CASE WHEN \($0) IS NOT NULL THEN \(new) END" }, source: key, isDefault: false))
    }

    private mutating func addNumbers(_ column: SQLIdentifier, _ number: Int64, _ former: SQLIdentifier) {
        let renumbered = migration.renumbered("x")
        if renumbered == "x" { return add(column, number, former) }
        let migration = migration
        add(column, number, former) { migration.renumbered($0.sql) }
    }

    private func orderColumn(_ relationship: NSRelationshipDescription, _ schema: SQLSchema) -> SQLIdentifier? {
        guard let inverse = relationship.storedInverse, inverse.isToMany, inverse.isOrdered,
            let owner = inverse.entity.flatMap(schema.entity), case .toMany(.foreignKey(let key)) = owner[inverse]
        else { return nil }
        return key.orderColumn
    }

    // MARK: Statements

    /// Returns the statements that rename columns, and add and fill new ones.
    mutating func beginning() -> [String] {
        var statements: [String] = []
        let name = table.name
        for (index, column) in before.columns.enumerated() {
            current[column.name] = column.name
            let isTaken = table.columns.contains { $0.name == column.name }
            if reused[column.name] == column.name || (!isTaken && reused[column.name] == nil) { continue }
            let aside = LayoutNames.identifier("coredata_old_\(index)")
            statements.append("ALTER TABLE \(name) RENAME COLUMN \(column.name) TO \(aside)")
            current[column.name] = aside
        }
        for (source, column) in reused.sorted(by: { $0.key.name < $1.key.name }) where source != column {
            statements.append("ALTER TABLE \(name) RENAME COLUMN \(current[source] ?? source) TO \(column)")
            current[source] = column
        }
        for column in table.columns where !reused.values.contains(column.name) {
            let all = origins[column.name] ?? []
            let former = migration.old.schema.entities.filter { $0.table == before.name && migration.newNumber($0.number) != nil }
            let literal = all.first?.value(column.name)
            let add = "ALTER TABLE \(name) ADD COLUMN \(column.name) \(Self.type(column))"
            if let literal, all.count == former.count, all.allSatisfy({ $0.isDefault && $0.value(column.name) == literal }) {
                // The database records the value, and writes no row.
                statements += ["\(add) DEFAULT \(literal)", "ALTER TABLE \(name) ALTER COLUMN \(column.name) DROP DEFAULT"]
                continue
            }
            statements.append(add)
            for origin in all {
                let source = origin.source.flatMap { current[$0] } ?? column.name
                statements.append("UPDATE \(name) SET \(column.name) = \(origin.value(source)) WHERE entity = \(origin.number)")
            }
        }
        return statements
    }

    /// Returns the statements that drop older columns, and make values required.
    func ending() -> [String] {
        var statements = before.columns.filter { reused[$0.name] == nil }.map {
            "ALTER TABLE \(table.name) DROP COLUMN \(current[$0.name] ?? $0.name)"
        }
        for column in table.columns {
            let source = reused.first { $0.value == column.name }?.key
            let was = before.columns.first { $0.name == source }.map(Self.isRequired) ?? false
            if was == Self.isRequired(column) { continue }
            statements.append("ALTER TABLE \(table.name) ALTER COLUMN \(column.name) \(was ? "DROP" : "SET") NOT NULL")
        }
        return statements
    }

    /// The older table.
    var source: SQLIdentifier { before.name }
}
#endif
