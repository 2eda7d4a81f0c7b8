internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Finds the rows of the older version that the newer one forbids: rows without a required value, with a number that its type cannot hold, or with
/// values that must be unique and are not. Repairs them once they are rows of the newer version.
struct SQLMigrationChecks {
    /// A rule, over the rows of the older version.
    struct Check {
        let entity: SQLEntity
        let properties: [String]
        let isConstraint: Bool
        /// SELECT of the keys and the older entity numbers of the rows that violate it.
        let violations: String
        /// The statements that repair the rows of the newer version.
        let repair: [String]
    }

    private(set) var checks: [Check] = []
    private let plan: SQLMigrationPlan
    private let mapping: InferredMapping

    init(_ plan: SQLMigrationPlan, _ mapping: InferredMapping) {
        (self.plan, self.mapping) = (plan, mapping)
        for entity in mapping.entities {
            guard let new = entity.destination.flatMap(plan.destination.entity), let old = entity.source.flatMap(plan.source.entity) else {
                continue
            }
            for attribute in entity.attributes { check(attribute, new, old) }
        }
        for entity in plan.destination.entities {
            for constraint in entity.entity.uniquenessConstraints { check(constraint, entity) }
        }
    }

    private func value(_ column: SQLIdentifier, _ table: SQLIdentifier, _ number: Int64) -> SQLMigrationPlan.Value? {
        plan.tables.first { $0.name == table }?.columns.first { $0.name == column }?.values[number]
    }

    // MARK: Values

    private mutating func check(_ attribute: InferredMapping.Attribute, _ new: SQLEntity, _ old: SQLEntity) {
        guard case .attribute(let place) = new[attribute.destination], let value = value(place.column, new.table, old.number) else {
            return
        }
        let kind = old.isAlone ? "" : " AND Z_ENT = \(old.number)"
        let newKind = new.isAlone ? "" : " AND Z_ENT = \(new.number)"
        let sql = value.sql(value.column?.sql ?? "")
        if !attribute.destination.isOptional, value.fallback == nil, attribute.source?.isOptional ?? true {
            let neutral = SQLMigrationLiteral.neutral(place.storage)
            checks.append(
                .init(
                    entity: new, properties: [attribute.destination.name], isConstraint: false,
                    violations: "SELECT Z_PK, \(old.number) FROM \(old.table) WHERE \(sql) IS NULL\(kind)",
                    repair: neutral.map { ["UPDATE \(new.table) SET \(place.column) = \($0) WHERE \(place.column) IS NULL\(newKind)"] }
                        ?? []))
        }
        if case .converted = attribute.origin, let range = Self.range(attribute.destination.attributeType),
            attribute.source.map({ $0.attributeType != .booleanAttributeType && Self.isWider($0.attributeType, range) }) ?? false
        {
            checks.append(
                .init(
                    entity: new, properties: [attribute.destination.name], isConstraint: false,
                    violations:
                        "SELECT Z_PK, \(old.number) FROM \(old.table) WHERE \(sql) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)\(kind)",
                    repair: [
                        "UPDATE \(new.table) SET \(place.column) = max(\(range.lowerBound), min(\(range.upperBound), \(place.column))) "
                            + "WHERE \(place.column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)\(newKind)"
                    ]))
        }
    }

