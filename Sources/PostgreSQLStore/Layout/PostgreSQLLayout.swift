#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The tables and columns of a model in a new store: a table for each inheritance, a column for each property, a join table for each pair of
/// to-many relationships.
struct PostgreSQLLayout {
    /// A column with the key of a row in another table.
    struct Reference {
        let table: SQLIdentifier
        let column: SQLIdentifier
        let target: SQLIdentifier
        /// Whether the database keeps the key valid.
        let isChecked: Bool
    }

    /// The entities in the order of their numbers.
    private let ordered: [NSEntityDescription]
    private var numbers: [ObjectIdentifier: Int64] = [:]
    private(set) var tables: [SQLTable] = []
    private(set) var joinTables: [SQLJoinTable] = []
    private(set) var references: [Reference] = []
    private var tableNames: [ObjectIdentifier: SQLIdentifier] = [:]
    private var properties: [ObjectIdentifier: SQLProperty] = [:]
    private var orderColumns: [ObjectIdentifier: SQLIdentifier] = [:]
    private var takenTables = LayoutNames(PostgreSQLTables.all)

    static let identity = SQLIdentityColumns(
        key: LayoutNames.identifier("id"), entity: LayoutNames.identifier("entity"), version: LayoutNames.identifier("version"))

    /// - Parameter entities: The entities that the store holds.
    init(entities: [NSEntityDescription]) {
        let kept = Set(entities.map(ObjectIdentifier.init))
        func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
            [entity] + entity.subentities.sorted(by: Self.comesFirst).flatMap(family)
        }
        ordered = Set(entities.map { $0.rootEntity }).sorted(by: Self.comesFirst).flatMap(family)
            .filter { kept.contains(ObjectIdentifier($0)) || $0.allKinds.contains { kept.contains(ObjectIdentifier($0)) } }
        for (index, entity) in ordered.enumerated() { numbers[ObjectIdentifier(entity)] = Int64(index + 1) }
        let roots = ordered.filter { $0.superentity == nil }
        for root in roots { tableNames[ObjectIdentifier(root)] = takenTables.claim(TableNames.words(root.name ?? "")) }
        for root in roots { mapTable(root) }
        for entity in ordered { mapJoins(of: entity) }
        for entity in ordered { mapToMany(of: entity) }
    }

    private static func comesFirst(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
        (left.name ?? "").utf16.lexicographicallyPrecedes((right.name ?? "").utf16)
    }

    private func number(of entity: NSEntityDescription) -> Int64 { numbers[ObjectIdentifier(entity)] ?? 0 }

    private func table(of entity: NSEntityDescription) -> SQLIdentifier {
        tableNames[ObjectIdentifier(entity.rootEntity)].known("each root entity of the store has a table")
    }

    private func isKept(_ entity: NSEntityDescription) -> Bool { numbers[ObjectIdentifier(entity)] != nil }

    private func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.declaredProperties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
            .sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    }

    private func relationships(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
        stored(entity).compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity.map(isKept) ?? false }
    }

    private func family(_ root: NSEntityDescription) -> [NSEntityDescription] { ordered.filter { $0.rootEntity === root } }

    // MARK: Columns

    private mutating func mapTable(_ root: NSEntityDescription) {
        let table = table(of: root)
        var taken = LayoutNames(["id", "entity", "version"])
        var columns: [SQLTable.Column] = []
        for entity in family(root) {
            for case let attribute as NSAttributeDescription in stored(entity) {
                guard let storage = SQLStorage(attribute) else { continue }
                let column = taken.claim(TableNames.words(attribute.name))
                properties[ObjectIdentifier(attribute)] = .attribute(SQLAttribute(column: column, storage: storage))
                let required = attribute.isOptional || entity !== root ? "" : " NOT NULL"
                columns.append(SQLTable.Column(name: column, type: storage.columnType + required))
            }
            for relationship in relationships(entity) where !relationship.isToMany {
                let destination = relationship.destinationEntity.known("the relationship has one")
                let key = addKey(TableNames.words(relationship.name), to: destination, relationship, in: table, &taken, &columns)
                properties[ObjectIdentifier(relationship)] = .toOne(SQLToOne(column: key.column, entityColumn: key.entityColumn))
                guard let inverse = relationship.storedInverse, inverse.isToMany, inverse.isOrdered else { continue }
                let order = taken.claim(TableNames.words(relationship.name) + "_position")
                orderColumns[ObjectIdentifier(inverse)] = order
                columns.append(SQLTable.Column(name: order, type: "bigint"))
            }
            for relationship in oneWay(to: entity) {
                let owner = relationship.entity.known("a relationship of the model has an entity")
                let name = TableNames.words(owner.name ?? "") + "_" + TableNames.words(relationship.name)
                let key = addKey(name, to: owner, relationship, in: table, &taken, &columns)
                var order: SQLIdentifier?
                if relationship.isOrdered {
                    let column = taken.claim(name + "_position")
                    columns.append(SQLTable.Column(name: column, type: "bigint"))
                    order = column
                }
                properties[ObjectIdentifier(relationship)] = .toMany(
                    .foreignKey(SQLForeignKey(table: table, column: key.column, entityColumn: key.entityColumn, orderColumn: order)))
            }
        }
        tables.append(SQLTable(name: table, columns: columns))
    }

    /// Adds the column of a key, and that of its row's entity if there may be several.
    private mutating func addKey(
        _ name: String, to destination: NSEntityDescription, _ relationship: NSRelationshipDescription, in table: SQLIdentifier,
        _ taken: inout LayoutNames, _ columns: inout [SQLTable.Column]
    ) -> (column: SQLIdentifier, entityColumn: SQLIdentifier?) {
        let column = taken.claim(name + "_id")
        columns.append(SQLTable.Column(name: column, type: "bigint"))
        references.append(
            Reference(table: table, column: column, target: self.table(of: destination), isChecked: Self.isChecked(relationship)))
        if destination.subentities.isEmpty { return (column, nil) }
        let entityColumn = taken.claim(name + "_entity")
        columns.append(SQLTable.Column(name: entityColumn, type: "integer"))
        return (column, entityColumn)
    }

    /// Returns whether the database keeps a relationship's keys valid. The rule No Action leaves keys of deleted rows behind.
    private static func isChecked(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.deleteRule != .noActionDeleteRule && relationship.storedInverse?.deleteRule != .noActionDeleteRule
    }

    /// Returns the to-many relationships without an inverse whose destination is an entity.
    private func oneWay(to entity: NSEntityDescription) -> [NSRelationshipDescription] {
        ordered.flatMap(relationships).filter { $0.isToMany && $0.storedInverse == nil && $0.destinationEntity === entity }
    }

    private mutating func mapToMany(of entity: NSEntityDescription) {
        for relationship in relationships(entity) where relationship.isToMany {
            guard let inverse = relationship.storedInverse, !inverse.isToMany, let owner = inverse.entity,
                case .toOne(let key)? = properties[ObjectIdentifier(inverse)]
            else { continue }
            properties[ObjectIdentifier(relationship)] = .toMany(
                .foreignKey(
                    SQLForeignKey(
                        table: table(of: owner), column: key.column, entityColumn: key.entityColumn,
                        orderColumn: orderColumns[ObjectIdentifier(relationship)])))
        }
    }

    // MARK: Join tables

    private mutating func mapJoins(of entity: NSEntityDescription) {
        for relationship in relationships(entity) where relationship.isToMany {
            guard let inverse = relationship.storedInverse, inverse.isToMany, properties[ObjectIdentifier(relationship)] == nil,
                let destination = relationship.destinationEntity
            else { continue }
            let isReflexive = relationship === inverse
            let name = takenTables.claim(TableNames.words(entity.name ?? "") + "_" + TableNames.words(relationship.name))
            var taken = LayoutNames()
            let own = taken.claim((isReflexive ? "first" : TableNames.words(inverse.name)) + "_id")
            let other = taken.claim((isReflexive ? "second" : TableNames.words(relationship.name)) + "_id")
            let order = relationship.isOrdered ? taken.claim(TableNames.words(relationship.name) + "_position") : nil
            let inverseOrder = !isReflexive && inverse.isOrdered ? taken.claim(TableNames.words(inverse.name) + "_position") : nil
            properties[ObjectIdentifier(relationship)] = .toMany(
                .join(
                    SQLJoin(
                        table: name, own: own, other: other, orderColumn: order, inverseOrderColumn: inverseOrder, isReflexive: isReflexive)
                ))
            if !isReflexive {
                properties[ObjectIdentifier(inverse)] = .toMany(
                    .join(
                        SQLJoin(
                            table: name, own: other, other: own, orderColumn: inverseOrder, inverseOrderColumn: order, isReflexive: false)))
            }
            joinTables.append(SQLJoinTable(name: name, columns: [own, other], orderColumns: [order, inverseOrder].compactMap { $0 }))
            for (column, target) in [(own, entity), (other, destination)] {
                references.append(
                    Reference(table: name, column: column, target: table(of: target), isChecked: Self.isChecked(relationship)))
            }
        }
    }

    // MARK: The result

    /// Returns the schema of a frozen model.
    func schema(of model: NSManagedObjectModel) -> SQLSchema {
        let entities = ordered.map { entity in
            SQLEntity(
                entity: entity, table: table(of: entity), identity: Self.identity, number: number(of: entity),
                rootNumber: number(of: entity.rootEntity), numbers: entity.allKinds.map(number(of:)).filter { $0 > 0 }.sorted(),
                isWholeTable: entity.superentity == nil,
                properties: entity.frozenParts.properties.map { properties[ObjectIdentifier($0)] ?? .unstored })
        }
        return SQLSchema(model: model, entities: entities, tables: tables, joins: joinTables)
    }
}

/// The names of the tables that every store has.
enum PostgreSQLTables {
    static let metadata = "coredata_metadata"
    static let commits = "coredata_commits"
    static let entities = "coredata_entities"
    /// There while a migration has left indexes to be built.
    static let indexes = "coredata_indexes"
    // The tables of the history, if there is one.
    static let transactions = "coredata_transactions"
    static let changes = "coredata_changes"
    static let purges = "coredata_purges"

    /// The names that no table of a model may have.
    static let all = [metadata, commits, entities, indexes, transactions, changes, purges]
}

extension SQLStorage {
    /// The type of a column.
    var columnType: String {
        switch self {
        case .integer: "bigint"
        case .boolean: "boolean"
        case .double: "double precision"
        case .date: "timestamp with time zone"
        // By code points, whatever the database's own order is: the same on every server.
        case .text, .uri: "text COLLATE \"C\""
        case .data, .externalData, .transformable, .composite: "bytea"
        case .uuid: "uuid"
        case .decimal: "numeric"
        }
    }
}
#endif
