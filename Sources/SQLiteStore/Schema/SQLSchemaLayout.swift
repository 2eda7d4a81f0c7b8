internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLSchema {
    /// Creates the schema of a frozen model in the layout of Core Data's own SQLite stores.
    ///
    /// The entities of one inheritance share a table, whose name is `Z` and that of the root entity. Entities are numbered in the order of
    /// their names, subentities after their superentity.
    ///
    /// - Parameters:
    ///   - entities: The entities that the store holds.
    ///   - numbers: The entity numbers of an existing file, by name; other entities are numbered as in a new store.
    ///   - fileTables: The columns of an existing file's tables, if a layout has variants.
    convenience init(
        model: NSManagedObjectModel, entities: [NSEntityDescription], numbers: [String: Int64] = [:], fileTables: [String: [String]] = [:]
    ) {
        let layout = SQLSchemaLayout(entities: entities, numbers: numbers, fileTables: fileTables)
        self.init(model: model, entities: layout.sqlEntities(), tables: layout.tables, joins: layout.joinTables)
    }
}

/// Computes the layout of a schema: numbers, tables, columns, join tables.
struct SQLSchemaLayout {
    /// The entities in the order in which their tables and columns get names.
    private let ordered: [NSEntityDescription]
    private var numbers: [ObjectIdentifier: Int64] = [:]
    private(set) var tables: [SQLTable] = []
    private(set) var joinTables: [SQLJoinTable] = []
    private var tableNames: [ObjectIdentifier: SQLIdentifier] = [:]
    private var properties: [ObjectIdentifier: SQLProperty] = [:]
    private var orderColumns: [ObjectIdentifier: SQLIdentifier] = [:]
    private var takenTables = SQLNames(["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"])
    private var takenJoinColumns = SQLNames(["REFLEXIVE"])
    /// The column of the owner's key in the join table of a many-to-many relationship.
    private var joinColumns: [ObjectIdentifier: SQLIdentifier] = [:]
    private let fileTables: [String: [String]]

    init(entities: [NSEntityDescription], numbers known: [String: Int64], fileTables: [String: [String]]) {
        self.fileTables = fileTables
        ordered = Self.ordered(entities, by: Self.comesFirst)
        number(Self.ordered(entities, by: Self.isNumberedFirst), known)
        let roots = ordered.filter { $0.superentity == nil }
        for root in roots { tableNames[ObjectIdentifier(root)] = takenTables.claim("Z" + (root.name ?? "").uppercased()) }
        for root in roots { mapTable(root) }
        for entity in ordered { nameJoinColumns(of: entity) }
        for entity in ordered { mapJoins(of: entity) }
        for entity in ordered { mapToMany(of: entity) }
    }