    private static func range(_ type: NSAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        default: nil
        }
    }

    private static func isWider(_ type: NSAttributeType, _ range: ClosedRange<Int64>) -> Bool {
        self.range(type).map { $0.upperBound > range.upperBound } ?? true
    }

    // MARK: Constraints

    private mutating func check(_ constraint: [Any], _ entity: SQLEntity) {
        let names = NSEntityDescription.names(in: constraint).compactMap { $0 }
        let columns = names.compactMap { name -> SQLIdentifier? in
            guard let property = entity.entity.frozen?.byName[name], property.slotIndex >= 0 else { return nil }
            switch entity[property] {
            case .attribute(let place): return place.column
            case .toOne(let place): return place.column
            case .toMany, .unstored: return nil
            }
        }
        if columns.count != names.count || columns.isEmpty || hasConstraint(names, entity) { return }
        var parts: [String] = []
        for mapped in mapping.entities {
            guard let new = mapped.destination.flatMap(plan.destination.entity), new.entity.isKindOf(entity: entity.entity),
                let old = mapped.source.flatMap(plan.source.entity)
            else { continue }
            let kind = old.isAlone ? "" : " WHERE Z_ENT = \(old.number)"
            let values = columns.enumerated().map { index, column in
                let value = value(column, new.table, old.number)
                return "\(value?.sql(value?.column?.sql ?? "") ?? "NULL") AS v\(index)"
            }
            parts.append("SELECT Z_PK, \(old.number) AS e, \(values.joined(separator: ", ")) FROM \(old.table)\(kind)")
        }
        if parts.isEmpty { return }
        let list = columns.indices.map { "v\($0)" }
        let nonnull = list.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let partition = columns.map(\.sql).joined(separator: ", ")
        let complete = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let kind = entity.condition(includingSubentities: true).map { " AND \($0)" } ?? ""
        let later =
            "SELECT Z_PK FROM (SELECT Z_PK, row_number() OVER (PARTITION BY \(partition) ORDER BY Z_PK) AS place FROM \(entity.table) "
            + "WHERE \(complete)\(kind)) WHERE place > 1"
        let optional = zip(names, columns).first { entity.entity.frozen?.byName[$0.0]?.isOptional ?? false }?.1
        checks.append(
            .init(
                entity: entity, properties: names, isConstraint: true,
                violations:
                    "SELECT Z_PK, e FROM (SELECT Z_PK, e, row_number() OVER (PARTITION BY \(list.joined(separator: ", ")) ORDER BY Z_PK) AS place "
                    + "FROM (\(parts.joined(separator: " UNION ALL "))) WHERE \(nonnull)) WHERE place > 1",
                repair: optional.map { ["UPDATE \(entity.table) SET \($0) = NULL WHERE Z_PK IN (\(later))"] } ?? deletion(entity, later)))
    }

    /// Returns whether the older version had the same constraint.
    private func hasConstraint(_ names: [String], _ entity: SQLEntity) -> Bool {
        guard let mapped = mapping.entity(to: entity.entity), let old = mapped.source else { return false }
        let former = names.map { name in
            mapped.attributes.first { $0.destination.name == name }.flatMap { attribute -> String? in
                if case .copied(let before) = attribute.origin { before.name } else { nil }
            } ?? mapped.relationships.first { $0.destination.name == name }?.source?.name
        }
        if former.contains(nil) { return false }
        return old.uniquenessConstraints.contains { Set(NSEntityDescription.names(in: $0)) == Set(former) }
            && Set(old.allKinds.map(\.name)).isSuperset(
                of: entity.entity.allKinds.compactMap { mapping.entity(to: $0)?.source?.name })
    }

    /// Deletes rows, and the references to them.
    private func deletion(_ entity: SQLEntity, _ rows: String) -> [String] {
        var statements = [
            "CREATE TEMP TABLE IF NOT EXISTS CoreDataDuplicates (place INTEGER PRIMARY KEY)", "DELETE FROM temp.CoreDataDuplicates",
            "INSERT INTO temp.CoreDataDuplicates \(rows)",
        ]
        let gone = "(SELECT place FROM temp.CoreDataDuplicates)"
        var seen: Set<String> = []
        for owner in plan.destination.entities {
            for case let relationship as NSRelationshipDescription in owner.entity.properties where !relationship.isTransient {
                let leads = relationship.destinationEntity.map { entity.entity.isKindOf(entity: $0) || $0.isKindOf(entity: entity.entity) }
                switch owner[relationship] {
                case .toOne(let place) where leads ?? false:
                    guard seen.insert("\(owner.table.name).\(place.column.name)").inserted else { continue }
                    let columns = [place.column, place.entityColumn].compactMap { $0 }.map { "\($0) = NULL" }.joined(separator: ", ")
                    statements.append("UPDATE \(owner.table) SET \(columns) WHERE \(place.column) IN \(gone)")
                case .toMany(.foreignKey(let key))
                where relationship.storedInverse == nil && owner.rootNumber == entity.rootNumber:
                    guard seen.insert("\(key.table.name).\(key.column.name)").inserted else { continue }
                    let columns = [key.column, key.entityColumn].compactMap { $0 }.map { "\($0) = NULL" }.joined(separator: ", ")
                    statements.append("UPDATE \(key.table) SET \(columns) WHERE \(key.column) IN \(gone)")
                case .toMany(.join(let join)):
                    if leads ?? false, seen.insert("\(join.table.name).\(join.other.name)").inserted {
                        statements.append("DELETE FROM \(join.table) WHERE \(join.other) IN \(gone)")
                    }
                    if owner.rootNumber == entity.rootNumber, seen.insert("\(join.table.name).\(join.own.name)").inserted {
                        statements.append("DELETE FROM \(join.table) WHERE \(join.own) IN \(gone)")
                    }
                default: break
                }
            }
        }
        return statements + ["DELETE FROM \(entity.table) WHERE Z_PK IN \(gone)", "DROP TABLE temp.CoreDataDuplicates"]
    }

    // MARK: The rows

    /// Returns how many rows are forbidden, and the first of them.
    func forbidden(in connection: SQLConnection, uuid: String, limit: Int) throws -> (count: Int, rows: [MigrationEstimate.ForbiddenRow]) {
        var count = 0
        var rows: [MigrationEstimate.ForbiddenRow] = []
        for check in checks {
            try connection.with(check.violations) { statement in
                while try statement.step() {
                    count += 1
                    if rows.count >= limit { continue }
                    let name = plan.source.entity(numbered: statement.int64(1))?.entity.name ?? ""
                    let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed) ?? ""
                    guard let uri = URL(string: "x-coredata://\(uuid)/\(escaped)/p\(statement.int64(0))") else { continue }
                    rows.append(
                        .init(
                            uri: uri, entity: check.entity.entity.name ?? "", properties: check.properties,
                            violatesConstraint: check.isConstraint))
                }
            }
        }
        return (count, rows)
    }

    /// Returns the error of rows that are forbidden.
    static func error(_ path: String, _ found: (count: Int, rows: [MigrationEstimate.ForbiddenRow])) -> NSError {
        let lines = found.rows.prefix(10).map { row in
            "\(row.uri.absoluteString): \(row.properties.joined(separator: ", ")) of “\(row.entity)” "
                + (row.violatesConstraint ? "is not unique" : "has no value that the new version permits")
        }
        let isConstraint = found.rows.allSatisfy(\.violatesConstraint)
        let rest = found.count > lines.count ? "\nand \(found.count - lines.count) more" : ""
        return CoreDataError.make(
            isConstraint ? NSMigrationConstraintViolationError : NSMigrationError, "The store at \(path) cannot be migrated.",
            reason: "The new version forbids \(found.count) of its rows:\n\(lines.joined(separator: "\n"))\(rest)",
            next: "Correct them with the old version, give the attributes default values, or choose to repair or to keep such rows.",
            info: [NSFilePathErrorKey: path, "forbiddenObjects": found.rows.map(\.uri)])
    }
}
