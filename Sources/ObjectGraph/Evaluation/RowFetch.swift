internal import Foundation
package import Predicates

/// A table of rows in memory.
package protocol RowTable: AnyObject {
    /// Calls `body` with every row of an entity, in the order of insertion.
    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws
    /// Calls `body` with every row of an entity as a subject of predicates, like ``forEachRow(of:includingSubentities:_:)``. A subject is valid
    /// during its own call only.
    func forEachSubject(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (PredicateSubject) throws -> Void) throws
    /// Returns an object that holds the present rows of an entity, if the table has one.
    func holder(ofRowsOf entity: NSEntityDescription) -> AnyObject?
    /// Returns the row of an ID; nil when there is none.
    func row(with id: NSManagedObjectID) throws -> Row?
    /// Returns the schema of an entity for compiled predicates.
    func schema(of entity: NSEntityDescription) -> RowSchema
    /// Returns the destination IDs of a to-many relationship.
    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID]
}

extension RowTable {
    /// Returns nil: a list of rows holds each of them.
    package func holder(ofRowsOf entity: NSEntityDescription) -> AnyObject? { nil }

    /// Calls `body` with the subjects of all rows.
    package func forEachSubject(
        of entity: NSEntityDescription, includingSubentities: Bool, _ body: (PredicateSubject) throws -> Void
    ) throws {
        try forEachRow(of: entity, includingSubentities: includingSubentities) { row in
            try withExtendedLifetime(row) { try body(row.subject) }
        }
    }

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
        let schema = table.schema(of: query.entity)
        if query.resultType == .countResultType {
            var count = 0
            try forEachMatch(query.predicate?.compiled(for: schema)) { _ in count += 1 }
            return .count(query.page(count: count))
        }
        let found = try matches(schema)
        if query.resultType == .managedObjectResultType, query.sortDescriptors.isEmpty, query.fetchOffset == 0, query.fetchLimit == 0 {
            return .rows(found)
        }
        var rows = Array(found)
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

    /// Returns the rows that match the query's predicate.
    private func matches(_ schema: RowSchema) throws -> RowList {
        let predicate = try query.predicate?.compiled(for: schema)
        // The holder is taken right before the search, and holds exactly the rows that are searched.
        guard let holder = table.holder(ofRowsOf: query.entity) else {
            var found = RowList()
            try forEachMatch(predicate) { found.append(UnsafeMutableRawPointer(mutating: $0.slots)) }
            return found
        }
        var found = RowList(heldBy: holder)
        try forEachMatch(predicate) { found.appendHeld(UnsafeMutableRawPointer(mutating: $0.slots)) }
        return found
    }

    /// Calls `body` with every row that matches a predicate.
    private func forEachMatch(_ predicate: CompiledPredicate?, _ body: (PredicateSubject) -> Void) throws {
        guard let predicate else {
            return try table.forEachSubject(of: query.entity, includingSubentities: query.includesSubentities, body)
        }
        try withExtendedLifetime(predicate) {
            try table.forEachSubject(of: query.entity, includingSubentities: query.includesSubentities) { subject in
                if try predicate.matchesUnretained(subject) { body(subject) }
            }
        }
    }
}

/// Resolves the properties of rows for compiled predicates: attributes by their slots, relationships through the table.
// Immutable; used under the lock of its table.
package final class RowSchema: PredicateSchema, @unchecked Sendable {
    private let entity: NSEntityDescription
    private unowned let table: any RowTable
    /// The rows of the entity by their numbers, if the table has them in this form.
    private let numbered: NumberedRows?

    package convenience init(entity: NSEntityDescription, table: any RowTable) { self.init(entity: entity, table: table, numbered: nil) }

    init(entity: NSEntityDescription, table: any RowTable, numbered: NumberedRows?) {
        self.entity = entity
        self.table = table
        self.numbered = numbered
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
        // The closures do not hold the rows: the destination's schema does, which the evaluating code holds.
        if let numbered = destination.numbered {
            return Self.property(relationship, slot, of: destination, Unmanaged.passUnretained(numbered))
        }
        if relationship.isToMany {
            return .toMany(
                destination: destination,
                count: { [unowned table] in try table.relatedIDs(of: relationship, in: Self.row($0)).count },
                forEach: { [unowned table] subject, visit in
                    for id in try table.relatedIDs(of: relationship, in: Self.row(subject)) {
                        guard let row = try table.row(with: id) else { continue }
                        if try !withExtendedLifetime(row, { try visit(row.subject) }) { return }
                    }
                })
        }
        return .toOne(
            destination: destination,
            identity: { Self.row($0).objectID(at: slot).map { .object(ObjectReference($0)) } ?? .null },
            follow: { [unowned table] in try Self.row($0).objectID(at: slot).flatMap { try table.row(with: $0)?.subject } })
    }

    /// Returns a relationship whose destinations are found by their numbers, without counting references.
    private static func property(
        _ relationship: NSRelationshipDescription, _ slot: RowLayout.Slot, of destination: RowSchema, _ rows: Unmanaged<NumberedRows>
    ) -> PredicateProperty {
        // Returns the value of a relationship in a row: IDs, which the row keeps alive.
        func held<Held: AnyObject>(_ subject: PredicateSubject, as type: Held.Type) -> Unmanaged<Held>? {
            subject.slots.load(fromByteOffset: slot.location.offset, as: UnsafeRawPointer?.self).map(Unmanaged.fromOpaque)
        }
        guard relationship.isToMany else {
            return .toOne(
                destination: destination,
                identity: { row($0).objectID(at: slot).map { .object(ObjectReference($0)) } ?? .null },
                follow: { subject in
                    let isPacked = slot.location.isPacked(UnsafeMutableRawPointer(mutating: subject.slots))
                    let number =
                        isPacked
                        ? row(subject).objectID(at: slot)?.number
                        : held(subject, as: NSManagedObjectID.self)?._withUnsafeGuaranteedRef { $0.number }
                    return number.flatMap { number in rows._withUnsafeGuaranteedRef { $0.pages.subject(number) } }
                })
        }
        return .toMany(
            destination: destination,
            count: { held($0, as: ObjectIDList.self)?._withUnsafeGuaranteedRef { $0.ids.count } ?? 0 },
            forEach: { subject, visit in
                try held(subject, as: ObjectIDList.self)?._withUnsafeGuaranteedRef { list in
                    // A copy: if a visit writes, this iteration still uses the former rows.
                    let pages = rows._withUnsafeGuaranteedRef { $0.pages }
                    try pages.forEachSubject(of: list.ids, visit)
                }
            })
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
