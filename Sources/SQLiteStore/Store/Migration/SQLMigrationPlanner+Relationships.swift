internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

// The sources of the keys, entity numbers, positions and pairs of relationships.

extension SQLMigrationPlanner {
    /// Returns the relationships of the older version that a relationship of the newer one continues. There are several if those of several entities
    /// were moved to a common parent.
    func origins(of relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
        var found: [NSRelationshipDescription] = []
        for (_, _, entity) in kept {
            guard let origin = entity.relationships.first(where: { $0.destination === relationship })?.source,
                !found.contains(where: { $0 === origin }), storage(of: origin) != nil
            else { continue }
            found.append(origin)
        }
        return found
    }

    func storage(of origin: NSRelationshipDescription) -> SQLProperty? {
        origin.entity.flatMap(source.entity).map { $0[origin] }
    }

    mutating func place(_ relationship: NSRelationshipDescription, _ entity: SQLEntity) {
        switch entity[relationship] {
        case .toOne(let place): self.place(relationship, place, entity)
        case .toMany(.foreignKey(let key)) where relationship.storedInverse == nil: self.place(relationship, key)
        case .toMany(.join(let join)) where !plan.joins.contains(where: { $0.table.name == join.table }): self.place(relationship, join)
        case .toMany, .attribute, .unstored: break
        }
    }

    /// Returns the entities of the older version whose rows may be owners or others of a relationship, and that still have rows.
    private func keptKinds(of entity: NSEntityDescription?) -> [(
        destination: SQLEntity, source: SQLEntity, mapping: InferredMapping.Entity
    )] {
        guard let entity else { return [] }
        return kept.filter { $0.source.entity.isKindOf(entity: entity) }
    }

    private func losesObjects(_ entity: NSEntityDescription?, to new: NSEntityDescription?) -> Bool {
        guard let entity, let new else { return false }
        return plan.removed.contains { $0.entity.isKindOf(entity: entity) }
            || keptKinds(of: entity).contains { !$0.destination.entity.isKindOf(entity: new) }
    }

    // MARK: To-one relationships

    private mutating func place(_ relationship: NSRelationshipDescription, _ place: SQLToOne, _ entity: SQLEntity) {
        guard let target = relationship.destinationEntity.flatMap(destination.entity) else { return }
        let inverse = relationship.storedInverse
        let order: SQLIdentifier? = inverse.flatMap { inverse in
            guard inverse.isToMany, inverse.isOrdered, let owner = inverse.entity.flatMap(destination.entity),
                case .toMany(.foreignKey(let key)) = owner[inverse]
            else { return nil }
            return key.orderColumn
        }
        var (lacksEntity, lacksOrder, isFilled, mayDangle) = (false, false, false, false)
        for (new, old, mapped) in kept where new.entity.isKindOf(entity: entity.entity) {
            guard let origin = mapped.relationships.first(where: { $0.destination === relationship })?.source,
                case .toOne(let before) = old[origin]
            else { continue }
            isFilled = true
            set(.init(column: before.column), place.column, in: new.table, of: old.number)
            if let column = place.entityColumn {
                if let known = before.entityColumn {
                    set(.init(column: known), column, in: new.table, of: old.number)
                } else {
                    lacksEntity = true
                }
            }
            if let order {
                if let former = origin.storedInverse, former.isToMany, former.isOrdered, let owner = former.entity.flatMap(source.entity),
                    case .toMany(.foreignKey(let key)) = owner[former], let known = key.orderColumn
                {
                    set(.init(column: known), order, in: new.table, of: old.number)
                } else {
                    lacksOrder = true
                }
            }
            if losesObjects(origin.destinationEntity, to: relationship.destinationEntity) { mayDangle = true }
        }
        if !isFilled, let inverse {
            for origin in origins(of: inverse) {
                switch storage(of: origin) {
                case .toMany(.foreignKey(let key))?:
                    for (new, old, _) in keptKinds(of: origin.destinationEntity) where new.entity.isKindOf(entity: entity.entity) {
                        set(.init(column: key.column), place.column, in: new.table, of: old.number)
                        if let column = place.entityColumn {
                            if let known = key.entityColumn {
                                set(.init(column: known), column, in: new.table, of: old.number)
                            } else {
                                lacksEntity = true
                            }
                        }
                        if let order {
                            if let known = key.orderColumn {
                                set(.init(column: known), order, in: new.table, of: old.number)
                            } else {
                                lacksOrder = true
                            }
                        }
                    }
                case let storage?:
                    if let select = Self.pairs(storage, source, origin, isSwapped: true) {
                        plan.pairs.append(
                            .init(select: select, target: .column(place.column, table: entity.table), isCopy: !inverse.isToMany))
                        (lacksEntity, lacksOrder) = (place.entityColumn != nil, order != nil)
                    }
                case nil: continue
                }
                if losesObjects(origin.entity, to: relationship.destinationEntity) { mayDangle = true }
            }
        }
        let columns = [place.column, place.entityColumn, order].compactMap { $0 }
        if mayDangle { clear(columns, of: entity, leadingTo: target) }
        if lacksEntity, let column = place.entityColumn { fillEntity(column, place.column, entity.table, from: target) }
        if lacksOrder, let order { fillOrder(order, owner: place.column, in: entity.table) }
    }

