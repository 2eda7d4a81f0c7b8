internal import Foundation
internal import Predicates

/// The store that lives in memory: rows by entity and number, shared by every context of its coordinator.
///
/// A saved object's row goes into the store as it is, and contexts that read the object take a reference to the same row: nothing is
/// copied until someone changes a value.
// Used under `requestLock`, which the coordinator holds.
final class InMemoryStore: NSPersistentStore, RowTable {
    /// The rows, by the entity at the top of the inheritance.
    private var tables: [ObjectIdentifier: Table] = [:]
    private var lastTable: (entity: NSEntityDescription, table: Table)?
    private var schemas: [ObjectIdentifier: RowSchema] = [:]
    /// Made when it is first asked for.
    private var uniqueness: UniquenessIndex?
    /// How often a row has been put in place.
    private var changeCount = 0

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
        guard case .integer(let number) = id.reference else { return nil }
        return tables[ObjectIdentifier(id.owningEntity.rootEntity)]?.pages[number]
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        guard let table = tables[ObjectIdentifier(entity.rootEntity)]?.pages else { return }
        if entity === entity.rootEntity, includingSubentities { return try table.forEach(body) }
        let kinds = Set((includingSubentities ? entity.allKinds : [entity]).map { ObjectIdentifier($0.frozen!.layout) })
        try table.forEach { row in
            if kinds.contains(ObjectIdentifier(row.layout)) { try body(row) }
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
        objects.mapUncounted { object in
            NSManagedObjectID(
                entity: object.owningEntity, token: token, reference: .integer(table(of: object.owningEntity).pages.nextNumber()))
        }
    }

    /// The ID of a row that is about to be put in place.
    func newID(for entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(table(of: entity).pages.nextNumber()))
    }

    override func executeBatch(_ request: any BatchRequest, in context: NSManagedObjectContext) throws -> BatchOutcome {
        BatchOutcome(try rowsChanged(by: request, context.mergePolicy), as: request.wanted)
    }

    override func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        // Every row is made before the first is put in place: a failure leaves the tables as they were.
        let written = changes.inserted.followed(by: changes.updated).followed(by: changes.locked)
        let rows = try written.mapUncounted { try $0.rowForSaving(keepsLists: true) }
        rows.forEachUncounted { put($0, at: $0.objectID.unsafelyUnwrapped) }
        for object in changes.deleted { put(nil, at: object.objectID) }
    }

    override var contentsState: ContentsState? { ContentsState(current: "\(identifier ?? "") \(changeCount)") }

    override var enforcesUniqueness: Bool { true }

    override func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let index = try uniqueness ?? UniquenessIndex(self, model: model)
        uniqueness = index
        return index.holders(of: constraint, key)
    }

    func put(_ row: Row?, at id: NSManagedObjectID) {
        guard case .integer(let number) = id.reference else { return }
        changeCount &+= 1
        table(of: id.owningEntity).pages[number] = row
        if uniqueness != nil { uniqueness?.set(row, of: id) }
    }

    private func table(of entity: NSEntityDescription) -> Table {
        // Objects mostly come entity by entity.
        if let lastTable, lastTable.entity === entity { return lastTable.table }
        let root = ObjectIdentifier(entity.rootEntity)
        let table = tables[root] ?? Table()
        tables[root] = table
        lastTable = (entity, table)
        return table
    }

    /// The rows of an entity and of those that inherit from it.
    private final class Table {
        var pages = RowPages()
    }
}
