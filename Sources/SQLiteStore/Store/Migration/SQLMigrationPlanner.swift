internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Makes the plan of a migration from the schemas of two versions and the mapping between their entities.
struct SQLMigrationPlanner {
    let source: SQLSchema
    let destination: SQLSchema
    let mapping: InferredMapping
    var plan: SQLMigrationPlan
    /// The entities with rows, each with its former self.
    let kept: [(destination: SQLEntity, source: SQLEntity, mapping: InferredMapping.Entity)]
    /// The places of columns in the plan's tables, by table and column.
    private var places: [String: [String: (table: Int, column: Int)]] = [:]

    init(source: SQLSchema, destination: SQLSchema, mapping: InferredMapping) {
        (self.source, self.destination, self.mapping) = (source, destination, mapping)
        plan = SQLMigrationPlan(source: source, destination: destination)
        kept = mapping.entities.compactMap { entity in
            guard let new = entity.destination.flatMap(destination.entity), let old = entity.source.flatMap(source.entity) else {
                return nil
            }
            return (new, old, entity)
        }
        plan.removed = mapping.entities.filter { $0.destination.flatMap(destination.entity) == nil }
            .compactMap { $0.source.flatMap(source.entity) }
    }

    /// Returns the schema of the newer version in a file of the older one: entities keep their numbers, and new ones get numbers that the file
    /// has never had.
    static func destinationSchema(
        of model: NSManagedObjectModel, entities: [NSEntityDescription], source: SQLSchema, highestNumber: Int64, mapping: InferredMapping
    ) -> SQLSchema {
        var numbers: [String: Int64] = [:]
        var next = highestNumber
        for entity in mapping.entities {
            guard let new = entity.destination, let name = new.name else { continue }
            if let old = entity.source.flatMap(source.entity) {
                numbers[name] = old.number
            } else {
                next += 1
                numbers[name] = next
            }
        }
        return SQLSchema(model: model, entities: entities, numbers: numbers)
    }

    /// - Throws: The error of a default value that cannot be written.
    mutating func make() throws -> SQLMigrationPlan {
        makeTables()
        for (new, old, entity) in kept {
            for attribute in entity.attributes { try place(attribute, new, old) }
            placeDerived(new, old)
        }
        for entity in destination.entities {
            for property in entity.entity.declaredProperties.sorted(by: { $0.name < $1.name }) {
                guard let relationship = property as? NSRelationshipDescription, !relationship.isTransient else { continue }
                place(relationship, entity)
            }
        }
        return plan
    }

    private mutating func makeTables() {
        for table in destination.tables {
            let rows = kept.filter { $0.destination.table == table.name }
            let old = rows.first?.source
            let numbers = rows.map(\.source.number).sorted()
            let family = old.map { old in source.entities.filter { $0.rootNumber == old.rootNumber }.map(\.number) } ?? []
            let gone = Set(plan.removed.map(\.number))
            for (index, column) in table.columns.enumerated() {
                places[table.name.name, default: [:]][column.name.name.lowercased()] = (plan.tables.count, index)
            }
            plan.tables.append(
                .init(
                    name: table.name, source: old?.table, numbers: numbers,
                    columns: table.columns.map { .init(name: $0.name, type: $0.type) },
                    isWhole: Set(family).subtracting(gone) == Set(numbers)))
        }
    }

    /// Sets the source of a column's values for the rows of an entity.
    mutating func set(_ value: SQLMigrationPlan.Value, _ column: SQLIdentifier, in table: SQLIdentifier, of number: Int64) {
        guard let (table, column) = places[table.name]?[column.name.lowercased()] else { return }
        plan.tables[table].columns[column].values[number] = value
    }

    mutating func step(_ name: String, _ sql: String...) { plan.steps.append(.init(name: name, sql: sql)) }

    // MARK: Attributes

    private mutating func place(_ attribute: InferredMapping.Attribute, _ new: SQLEntity, _ old: SQLEntity) throws {
        guard case .attribute(let place) = new[attribute.destination] else { return }
        let fallback = try SQLMigrationLiteral.defaultValue(of: attribute.destination, place.storage)
        guard let before = attribute.source, case .attribute(let origin) = old[before] else {
            return set(.init(fallback: fallback), place.column, in: new.table, of: old.number)
        }
        let mayBeMissing = !attribute.destination.isOptional && before.isOptional
        set(
            .init(
                column: origin.column, conversion: .init(old: origin.storage, new: place.storage), fallback: mayBeMissing ? fallback : nil,
                hasOtherType: origin.storage.columnType != place.storage.columnType),
            place.column, in: new.table, of: old.number)
    }

    /// Derived attributes keep their values if their derivation is unchanged; otherwise they are computed.
    private mutating func placeDerived(_ new: SQLEntity, _ old: SQLEntity) {
        for case let attribute as NSDerivedAttributeDescription in new.entity.properties {
            guard case .attribute(let place) = new[attribute] else { continue }
            let before = old.entity.propertiesByName[attribute.name] as? NSDerivedAttributeDescription
            if let before, before.attributeType == attribute.attributeType, case .attribute(let origin) = old[before],
                before.derivationExpression?.description == attribute.derivationExpression?.description, !isTouched(attribute, new)
            {
                set(.init(column: origin.column), place.column, in: new.table, of: old.number)
            } else if attribute.entity === new.entity || !kept.contains(where: { $0.destination.entity === attribute.entity }) {
                plan.derived.append((new, attribute))
            }
        }
    }

    /// Returns whether a derivation's inputs have changed in more than their place.
    private func isTouched(_ attribute: NSDerivedAttributeDescription, _ entity: SQLEntity) -> Bool {
        guard case .keyPath(let keys)? = try? attribute.derivationExpression?.tree(), let first = keys.first,
            let relationship = entity.entity.propertiesByName[first] as? NSRelationshipDescription
        else { return false }
        return mapping.entities.contains { entity in
            guard entity.kind != .copy else { return false }
            return entity.destination === relationship.destinationEntity || entity.kind == .remove
        }
    }
}
