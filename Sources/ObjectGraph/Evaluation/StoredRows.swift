internal import Foundation
public import Predicates
internal import Synchronization

/// The rows of an entity and its subentities by their numbers.
final class NumberedRows {
    // Guarded like the ``StoredRows`` that contains it. No read interrupts a change, so accesses cannot overlap.
    @exclusivity(unchecked) var pages = RowPages()
}

/// The rows of an entity and its subentities as they were at one time.
private final class HeldRows {
    private let pages: RowPages
    init(_ pages: RowPages) { self.pages = pages }
}

/// The rows of a store that keeps all of them in memory, with numbers that it assigns: executes queries, and checks versions and
/// uniqueness.
///
/// A store with another primary representation (a file, a log, a server) adds its rows here and answers from it. It has no lock: any
/// number of threads may read concurrently while none writes.
@_spi(Stores)
// Unchecked: its store guards it as described above; `schemas` has its own lock.
public final class StoredRows: @unchecked Sendable {
    private let model: NSManagedObjectModel?
    private let token: StoreToken
    /// The rows by root entity.
    private var tables: [ObjectIdentifier: NumberedRows] = [:]
    private var lastTable: (entity: NSEntityDescription, table: NumberedRows)?
    private let schemas = Synchronization.Mutex<[ObjectIdentifier: RowSchema]>([:])
    /// Created on demand.
    private var uniqueness: UniquenessIndex?
    /// The number of changes to rows.
    public private(set) var changeCount = 0

    /// Creates an empty collection for the entities of the store's coordinator.
    ///
    /// - Parameter store: The store of the rows. It is not retained.
    public init(for store: NSPersistentStore) {
        model = store.persistentStoreCoordinator?.managedObjectModel
        token = store.token
        for entity in model?.entities ?? [] where entity.superentity == nil { tables[ObjectIdentifier(entity)] = NumberedRows() }
    }

    // MARK: Reading

    /// The number of rows.
    public var count: Int { tables.values.reduce(0) { $0 + $1.pages.count } }

    /// Returns the row of an object; nil if there is none.
    public func row(with id: NSManagedObjectID) -> Row? {
        guard case .integer(let number) = id.reference else { return nil }
        return tables[ObjectIdentifier(id.owningEntity.rootEntity)]?.pages[number]
    }

    /// Returns the rows of existing objects.
    public func rows(with ids: [NSManagedObjectID]) -> [Row] { ids.compactMap { row(with: $0) } }

