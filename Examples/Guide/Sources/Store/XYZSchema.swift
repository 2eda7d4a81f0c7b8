internal import CoreData

/// The tables of a fetch, each read once at most.
final class XYZTables {
    /// A row as a subject of predicates.
    final class Entry {
        let row: XYZDatabase.Row
        let objectID: NSManagedObjectID

        init(_ row: XYZDatabase.Row, _ objectID: NSManagedObjectID) {
            self.row = row
            self.objectID = objectID
        }

        /// The row as a subject, which has no slots.
        var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self) }
    }

    private let store: XYZMyIncrementalStore
    private var tables: [String: (order: [Entry], byKey: [String: Entry])] = [:]

    init(store: XYZMyIncrementalStore) { self.store = store }

    func rows(of entity: NSEntityDescription) throws -> [Entry] { try table(of: entity).order }

    /// Returns the destination rows of a relationship.
    func related(_ relationship: NSRelationshipDescription, _ row: XYZDatabase.Row) throws -> [Entry] {
        guard let destination = relationship.destinationEntity else { return [] }
        let table = try table(of: destination)
        return row.relatedKeys(relationship.name).compactMap { table.byKey[$0] }
    }

    private func table(of entity: NSEntityDescription) throws -> (order: [Entry], byKey: [String: Entry]) {
        let name = store.table(entity)
        if let table = tables[name] { return table }
        let entries = try store.database.rows(of: name).map { Entry($0, store.objectID($0.primaryKey, of: entity)) }
        let table = (order: entries, byKey: Dictionary(uniqueKeysWithValues: entries.map { ($0.row.primaryKey, $0) }))
        tables[name] = table
        return table
    }

    func relatedIDs(_ relationship: NSRelationshipDescription, _ row: XYZDatabase.Row) -> [NSManagedObjectID] {
        store.relatedIDs(of: relationship, in: row)
    }
}

/// Resolves the columns of a table for compiled predicates and sort descriptors.
final class XYZSchema: PredicateSchema {
    private let entity: NSEntityDescription
    private let tables: XYZTables

    init(_ entity: NSEntityDescription, _ tables: XYZTables) {
        self.entity = entity
        self.tables = tables
    }

    var schemaName: String { entity.name ?? "A row" }

    func predicateProperty(named name: String) -> PredicateProperty? {
        if entity.attributesByName[name] != nil { return .computed { try PropertyValue(any: Self.row($0).columns[name]?.attribute) } }
        guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity else { return nil }
        let tables = tables
        let schema = XYZSchema(destination, tables)
        guard relationship.isToMany else {
            return .toOne(
                destination: schema,
                identity: { tables.relatedIDs(relationship, Self.row($0)).first.map { .object(ObjectReference($0)) } ?? .null },
                follow: { try tables.related(relationship, Self.row($0)).first?.subject })
        }
        return .toMany(
            destination: schema, count: { Self.row($0).relatedKeys(name).count },
            forEach: { subject, visit in
                for entry in try tables.related(relationship, Self.row(subject)) {
                    if try !visit(entry.subject) { return }
                }
            })
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(Self.entry(subject).objectID)) }

    func constant(for object: AnyObject) -> PropertyValue? {
        switch object {
        case let object as NSManagedObject: .object(ObjectReference(object.objectID))
        case let objectID as NSManagedObjectID: .object(ObjectReference(objectID))
        default: nil
        }
    }

    /// Returns the object for block predicates: the attributes by name.
    func publicObject(of subject: PredicateSubject) -> Any { Self.row(subject).columns.compactMapValues(\.attribute) }

    private static func entry(_ subject: PredicateSubject) -> XYZTables.Entry { unsafeDowncast(subject.object, to: XYZTables.Entry.self) }
    private static func row(_ subject: PredicateSubject) -> XYZDatabase.Row { entry(subject).row }
}