    /// Clears references to removed rows.
    private mutating func clear(_ columns: [SQLIdentifier], of entity: SQLEntity, leadingTo target: SQLEntity) {
        let condition = target.condition(includingSubentities: true).map { " WHERE \($0)" } ?? ""
        step(
            "references of \(entity.table.name).\(columns[0].name)",
            "UPDATE \(entity.table) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", ")) "
                + "WHERE \(columns[0]) IS NOT NULL AND \(columns[0]) NOT IN (SELECT Z_PK FROM \(target.table)\(condition))")
    }

    private mutating func fillEntity(_ column: SQLIdentifier, _ key: SQLIdentifier, _ table: SQLIdentifier, from target: SQLEntity) {
        // A table of one entity may have any numbers in its rows.
        step(
            "entities of \(table.name).\(key.name)",
            "UPDATE \(table) SET \(column) = (SELECT o.Z_ENT FROM \(target.table) o WHERE o.Z_PK = \(table).\(key)) "
                + "WHERE \(key) IS NOT NULL AND \(column) IS NULL")
    }

    /// Puts the rows of each owner in the order of their keys.
    private mutating func fillOrder(_ column: SQLIdentifier, owner: SQLIdentifier, in table: SQLIdentifier) {
        let position =
            "\(SQLOrderPositions.first) + (row_number() OVER (PARTITION BY \(owner) ORDER BY rowid) - 1) * \(SQLOrderPositions.step)"
        step(
            "order of \(table.name).\(column.name)",
            "CREATE TEMP TABLE IF NOT EXISTS CoreDataOrder (place INTEGER PRIMARY KEY, position INTEGER)",
            "DELETE FROM temp.CoreDataOrder",
            "INSERT INTO temp.CoreDataOrder SELECT rowid, \(position) FROM \(table) WHERE \(owner) IS NOT NULL",
            "UPDATE \(table) SET \(column) = (SELECT position FROM temp.CoreDataOrder WHERE place = \(table).rowid) WHERE \(owner) IS NOT NULL",
            "DROP TABLE temp.CoreDataOrder")
    }

    // MARK: To-many relationships without an inverse

    private mutating func place(_ relationship: NSRelationshipDescription, _ key: SQLForeignKey) {
        guard let owner = relationship.entity.flatMap(destination.entity),
            let target = relationship.destinationEntity.flatMap(destination.entity)
        else { return }
        var (lacksEntity, lacksOrder, mayDangle) = (false, false, false)
        for origin in origins(of: relationship) {
            guard let storage = storage(of: origin) else { continue }
            if case .toMany(.foreignKey(let before)) = storage {
                for (new, old, _) in keptKinds(of: origin.destinationEntity) where new.entity.isKindOf(entity: target.entity) {
                    set(.init(column: before.column), key.column, in: new.table, of: old.number)
                    if let column = key.entityColumn {
                        if let known = before.entityColumn {
                            set(.init(column: known), column, in: new.table, of: old.number)
                        } else {
                            lacksEntity = true
                        }
                    }
                    if let column = key.orderColumn {
                        if let known = before.orderColumn {
                            set(.init(column: known), column, in: new.table, of: old.number)
                        } else {
                            lacksOrder = true
                        }
                    }
                }
            } else if let select = Self.pairs(storage, source, origin, isSwapped: true) {
                plan.pairs.append(.init(select: select, target: .column(key.column, table: key.table)))
                (lacksEntity, lacksOrder) = (key.entityColumn != nil, key.orderColumn != nil)
            }
            if losesObjects(origin.entity, to: relationship.entity) { mayDangle = true }
        }
        let columns = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
        if mayDangle { clear(columns, of: target, leadingTo: owner) }
        if lacksEntity, let column = key.entityColumn { fillEntity(column, key.column, key.table, from: owner) }
        if lacksOrder, let column = key.orderColumn { fillOrder(column, owner: key.column, in: key.table) }
    }

    // MARK: Join tables

