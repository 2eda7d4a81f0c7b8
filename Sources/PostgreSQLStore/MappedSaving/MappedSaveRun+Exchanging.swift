#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension MappedSaveRun {
    /// Gives one of the columns of a row a temporary value, so that other rows can take its value.
    mutating func park(_ change: StoreChange, _ columns: [CatalogueColumn]) async throws {
        let table = mapping.table(try content.sqlEntity(change.entity))
        try await send()
        parked.insert(change.objectID)
        for column in columns {
            for value in PostgreSQLTableDialect.parkingValues(of: column, table) where try await isTaken(value, column, table, change) {
                return
            }
        }
        // The statement that needs the value reports the error.
    }

    /// Sets a column of a row, and returns whether the rules of the table allow that.
    private func isTaken(_ value: String, _ column: CatalogueColumn, _ table: MappedTable, _ change: StoreChange) async throws -> Bool {
        let update =
            "UPDATE \(table.sql) AS \(MappedTable.alias) SET \(LayoutNames.identifier(column.name)) = \(value) "
            + "WHERE \(table.key.equal("$1", of: MappedTable.alias))"
        do {
            try await connection.run(
                [Call("SAVEPOINT parked"), Call(update, [try key(of: change, table)]), Call("RELEASE SAVEPOINT parked")],
                isCancellable: false)
            return true
        } catch let error as ServerError where error.code.hasPrefix("23") || error.code.hasPrefix("22") || error.code.hasPrefix("42") {
            try await connection.run([Call("ROLLBACK TO SAVEPOINT parked"), Call("RELEASE SAVEPOINT parked")], isCancellable: false)
            return false
        }
    }

    /// Returns the membership test for partial indexes, for the rows to be changed.
    func membership() async throws -> MappedSaveOrder<PostgreSQLTableDialect>.Membership {
        struct Place: Hashable {
            let id: NSManagedObjectID
            let rule: Int
        }
        var places: Set<Place> = []
        for (entity, changes) in try grouped(changes.updated + changes.deleted) {
            let table = mapping.table(entity)
            for rule in table.relation.uniqueRules {
                guard let condition = rule.condition else { continue }
                let result = try await connection.query(
                    "SELECT \(table.key.selected(of: MappedTable.alias)) FROM \(table.sql) AS \(MappedTable.alias) "
                        + "WHERE \(table.key.isIn("$1", of: MappedTable.alias)) AND (\(condition))",
                    [.array(try changes.map { try key(of: $0, table) }, of: table.key.kind.type)], isCancellable: false)
                for row in 0..<result.rowCount {
                    let id = NSManagedObjectID(
                        entity: entity.entity, token: content.token, reference: table.key.kind.reference(result, row, 0))
                    places.insert(Place(id: id, rule: rule.number))
                }
            }
        }
        return { [places] _, rule, id in places.contains(Place(id: id, rule: rule.number)) }
    }
}

extension PostgreSQLTableDialect {
    /// Returns SQL of values that a column may have for a while, which no row has; best first.
    static func parkingValues(of column: CatalogueColumn, _ table: MappedTable) -> [String] {
        let name = LayoutNames.identifier(column.name).sql
        let declared = column.type.declared
        func beside(_ calculation: String) -> [String] {
            ["(SELECT \(calculation.replacing("#", with: "min(\(name))")) FROM \(table.sql))"]
        }
        var values: [String] =
            switch ColumnForm(column.type) {
            case .integer, .decimal(isMoney: false), .double:
                ["(SELECT coalesce(max(\(name)), 0) + 1 FROM \(table.sql))", "(SELECT coalesce(min(\(name)), 0) - 1 FROM \(table.sql))"]
            case .decimal(isMoney: true): beside("# - 1::money")
            case .moment, .localTime: beside("# - interval '1 day'")
            case .day: beside("# - 1")
            case .uuid: ["gen_random_uuid()"]
            case .bytes: ["decode(md5(random()::text), 'hex')"]
            case .spelled where !column.type.labels.isEmpty:
                [
                    "(SELECT label FROM unnest(enum_range(NULL::\(column.type.sql))) AS l (label) "
                        + "WHERE label NOT IN (SELECT \(name) FROM \(table.sql)) LIMIT 1)"
                ]
            case .text, .spelled: ["md5(random()::text)::\(declared)"]
            // An address reserved for documentation, which no row has.
            case .address:
                [
                    "(SELECT address FROM (SELECT '2001:db8::'::inet + (random() * 1e15)::bigint AS address) AS a "
                        + "WHERE address NOT IN (SELECT \(name) FROM \(table.sql) WHERE \(name) IS NOT NULL))"
                ]
            case .boolean, .json, .array, .row: []
            }
        // Foreign keys may be checked after each statement: the value of another row that may be referred to.
        for reference in table.relation.references {
            guard let place = reference.columns.firstIndex(of: column.name) else { continue }
            let target = "\(LayoutNames.identifier(reference.targetSchema)).\(LayoutNames.identifier(reference.target))"
            let key = LayoutNames.identifier(reference.targetColumns[place])
            values.append(
                "(SELECT t.\(key) FROM \(target) t WHERE NOT EXISTS (SELECT 1 FROM \(table.sql) o WHERE o.\(name) = t.\(key)) LIMIT 1)")
        }
        return (column.isRequired ? [] : ["NULL"]) + values
    }
}
#endif