    /// Returns entities in an order of siblings, each before its subentities.
    private static func ordered(
        _ entities: [NSEntityDescription], by comesFirst: (NSEntityDescription, NSEntityDescription) -> Bool
    ) -> [NSEntityDescription] {
        let kept = Set(entities.map(ObjectIdentifier.init))
        func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
            [entity] + entity.subentities.sorted(by: comesFirst).flatMap(family)
        }
        return Set(entities.map { $0.rootEntity }).sorted(by: comesFirst).flatMap(family)
            .filter { kept.contains(ObjectIdentifier($0)) || $0.allKinds.contains { kept.contains(ObjectIdentifier($0)) } }
    }

    /// Returns whether an entity has the smaller number in a new store: as in Apple's stores, names are compared without case.
    private static func isNumberedFirst(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
        let (first, second) = ((left.name ?? "").lowercased(), (right.name ?? "").lowercased())
        return first == second ? comesFirst(left, right) : first.utf16.lexicographicallyPrecedes(second.utf16)
    }

    private static func comesFirst(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
        // By UTF-16 code units, the order of identifiers.
        (left.name ?? "").utf16.lexicographicallyPrecedes((right.name ?? "").utf16)
    }

    private mutating func number(_ entities: [NSEntityDescription], _ known: [String: Int64]) {
        var taken: Set<Int64> = []
        for entity in entities {
            guard let number = known[entity.name ?? ""], taken.insert(number).inserted else { continue }
            numbers[ObjectIdentifier(entity)] = number
        }
        for (index, entity) in entities.enumerated() where numbers[ObjectIdentifier(entity)] == nil {
            var number = Int64(index + 1)
            while !taken.insert(number).inserted { number += 1 }
            numbers[ObjectIdentifier(entity)] = number
        }
    }

    private func number(of entity: NSEntityDescription) -> Int64 { numbers[ObjectIdentifier(entity)] ?? 0 }

    private func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.declaredProperties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
            .sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    }

    private func family(_ root: NSEntityDescription) -> [NSEntityDescription] { ordered.filter { $0.rootEntity === root } }

    // MARK: Columns

    private mutating func mapTable(_ root: NSEntityDescription) {
        var taken = SQLNames(["Z_PK", "Z_ENT", "Z_OPT"])
        var ranked: [(rank: Int, column: SQLTable.Column)] = []
        for entity in family(root) {
            var attributes: [(rank: Int, column: SQLTable.Column)] = []
            for case let attribute as NSAttributeDescription in stored(entity) {
                guard let storage = SQLStorage(attribute) else { continue }
                let column = taken.claim("Z" + attribute.name.uppercased())
                properties[ObjectIdentifier(attribute)] = .attribute(SQLAttribute(column: column, storage: storage))
                attributes.append((storage.rank, SQLTable.Column(name: column, type: storage.columnType)))
            }
            ranked += attributes.filter { $0.rank == 0 }
            ranked += keyColumns(of: entity, &taken).map { (0, SQLTable.Column(name: $0, type: "INTEGER")) }
            ranked += attributes.filter { $0.rank > 0 }
        }
        let columns = (0...4).flatMap { rank in ranked.filter { $0.rank == rank }.map(\.column) }
        tables.append(SQLTable(name: tableNames[ObjectIdentifier(root)]!, columns: columns))
    }

    /// Returns the foreign key columns: of to-one relationships, of one-way to-many relationships, and of positions.
    private mutating func keyColumns(of entity: NSEntityDescription, _ taken: inout SQLNames) -> [SQLIdentifier] {
        var columns: [SQLIdentifier] = []
        for case let relationship as NSRelationshipDescription in stored(entity) where !relationship.isToMany {
            guard let destination = relationship.destinationEntity else { continue }
            let name = relationship.name.uppercased()
            let column = taken.claim("Z" + name)
            columns.append(column)
            var entityColumn: SQLIdentifier?
            if !destination.subentities.isEmpty {
                entityColumn = taken.claim("Z\(number(of: destination))_" + name)
                columns.append(entityColumn!)
            }
            properties[ObjectIdentifier(relationship)] = .toOne(SQLToOne(column: column, entityColumn: entityColumn))
        }
        for case let relationship as NSRelationshipDescription in stored(entity) where !relationship.isToMany {
            guard let inverse = relationship.storedInverse, inverse.isToMany, inverse.isOrdered else { continue }
            let column = taken.claim("Z_FOK_" + relationship.name.uppercased())
            orderColumns[ObjectIdentifier(inverse)] = column
            columns.append(column)
        }
        for relationship in oneWay(to: entity) {
            let (owner, name) = (relationship.entity!, relationship.name.uppercased())
            let column = taken.claim("Z\(number(of: owner))\(name)")
            columns.append(column)
            var entityColumn: SQLIdentifier?
            if !owner.subentities.isEmpty {
                entityColumn = taken.claim("Z\(number(of: owner))_\(number(of: owner))\(name)")
                columns.append(entityColumn!)
            }
            var orderColumn: SQLIdentifier?
            if relationship.isOrdered {
                orderColumn = taken.claim("Z_FOK_\(number(of: owner))\(name)")
                columns.append(orderColumn!)
            }
            properties[ObjectIdentifier(relationship)] = .toMany(
                .foreignKey(
                    SQLForeignKey(
                        table: tableNames[ObjectIdentifier(entity.rootEntity)]!, column: column, entityColumn: entityColumn,
                        orderColumn: orderColumn)))
        }
        return columns
    }

    /// Returns the to-many relationships without an inverse whose destination is an entity.
    private func oneWay(to entity: NSEntityDescription) -> [NSRelationshipDescription] {
        ordered.flatMap { stored($0).compactMap { $0 as? NSRelationshipDescription } }
            .filter { $0.isToMany && $0.storedInverse == nil && $0.destinationEntity === entity }
    }

    private mutating func mapToMany(of entity: NSEntityDescription) {
        for case let relationship as NSRelationshipDescription in stored(entity) where relationship.isToMany {
            guard let inverse = relationship.storedInverse, !inverse.isToMany, let owner = inverse.entity,
                case .toOne(let key)? = properties[ObjectIdentifier(inverse)], let table = tableNames[ObjectIdentifier(owner.rootEntity)]
            else { continue }
            properties[ObjectIdentifier(relationship)] = .toMany(
                .foreignKey(
                    SQLForeignKey(
                        table: table, column: key.column, entityColumn: key.entityColumn,
                        orderColumn: orderColumns[ObjectIdentifier(relationship)])))
        }
    }

    // MARK: Join tables

    /// Names the columns of an entity's keys in join tables, which have the names of the inverses. If two inverses have one name, the relationship
    /// whose name sorts first has the column without a number.
    private mutating func nameJoinColumns(of entity: NSEntityDescription) {
        for case let relationship as NSRelationshipDescription in stored(entity) where relationship.isToMany {
            guard let inverse = relationship.storedInverse, inverse.isToMany, let owner = inverse.destinationEntity else { continue }
            joinColumns[ObjectIdentifier(relationship)] = takenJoinColumns.claim("Z_\(number(of: owner))" + inverse.name.uppercased())
        }
    }

    private mutating func mapJoins(of entity: NSEntityDescription) {
        for case let relationship as NSRelationshipDescription in stored(entity) where relationship.isToMany {
            guard let inverse = relationship.storedInverse, inverse.isToMany, leads(relationship, inverse),
                var own = joinColumns[ObjectIdentifier(relationship)], var other = joinColumns[ObjectIdentifier(inverse)]
            else { continue }
            let isReflexive = relationship === inverse
            let table = takenTables.claim("Z_\(number(of: entity))" + relationship.name.uppercased())
            if isReflexive { other = SQLIdentifier("REFLEXIVE") }
            if let columns = fileTables[table.name]?.filter({ !$0.hasPrefix("Z_FOK_") }), columns.count == 2,
                Set(columns) != [own.name, other.name]
            {
                let found = columns.map { SQLIdentifier($0) }
                let isCrossed =
                    Self.similarity(found[1], own) + Self.similarity(found[0], other)
                    > Self.similarity(found[0], own) + Self.similarity(found[1], other)
                (own, other) = isCrossed ? (found[1], found[0]) : (found[0], found[1])
            }
            let order = relationship.isOrdered ? Self.orderColumn(of: isReflexive ? own : other) : nil
            let inverseOrder = inverse.isOrdered ? Self.orderColumn(of: own) : nil
            properties[ObjectIdentifier(relationship)] = .toMany(
                .join(
                    SQLJoin(
                        table: table, own: own, other: other, orderColumn: order, inverseOrderColumn: isReflexive ? nil : inverseOrder,
                        isReflexive: isReflexive)))
            if !isReflexive {
                properties[ObjectIdentifier(inverse)] = .toMany(
                    .join(
                        SQLJoin(
                            table: table, own: other, other: own, orderColumn: inverseOrder, inverseOrderColumn: order,
                            isReflexive: false)))
            }
            let orderColumns = isReflexive ? [order].compactMap { $0 } : [inverseOrder, order].compactMap { $0 }
            joinTables.append(SQLJoinTable(name: table, columns: [own, other], orderColumns: orderColumns))
        }
    }

    /// Returns the similarity of a file's column with an expected one: a migration may have left another number in its name.
    private static func similarity(_ found: SQLIdentifier, _ wanted: SQLIdentifier) -> Int {
        func word(_ name: String) -> String { name.replacing(/^Z_[0-9]*|[0-9]+$/, with: "") }
        return found == wanted ? 2 : word(found.name) == word(wanted.name) ? 1 : 0
    }

    private static func orderColumn(of column: SQLIdentifier) -> SQLIdentifier {
        SQLIdentifier("Z_FOK_" + (column.name.hasPrefix("Z_") ? String(column.name.dropFirst(2)) : column.name))
    }

    /// Returns whether the join table is named after `relationship` and not after its inverse.
    private func leads(_ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription) -> Bool {
        guard let entity = relationship.entity, let other = inverse.entity, relationship !== inverse else { return true }
        // In an existing file, the existing table decides.
        let mine = fileTables["Z_\(number(of: entity))" + relationship.name.uppercased()] != nil
        let theirs = fileTables["Z_\(number(of: other))" + inverse.name.uppercased()] != nil
        if mine != theirs { return mine }
        if entity !== other {
            // An entity with subentities precedes others; else the names decide, not the numbers, which an inheritance shares.
            if entity.subentities.isEmpty != other.subentities.isEmpty { return other.subentities.isEmpty }
            return Self.comesFirst(entity, other)
        }
        if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
        return inverse.name.utf16.lexicographicallyPrecedes(relationship.name.utf16)
    }

    // MARK: The result

    func sqlEntities() -> [SQLEntity] {
        ordered.map { entity in
            let kinds = entity.allKinds
            return SQLEntity(
                entity: entity, table: tableNames[ObjectIdentifier(entity.rootEntity)]!, identity: .coreData, number: number(of: entity),
                rootNumber: number(of: entity.rootEntity), numbers: kinds.map(number(of:)).sorted(),
                isWholeTable: entity.superentity == nil,
                properties: entity.frozen!.properties.map { properties[ObjectIdentifier($0)] ?? .unstored })
        }
        .sorted { $0.number < $1.number }
    }
}

/// The names in use; SQLite's names are case-insensitive.
struct SQLNames {
    private var taken: Set<String>
    init(_ names: [String]) { taken = Set(names.map { $0.lowercased() }) }

    /// Claims a name, or the name with the first number that makes it unique.
    mutating func claim(_ name: String) -> SQLIdentifier {
        var candidate = name
        var count = 0
        while !taken.insert(candidate.lowercased()).inserted {
            count += 1
            candidate = name + String(count)
        }
        return SQLIdentifier(candidate)
    }
}