    private mutating func place(_ relationship: NSRelationshipDescription, _ join: SQLJoin) {
        guard let table = destination.joins.first(where: { $0.name == join.table }) else { return }
        var made = SQLMigrationPlan.Join(table: table)
        var own = origins(of: relationship)
        var isSwapped = false
        if own.isEmpty, let inverse = relationship.storedInverse {
            own = origins(of: inverse)
            isSwapped = true
        }
        var filled: [(order: SQLIdentifier?, known: SQLIdentifier?, owner: SQLIdentifier)] = []
        if own.count == 1, case .toMany(.join(let before))? = storage(of: own[0]), before.isReflexive == join.isReflexive {
            made.source = before.table
            let (first, second) = isSwapped ? (before.other, before.own) : (before.own, before.other)
            let (order, inverse) =
                isSwapped ? (before.inverseOrderColumn, before.orderColumn) : (before.orderColumn, before.inverseOrderColumn)
            made.columns = (table.columns + table.orderColumns).map { column in
                switch column {
                case join.own: first
                case join.other: second
                case join.orderColumn: order
                case join.inverseOrderColumn: inverse
                default: nil
                }
            }
            filled = [(join.orderColumn, order, join.own), (join.inverseOrderColumn, inverse, join.other)]
        } else {
            for origin in own {
                guard let storage = storage(of: origin) else { continue }
                let directions = join.isReflexive ? [false, true] : [isSwapped]
                for direction in directions {
                    let (order, inverse) = orders(of: storage, origin, isSwapped: direction)
                    let orders = [(join.orderColumn, order), (join.inverseOrderColumn, inverse)].compactMap { column, known in
                        column.flatMap { column in known.map { (column, $0) } }
                    }
                    guard let select = Self.pairs(storage, source, origin, isSwapped: direction, further: orders.map(\.1)) else {
                        continue
                    }
                    plan.pairs.append(
                        .init(select: select, target: .join(join.table, owner: join.own, other: join.other, orders: orders.map(\.0))))
                    filled += [(join.orderColumn, order, join.own), (join.inverseOrderColumn, inverse, join.other)]
                }
            }
        }
        plan.joins.append(made)
        let mayDangle = own.contains { origin in
            let (first, second) = isSwapped ? (origin.destinationEntity, origin.entity) : (origin.entity, origin.destinationEntity)
            return losesObjects(first, to: relationship.entity) || losesObjects(second, to: relationship.destinationEntity)
        }
        if mayDangle {
            for (column, entity) in [(join.own, relationship.entity), (join.other, relationship.destinationEntity)] {
                guard let end = entity.flatMap(destination.entity) else { continue }
                let condition = end.condition(includingSubentities: true).map { " WHERE \($0)" } ?? ""
                step(
                    "pairs of \(join.table.name).\(column.name)",
                    "DELETE FROM \(join.table) WHERE \(column) NOT IN (SELECT Z_PK FROM \(end.table)\(condition))")
            }
        }
        for (order, known, owner) in filled where known == nil {
            if let order { fillOrder(order, owner: owner, in: join.table) }
        }
    }

    /// Returns the columns, apart from the keys, with the positions of the others among those of their owner, and of the owners among those of the
    /// other.
    private func orders(
        of storage: SQLProperty, _ origin: NSRelationshipDescription, isSwapped: Bool
    ) -> (order: SQLIdentifier?, inverse: SQLIdentifier?) {
        var orders: (order: SQLIdentifier?, inverse: SQLIdentifier?)
        switch storage {
        case .toMany(.foreignKey(let key)): orders = (key.orderColumn, nil)
        case .toMany(.join(let join)): orders = (join.orderColumn, join.inverseOrderColumn)
        case .toOne:
            let inverse = origin.storedInverse
            if case .toMany(.foreignKey(let key))? = inverse.flatMap({ self.storage(of: $0) }) { orders.inverse = key.orderColumn }
        case .attribute, .unstored: break
        }
        return isSwapped ? (orders.inverse, orders.order) : orders
    }

    /// Returns a function that makes the SELECT of a relationship's pairs in the older version: `owner` and `other`.
    private static func pairs(
        _ storage: SQLProperty, _ source: SQLSchema, _ origin: NSRelationshipDescription, isSwapped: Bool,
        further: [SQLIdentifier] = []
    ) -> (@Sendable (String) -> String)? {
        guard let entity = origin.entity.flatMap(source.entity) else { return nil }
        let (owner, other, table, condition): (String, String, SQLIdentifier, String)
        switch storage {
        case .toOne(let place):
            (owner, other, table) = ("Z_PK", place.column.sql, entity.table)
            condition = entity.condition(includingSubentities: true).map { " AND \($0)" } ?? ""
        case .toMany(.foreignKey(let key)): (owner, other, table, condition) = (key.column.sql, "Z_PK", key.table, "")
        case .toMany(.join(let join)): (owner, other, table, condition) = (join.own.sql, join.other.sql, join.table, "")
        case .attribute, .unstored: return nil
        }
        let (first, second) = isSwapped ? (other, owner) : (owner, other)
        let columns = ["\(first) AS owner", "\(second) AS other"] + further.map(\.sql)
        return { database in
            "SELECT \(columns.joined(separator: ", ")) FROM \(database).\(table) "
                + "WHERE \(owner) IS NOT NULL AND \(other) IS NOT NULL\(condition)"
        }
    }
}
