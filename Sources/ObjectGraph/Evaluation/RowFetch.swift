internal import Foundation
package import Predicates

/// A table of rows in memory.
package protocol RowTable: AnyObject {
    /// Calls `body` with every row of an entity, in the order of insertion.
    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws
    /// Returns the row of an ID; nil when there is none.
    func row(with id: NSManagedObjectID) throws -> Row?
    /// Returns the schema of an entity for compiled predicates.
    func schema(of entity: NSEntityDescription) -> RowSchema
    /// Returns the destination IDs of a to-many relationship.
    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID]
}

extension RowTable {
    /// Returns the IDs in the row's list.
    package func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        row.objectIDs(at: row.layout.slots[relationship.slotIndex])?.ids ?? []
    }
}

/// Executes a fetch on rows in memory: predicate, order, offset, limit, and every result type.
package struct RowFetch {
    package let table: any RowTable
    package let query: StoreQuery

    package init(table: any RowTable, query: StoreQuery) {
        self.table = table
        self.query = query
    }

    package func answer() throws -> StoreAnswer {
        let entity = query.entity
        let schema = table.schema(of: entity)
        let predicate = try query.predicate?.compiled(for: schema)
        defer { withExtendedLifetime(predicate) {} }
        var rows: [Row] = []
        try table.forEachRow(of: entity, includingSubentities: query.includesSubentities) { row in
            if try predicate?.matchesUnretained(row.subject) ?? true { rows.append(row) }
        }
        if query.resultType == .countResultType {
            return .count(query.page(count: rows.count))
        }
        let dictionaries = query.resultType == .dictionaryResultType ? DictionaryFetch(query, schema) : nil
        if !query.sortDescriptors.isEmpty, !(dictionaries?.isGrouped ?? false) {
            let sort = try CompiledSort(query.sortDescriptors, for: schema)
            rows = rows.permuted(by: try sort.sortedIndices(count: rows.count) { rows[$0].subject })
        }
        if let dictionaries { return .dictionaries(StoreDictionaries(try dictionaries.results(rows))) }
        rows = query.page(rows)
        if query.resultType == .managedObjectIDResultType { return .ids(rows.map { $0.knownObjectID }) }
        return .rows(RowList(rows))
    }
}

/// Resolves the properties of rows for compiled predicates: attributes by their slots, relationships through the table.
// Immutable; used under the lock of its table.
package final class RowSchema: PredicateSchema, @unchecked Sendable {
    private let entity: NSEntityDescription
    private unowned let table: any RowTable

    package init(entity: NSEntityDescription, table: any RowTable) {
        self.entity = entity
        self.table = table
    }

    package var schemaName: String { entity.name ?? "?" }

    package func predicateProperty(named name: String) -> PredicateProperty? {
        guard let frozen = entity.frozen, let property = frozen.byName[name] else {
            return IdentityKeys.property(name) { Self.row($0).knownObjectID }
        }
        let slot = frozen.layout.slots[property.slotIndex]
        guard let relationship = property as? NSRelationshipDescription else {
            if let kind = slot.kind.slotKind { return .slot(slot.location, kind) }
            return CompositeSchema.property(property, of: schemaName) {
                Self.row($0).any(at: slot, of: property as? NSAttributeDescription)
            }
        }
        let destination = table.schema(of: relationship.destinationEntity!)
        if relationship.isToMany {
            return .toMany(
                destination: destination,
                count: { [unowned table] in try table.relatedIDs(of: relationship, in: Self.row($0)).count },
                forEach: { [unowned table] subject, visit in
                    for id in try table.relatedIDs(of: relationship, in: Self.row(subject)) {
                        guard let row = try table.row(with: id) else { continue }
                        if try !visit(row.subject) { return }
                    }
                })
        }
        return .toOne(
            destination: destination,
            identity: { Self.row($0).objectID(at: slot).map { .object(ObjectReference($0)) } ?? .null },
            follow: { [unowned table] in try Self.row($0).objectID(at: slot).flatMap { try table.row(with: $0)?.subject } })
    }

    package func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(Self.row(subject).knownObjectID)) }

    package func constant(for object: AnyObject) -> PropertyValue? { EntitySchema.identifier(of: object) }

    /// Returns the object for block predicates: the values by property name.
    package func publicObject(of subject: PredicateSubject) -> Any { Self.row(subject).dictionary(of: entity) }

    // The subjects are rows: their blocks, and slots in them, see `Row.subject`.
    private static func row(_ subject: PredicateSubject) -> Row {
        Row(block: unchecked(subject.object, as: RowBlock.self), slots: UnsafeMutableRawPointer(mutating: subject.slots))
    }
}
