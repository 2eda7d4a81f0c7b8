internal import Foundation

/// The store that lives in memory: a table of rows for each entity, shared by every context of its coordinator.
///
/// A saved object's row goes into the table as it is, and contexts that read the object take a reference to the same row: nothing is
/// copied until someone changes a value.
// Used under `requestLock`, which the coordinator holds.
final class InMemoryStore: NSPersistentStore, RowTable {
    /// The rows of one entity, in the order in which they were first saved.
    private struct Table {
        var rows: [Row?] = []
        var places: [Int64: Int] = [:]

        mutating func put(_ row: Row, at key: Int64) {
            if let place = places[key] {
                rows[place] = row
            } else {
                places[key] = rows.count
                rows.append(row)
            }
        }

        mutating func remove(_ key: Int64) {
            guard let place = places.removeValue(forKey: key) else { return }
            rows[place] = nil
            if rows.count > 32, places.count < rows.count / 2 { compact() }
        }

        private mutating func compact() {
            rows = rows.filter { $0 != nil }
            for (place, row) in rows.enumerated() {
                if case .integer(let key)? = row?.objectID?.reference { places[key] = place }
            }
        }
    }

    private var tables: [ObjectIdentifier: Table] = [:]
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    private var lastKey: Int64 = 0

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: NSInMemoryStoreType]
    }

    // MARK: Reading

    override func performFetch(
        _ request: NSFetchRequest<any NSFetchRequestResult>, for context: NSManagedObjectContext
    ) throws -> FetchAnswer {
        try RowFetch(table: self, request: request).answer()
    }

    override func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row? { row(with: id) }

    override func latestRow(for id: NSManagedObjectID) -> LatestRow { row(with: id).map { .row($0) } ?? .deleted }

    override func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        guard let row = row(with: id) else { return [] }
        let slot = row.layout.slots[relationship.slotIndex]
        return relationship.isToMany ? row.objectIDs(at: slot)?.ids ?? [] : row.objectID(at: slot).map { [$0] } ?? []
    }

    func row(with id: NSManagedObjectID) -> Row? {
        guard case .integer(let key) = id.reference, let table = tables[ObjectIdentifier(id.owningEntity)] else { return nil }
        return table.places[key].flatMap { table.rows[$0] }
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for kind in includingSubentities ? entity.allKinds : [entity] {
            for case let row? in tables[ObjectIdentifier(kind)]?.rows ?? [] { try body(row) }
        }
    }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }

    // MARK: Writing

    override func permanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        objects.map { object in
            lastKey += 1
            return NSManagedObjectID(entity: object.owningEntity, token: token, reference: .integer(lastKey))
        }
    }

    override func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        // Every row is made before the first is put in place: a failure leaves the tables as they were.
        let rows = try (changes.inserted + changes.updated + changes.locked).map { try $0.rowForSaving(keepsLists: true) }
        for row in rows {
            guard let id = row.objectID, case .integer(let key) = id.reference else { continue }
            tables[ObjectIdentifier(id.owningEntity), default: Table()].put(row, at: key)
        }
        for object in changes.deleted {
            guard case .integer(let key) = object.objectID.reference else { continue }
            tables[ObjectIdentifier(object.owningEntity)]?.remove(key)
        }
    }
}
