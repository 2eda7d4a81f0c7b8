internal import Foundation
internal import Predicates
internal import Synchronization

/// The rows of a store that has all of them in memory, under numbers that it gives them: queries, versions and unique values are looked after.
///
/// A store that keeps its objects in a form of its own besides (a file, a log, a server's answer) feeds this with rows, and answers from it.
/// It has no lock of its own: any number of threads may read at once while none writes.
@_spi(Stores)
// Unchecked: its store guards it as said above; `schemas` has a lock of its own.
public final class StoredRows: @unchecked Sendable {
    /// The rows of an entity and of those that inherit from it.
    private final class Table {
        var pages = RowPages()
    }

    private let model: NSManagedObjectModel?
    private let token: StoreToken
    /// The rows, by the entity at the top of the inheritance.
    private var tables: [ObjectIdentifier: Table] = [:]
    private var lastTable: (entity: NSEntityDescription, table: Table)?
    private let schemas = Synchronization.Mutex<[ObjectIdentifier: RowSchema]>([:])
    /// Made when it is first asked for.
    private var uniqueness: UniquenessIndex?
    /// How often a row has been put in place or taken out.
    public private(set) var changeCount = 0

    /// No rows yet, of the entities of the store's coordinator.
    ///
    /// - Parameter store: whose rows they are to be. It is not kept alive.
    public init(for store: NSPersistentStore) {
        model = store.persistentStoreCoordinator?.managedObjectModel
        token = store.token
        for entity in model?.entities ?? [] where entity.superentity == nil { tables[ObjectIdentifier(entity)] = Table() }
    }

    // MARK: Reading

    /// How many rows there are.
    public var count: Int { tables.values.reduce(0) { $0 + $1.pages.count } }

    /// The row of an object; nil where there is none.
    public func row(with id: NSManagedObjectID) -> Row? {
        guard case .integer(let number) = id.reference else { return nil }
        return tables[ObjectIdentifier(id.owningEntity.rootEntity)]?.pages[number]
    }

    /// The rows of objects; one that there is none of is left out.
    public func rows(with ids: [NSManagedObjectID]) -> [Row] { ids.compactMap { row(with: $0) } }

    /// The objects of a relationship of many objects, for ``StoreInterface/related(by:from:for:)``.
    public func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]
    ) -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(ids.map { ($0, row(with: $0)?.relatedIDs(relationship) ?? []) }, uniquingKeysWith: { first, _ in first })
    }

    /// Calls `body` with every row of an entity, in the order of their numbers.
    public func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        guard let table = tables[ObjectIdentifier(entity.rootEntity)]?.pages else { return }
        if entity === entity.rootEntity, includingSubentities { return try table.forEach(body) }
        let kinds = Set((includingSubentities ? entity.allKinds : [entity]).map { ObjectIdentifier($0.frozen!.layout) })
        try table.forEach { row in
            if kinds.contains(ObjectIdentifier(row.layout)) { try body(row) }
        }
    }

    /// Calls `body` with every row.
    public func forEachRow(_ body: (Row) throws -> Void) throws {
        for entity in model?.entities ?? [] where entity.superentity == nil {
            try forEachRow(of: entity, includingSubentities: true, body)
        }
    }

    /// Answers a query: predicate, order, offset, limit, and every form of answer.
    ///
    /// - Throws: the error of a predicate that did not parse or names an unknown key.
    public func answer(_ query: StoreQuery) throws -> StoreAnswer { try RowFetch(table: self, query: query).answer() }

    // MARK: Writing

    /// IDs for new objects: numbers that no row of the entity has had. Counts as writing.
    public func makeIDs(for new: NewObjects) -> [NSManagedObjectID] {
        new.mapEntities { NSManagedObjectID(entity: $0, token: token, reference: .integer(table(of: $0).pages.nextNumber())) }
    }

    /// The ID of a row that is about to be put in place.
    func newID(for entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(table(of: entity).pages.nextNumber()))
    }

    /// The number that was given last to an object of an entity, or of one that shares its numbers.
    public func lastNumber(of entity: NSEntityDescription) -> Int64 { tables[ObjectIdentifier(entity.rootEntity)]?.pages.lastNumber ?? 0 }

    /// Says which number was given last, where that is known from before, so that it is not given again.
    public func setLastNumber(_ number: Int64, of entity: NSEntityDescription) { table(of: entity).pages.noteNumber(number) }

    /// Refuses a save that meets what others have saved: older versions, and values that are to be unique.
    ///
    /// - Throws: ``StoreConflicts``. Nothing has changed then.
    public func refuseConflicts(_ changes: StoreChangeSet) throws {
        try refuseOldVersions(changes)
        try refuseSharedValues(changes)
    }

    /// Puts what a save has written in place.
    public func apply(_ changes: StoreChangeSet) {
        for part in [changes.inserted, changes.updated, changes.locked] {
            part.forEachRow { row, _ in put(row, at: row.knownObjectID) }
        }
        for change in changes.deleted { put(nil, at: change.objectID) }
    }

    /// Puts a row in place that was kept somewhere else. Its number counts as given.
    ///
    /// - Throws: code 259 for a row whose key is no number that these rows give.
    public func load(_ row: Row) throws {
        guard let id = row.objectID, case .integer(let number) = id.reference, number > 0, number <= RowPages.largestNumber else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "A row cannot be loaded.",
                reason: "Its key is \(row.objectID.map { "\($0)" } ?? "missing"), which is no number from 1 to \(RowPages.largestNumber).",
                next: "Restore the store from a copy.")
        }
        setLastNumber(number, of: id.owningEntity)
        put(row, at: id)
    }

    /// Takes out the row of an object that is gone.
    public func remove(_ id: NSManagedObjectID) { put(nil, at: id) }

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
}

extension StoredRows: RowTable {
    func schema(of entity: NSEntityDescription) -> RowSchema {
        schemas.withLock { schemas in
            if let schema = schemas[ObjectIdentifier(entity)] { return schema }
            let schema = RowSchema(entity: entity, table: self)
            schemas[ObjectIdentifier(entity)] = schema
            return schema
        }
    }
}

extension StoredRows: ConflictFinding {
    /// The row as it is now.
    public func latestRow(for id: NSManagedObjectID) -> LatestRow { row(with: id).map { .row($0) } ?? .deleted }

    /// The rows that have the values of a uniqueness constraint. Counts as writing: what is looked up in is made when it is first asked for.
    public func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        try holderIDs(of: constraint, key).compactMap { row(with: $0) }
    }

    func holderIDs(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        guard let model else { return [] }
        let index = try uniqueness ?? UniquenessIndex(self, model: model)
        uniqueness = index
        return index.holders(of: constraint, key)
    }
}