    /// Returns a relationship of many objects, for ``StoreInterface/related(by:from:for:)``.
    public func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(ids.map { ($0, row(with: $0)?.relatedIDs(relationship) ?? []) }, uniquingKeysWith: { first, _ in first })
    }

    /// Calls `body` with every row of an entity, in the order of their numbers.
    public func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        guard let table = tables[ObjectIdentifier(entity.rootEntity)]?.pages else { return }
        if entity === entity.rootEntity, includingSubentities { return try table.forEach(body) }
        let kinds = layouts(of: entity, includingSubentities)
        try table.forEach { row in
            if row.block.isOf(kinds) { try body(row) }
        }
    }

    /// The layouts of the rows of an entity.
    private func layouts(of entity: NSEntityDescription, _ includingSubentities: Bool) -> [ObjectIdentifier] {
        (includingSubentities ? entity.allKinds : [entity]).map { ObjectIdentifier($0.frozenParts.layout) }
    }

    /// Calls `body` with every row.
    public func forEachRow(_ body: (Row) throws -> Void) throws {
        for entity in model?.entities ?? [] where entity.superentity == nil {
            try forEachRow(of: entity, includingSubentities: true, body)
        }
    }

    /// Answers a query: predicate, order, offset, limit, and every result type.
    ///
    /// - Throws: The error of a predicate that did not parse or names an unknown key.
    public func answer(_ query: StoreQuery) throws -> StoreAnswer { try RowFetch(table: self, query: query).answer() }

    // MARK: Writing

    /// Returns IDs for new objects, with numbers that no row of the entity has had. Counts as writing.
    public func makeIDs(for new: NewObjects) -> [NSManagedObjectID] {
        new.mapEntities { NSManagedObjectID(entity: $0, token: token, reference: .integer(table(of: $0).pages.nextNumber())) }
    }

    /// Returns the ID for a row that is about to be added.
    func newID(for entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(table(of: entity).pages.nextNumber()))
    }

    /// Returns the last number assigned to an entity, or to an entity that shares its numbers.
    public func lastNumber(of entity: NSEntityDescription) -> Int64 { tables[ObjectIdentifier(entity.rootEntity)]?.pages.lastNumber ?? 0 }

    /// Sets the last assigned number, if it is known from an earlier run, so that numbers are not reused.
    public func setLastNumber(_ number: Int64, of entity: NSEntityDescription) { table(of: entity).pages.noteNumber(number) }

    /// Throws if a save conflicts with other saves, by versions or uniqueness constraints.
    ///
    /// - Throws: ``StoreConflicts``. Nothing has changed then.
    public func checkConflicts(_ changes: StoreChangeSet) throws {
        try checkVersions(changes)
        try checkUniqueness(changes)
    }

    /// Applies the changes of a save.
    public func apply(_ changes: StoreChangeSet) {
        for part in [changes.inserted, changes.updated, changes.locked] {
            part.forEachRow { row, _ in put(row, at: row.knownObjectID) }
        }
        for index in changes.deleted.indices { put(nil, at: changes.deleted[index].objectID) }
    }

    /// Adds a row that was stored elsewhere, and marks its number as assigned.
    ///
    /// - Throws: Code 259 for a row whose key is not a valid number.
    public func load(_ row: Row) throws {
        guard let id = row.objectID, case .integer(let number) = id.reference, number > 0, number <= RowPages.largestNumber else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "A row cannot be loaded.",
                reason:
                    "Its key is \(row.objectID.map { "\($0)" } ?? "missing"), which is not a number from 1 to \(RowPages.largestNumber).",
                next: "Restore the store from a copy.")
        }
        setLastNumber(number, of: id.owningEntity)
        put(row, at: id)
    }

    /// Removes the row of a deleted object.
    public func remove(_ id: NSManagedObjectID) { put(nil, at: id) }

    func put(_ row: Row?, at id: NSManagedObjectID) {
        guard case .integer(let number) = id.reference else { return }
        changeCount &+= 1
        table(of: id.owningEntity).pages[number] = row
        if uniqueness != nil { uniqueness?.set(row, of: id) }
    }

    private func table(of entity: NSEntityDescription) -> NumberedRows {
        // Objects mostly come grouped by entity.
        if let lastTable, lastTable.entity === entity { return lastTable.table }
        let root = ObjectIdentifier(entity.rootEntity)
        let table = tables[root] ?? NumberedRows()
        tables[root] = table
        lastTable = (entity, table)
        return table
    }
}

extension RowBlock {
    /// Returns whether the rows are of one of some layouts.
    @inline(__always) fileprivate func isOf(_ layouts: [ObjectIdentifier]) -> Bool {
        let own = withUnsafeMutablePointerToHeader { ObjectIdentifier($0.pointee.layout) }
        return layouts.contains(own)
    }
}

extension StoredRows: RowTable {
    package func holder(ofRowsOf entity: NSEntityDescription) -> AnyObject? {
        tables[ObjectIdentifier(entity.rootEntity)].map { HeldRows($0.pages) }
    }

    package func forEachSubject(
        of entity: NSEntityDescription, includingSubentities: Bool, _ body: (PredicateSubject) throws -> Void
    ) throws {
        guard let table = tables[ObjectIdentifier(entity.rootEntity)]?.pages else { return }
        if entity === entity.rootEntity, includingSubentities { return try table.forEachSubject(body) }
        let kinds = layouts(of: entity, includingSubentities)
        try table.forEachSubject { subject in
            let isWanted = Unmanaged<RowBlock>.fromOpaque(subject.address)._withUnsafeGuaranteedRef { $0.isOf(kinds) }
            if isWanted { try body(subject) }
        }
    }

    package func schema(of entity: NSEntityDescription) -> RowSchema {
        schemas.withLock { schemas in
            if let schema = schemas[ObjectIdentifier(entity)] { return schema }
            let schema = RowSchema(entity: entity, table: self, numbered: tables[ObjectIdentifier(entity.rootEntity)])
            schemas[ObjectIdentifier(entity)] = schema
            return schema
        }
    }
}

extension StoredRows: ConflictFinding {
    /// Returns the current row.
    public func latestRow(for id: NSManagedObjectID) -> LatestRow { row(with: id).map { .row($0) } ?? .deleted }

    /// Returns the rows that have the values of a uniqueness constraint. Counts as writing, because the index is created on demand.
    public func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try ownerIDs(of: constraint, key).compactMap { row(with: $0) }
    }

    func ownerIDs(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        guard let model else { return [] }
        let index = try uniqueness ?? UniquenessIndex(self, model: model)
        uniqueness = index
        return index.owners(of: constraint, key)
    }
}
