internal import Foundation
internal import Logging
@_spi(Stores) package import ObjectGraph
internal import Predicates
internal import SQLQueries

// Implements the coordinator's reads. Cached rows and relationships are returned without a reader.
extension SQLiteStore {
    package func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        // While a thread writes, other processes do not; the writer itself checks for earlier changes.
        if writeLock.tryLock() {
            defer { writeLock.unlock() }
            try detectExternalChanges()
        }
        let isPlain = try !query.allowsEvaluationInMemory && isPlain(sqlEntity(query.entity))
        return try reading(isPlain: isPlain) { try $0.answer(query) }
    }

    package func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? {
        guard let place = place(of: id) else { return nil }
        let age = caller.stalenessInterval
        if let row = cache.row(place.entity.rootNumber, place.key, maximumAge: age) { return row }
        let isCurrent = age >= 0 && age < SQLFaultSeries.maximumAge
        return try reading(isPlain: isPlain(place.entity)) { try $0.readRow(place.entity, place.key, isCurrent: isCurrent) }
    }

    /// Returns whether reading rows runs no transformer.
    private func isPlain(_ entity: SQLEntity) -> Bool { !schema.transformedRoots.contains(entity.rootNumber) }

    package func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool {
        let age = caller.stalenessInterval
        // Rows that must not be cached are read one at a time.
        if age == 0 { return false }
        var missing: [ObjectIdentifier: (entity: SQLEntity, keys: [Int64])] = [:]
        for id in ids {
            guard let place = place(of: id), cache.row(place.entity.rootNumber, place.key, maximumAge: age) == nil else { continue }
            missing[ObjectIdentifier(place.entity), default: (place.entity, [])].keys.append(place.key)
        }
        if missing.isEmpty { return true }
        try reading { reader in
            for (entity, keys) in missing.values { try reader.readRows(keys, of: entity) }
        }
        return true
    }

    // MARK: Relationships

    package func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers? {
        let age = caller.stalenessInterval
        guard age != 0, relationship.isToMany, let owner = place(of: origin.entity) else { return nil }
        var lists: [Int64: SQLRelated] = [:]
        var unknown: [Int64] = []
        for number in numbers {
            if let known = related.related(of: relationship, for: origin.key(number), maximumAge: age) {
                lists[number] = known
            } else {
                unknown.append(number)
            }
        }
        let isAll = unknown.count == numbers.count
        if !unknown.isEmpty {
            let parts = try reading { reader in
                try reader.readRelated(relationship, owner, unknown, keyBase: origin.keyBase) { number, list in
                    if !isAll { lists[number] = list }
                }
            }
            if isAll, parts.count == 1 { return RelatedNumbers(numbers: parts[0].numbers[...], origin: parts[0].origin) }
        }
        // Some were cached.
        var all: [Int64] = []
        var shared: RowOrigin?
        for number in numbers {
            let list = lists[number] ?? related.related(of: relationship, for: origin.key(number), maximumAge: -1)
            guard let found = list?.numbers else { return nil }
            if found.numbers.isEmpty { continue }
            if let shared, shared !== found.origin { return nil }
            shared = found.origin
            all += found.numbers
        }
        return RelatedNumbers(numbers: all[...], origin: shared ?? origin)
    }

    package func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool {
        if caller.stalenessInterval == 0 { return false }
        guard relationship.isToMany, let first = ids.first, let place = place(of: first) else { return false }
        let numbers = ids.compactMap { id -> Int64? in if case .integer(let number) = id.reference { number } else { nil } }
        try reading { reader in
            _ = try reader.readRelated(relationship, place.entity, numbers, keyBase: NSManagedObjectID.keyBase(of: first.owningEntity))
        }
        return true
    }

    package func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        guard let place = place(of: id) else { return [] }
        if !relationship.isToMany {
            guard let row = try row(for: id, for: caller) else { return [] }
            return row.objectID(at: row.layout.slots[relationship.slotIndex]).map { [$0] } ?? []
        }
        if let known = related.related(of: relationship, for: id.key, maximumAge: caller.stalenessInterval) { return known.ids }
        return try reading { try $0.readRelated(relationship, place.entity, place.key) }
    }

    // MARK: Cached rows

    package func releaseUnusedRows() { cache.sweepNowIfLarge() }

    package func forgetRow(of id: NSManagedObjectID) {
        guard let place = place(of: id) else { return }
        // The next read must return current rows.
        cache.advance()
        cache.remove(place.entity.rootNumber, place.key)
        related.removeAll(of: id)
    }

    // MARK: As a table of rows

    package func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        try reading { try $0.forEachRow(of: entity, includingSubentities: includingSubentities, body) }
    }

    package func row(with id: NSManagedObjectID) throws -> Row? { try reading { try $0.row(with: id) } }

    package func schema(of entity: NSEntityDescription) -> RowSchema { RowSchema(entity: entity, table: self) }

    package func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        try reading { try $0.relatedIDs(of: relationship, in: row) }
    }
}
