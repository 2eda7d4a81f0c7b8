internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// An index, with its definition in SQL.
struct SQLIndex: Sendable {
    let name: SQLIdentifier
    let sql: String
}

/// Defines the indexes of a new store: on foreign keys, on `Z_ENT` if entities share a table, and those of the model.
struct SQLIndexes {
    private(set) var all: [SQLIndex] = []
    /// The indexes of the model that are not created, each with the reason.
    private(set) var unmade: [String] = []

    init(entities: [SQLEntity], joins: [SQLJoinTable]) {
        for entity in entities {
            addKeys(entity)
            if entity.isWholeTable, entity.numbers.count > 1 {
                add("\(entity.table.name)_Z_ENT_INDEX", on: entity, [SQLIdentifier.entity.sql])
            }
        }
        for join in joins {
            let (own, other) = (join.columns[0], join.columns[1])
            let name = SQLIdentifier("\(join.name.name)_\(other.name)_INDEX")
            all.append(SQLIndex(name: name, sql: "CREATE INDEX \(name) ON \(join.name) (\(other), \(own))"))
        }
        for entity in entities {
            addIndexes(entity)
            addUniqueness(entity)
        }
    }

    private mutating func add(_ name: String, on entity: SQLEntity, _ elements: [String], isUnique: Bool = false) {
        let name = SQLIdentifier(name)
        if all.contains(where: { $0.name.name.lowercased() == name.name.lowercased() }) { return }
        let kind = isUnique ? "UNIQUE INDEX" : "INDEX"
        all.append(SQLIndex(name: name, sql: "CREATE \(kind) \(name) ON \(entity.table) (\(elements.joined(separator: ", ")))"))
    }

    private mutating func addKeys(_ entity: SQLEntity) {
        for property in entity.entity.declaredProperties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
            guard property is NSRelationshipDescription else { continue }
            switch entity[property] {
            case .toOne(let key): add("\(entity.table.name)_\(key.column.name)_INDEX", on: entity, [key.column.sql])
            case .toMany(.foreignKey(let key)) where (property as? NSRelationshipDescription)?.storedInverse == nil:
                let name = SQLIdentifier("\(key.table.name)_\(key.column.name)_INDEX")
                all.append(SQLIndex(name: name, sql: "CREATE INDEX \(name) ON \(key.table) (\(key.column))"))
            default: break
            }
        }
    }

    private mutating func addIndexes(_ entity: SQLEntity) {
        let description = entity.entity
        let name = description.name ?? ""
        let alone = Set(description.indexes.filter { $0.elements.count == 1 }.compactMap { $0.elements[0].propertyName })
        for case let attribute as NSAttributeDescription in description.declaredProperties {
            guard attribute.isIndexed || alone.contains(attribute.name), let column = column(of: attribute, in: entity) else { continue }
            add("Z_\(name)_\(attribute.name)", on: entity, ["\(column) COLLATE BINARY ASC"])
        }
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
                unmade.append("“\(index.name)” of “\(name)”, for \(reason)")
                continue
            }
            let elements = index.elements.map { element in
                element.collationType == .binary
                    ? element.property.flatMap { self.column(of: $0, in: entity) }
                        .map { "\($0) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")" } : nil
            }
            // An index without an element that has no column would be another index.
            if elements.contains(nil) || elements.isEmpty { continue }
            add("Z_\(name)_\(index.name)", on: entity, elements.compactMap { $0 })
        }
        let indexed = Set(description.indexes.map { $0.elements.map(\.propertyName) })
        for compound in description.compoundIndexes {
            let properties = NSEntityDescription.names(in: compound)
            // The model compiler repeats indexes in the older form.
            if indexed.contains(properties) { continue }
            let columns = properties.map { name in
                name.flatMap { description.frozen?.byName[$0] }.flatMap { self.column(of: $0, in: entity) }
            }
            if columns.contains(nil) || columns.isEmpty { continue }
            let names = columns.compactMap { $0 }
            add(([entity.table.name] + names.map(\.name)).joined(separator: "_"), on: entity, names.map(\.sql))
        }
    }

    private mutating func addUniqueness(_ entity: SQLEntity) {
        for constraint in entity.entity.uniquenessConstraints {
            let names = NSEntityDescription.names(in: constraint).compactMap { $0 }
            let columns = names.compactMap { entity.entity.frozen?.byName[$0] }.compactMap { column(of: $0, in: entity) }
            if columns.count != names.count || columns.isEmpty { continue }
            add(
                "Z_\(entity.entity.name ?? "")_UNIQUE_\(names.joined(separator: "_"))", on: entity,
                columns.map { "\($0) COLLATE BINARY ASC" }, isUnique: true)
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
