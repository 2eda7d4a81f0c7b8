#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// The rows of a batch insert, prepared before the transaction: its handlers are the program's own code.
// Unchecked: it is not changed once it is made, by the thread that executes the request.
final class BatchInsertion: @unchecked Sendable {
    let entity: SQLEntity
    let wanted: BatchOutcome.Kind
    /// The rows as `COPY` takes them, in pieces; empty if they must be compared with others first.
    fileprivate let pieces: [[UInt8]]
    fileprivate let keys: [Int64]
    /// The rows of an entity with uniqueness constraints.
    fileprivate let rows: [BatchRow]
    private static let pieceSize = 4 << 20

    /// - Parameter newKeys: Returns a number of keys for rows of an entity.
    init(_ request: NSBatchInsertRequest, _ content: StoreContent, newKeys: (Int, SQLEntity) throws -> [Int64]) throws {
        let entity = try content.sqlEntity(request.knownEntity)
        let writer = try content.writer(request.knownEntity)
        let isUnique = !request.knownEntity.frozenParts.uniqueness.isEmpty
        var piece: [UInt8] = []
        var orders = SQLOrderPositions()
        var free: [Int64] = []
        var used: [Int64] = []
        var (rows, pieces): ([BatchRow], [[UInt8]]) = ([], [])
        try BatchRows(request).forEach { new in
            // The more rows there are, the more are likely to follow.
            if free.isEmpty { free = try newKeys(min(max(50, used.count), 10_000), entity).reversed() }
            guard let key = free.popLast() else { return }
            used.append(key)
            new.row.version = 1
            if isUnique { return rows.append(new) }
            try writer.appendCopy(of: new.row, key: key, orders: &orders, to: &piece)
            if piece.count > Self.pieceSize {
                pieces.append(piece)
                piece = []
            }
        }
        if !piece.isEmpty { pieces.append(piece) }
        (self.entity, wanted, keys, self.rows, self.pieces) = (entity, request.wanted, used, rows, pieces)
    }
}

extension BatchRun {
    /// Executes a batch insert.
    mutating func insert(_ insertion: BatchInsertion, _ policy: StoreCaller.MergePolicyKind) async throws -> BatchOutcome {
        let entity = insertion.entity
        if insertion.keys.isEmpty { return outcome(Found(), entity, as: insertion.wanted) }
        if !insertion.rows.isEmpty { return try await insertUnique(insertion, policy) }
        let writer = try content.writer(entity.entity)
        for piece in insertion.pieces { try await connection.copy(writer.copy, piece) }
        for key in insertion.keys { notes.note(.insert, entity.number, key) }
        return outcome(
            Found(keys: insertion.keys, entities: insertion.keys.map { _ in entity.number }), entity, as: insertion.wanted)
    }

    /// Inserts rows of an entity with uniqueness constraints. If one violates them, the context's merge policy decides.
    private mutating func insertUnique(_ insertion: BatchInsertion, _ policy: StoreCaller.MergePolicyKind) async throws -> BatchOutcome {
        let entity = insertion.entity
        let frozen = entity.entity.frozenParts
        let owners = UniqueOwners(content, connection)
        try await owners.load(insertion.rows.map(\.row), of: entity.entity)
        /// The rows as they will be, by key, and the stored rows as they were.
        var (new, old): ([Int64: Row], [Int64: Row]) = ([:], [:])
        var (added, changed): ([Int64], [Int64: PropertySet]) = ([], [:])
        var found = Found()
        for (key, row) in zip(insertion.keys, insertion.rows) {
            row.row.objectID = NSManagedObjectID(entity: entity.entity, token: content.token, reference: .integer(key))
            guard let owner = try await owners.owner(of: row.row, frozen) else {
                new[key] = row.row
                added.append(key)
                owners.add(row.row, frozen)
                found.keys.append(key)
                found.entities.append(entity.number)
                continue
            }
            let isWhole: Bool
            switch policy {
            case .storeTrump, .rollback: continue
            case .objectTrump: isWhole = false
            case .overwrite: isWhole = true
            default: throw StoredRows.notUnique(entity.entity, owner.knownObjectID)
            }
            guard let ownerKey = content.key(of: owner.knownObjectID) else { continue }
            if new[ownerKey] == nil { old[ownerKey] = owner }
            let copy = (new[ownerKey] ?? owner).copy()
            for property in frozen.properties where property is NSAttributeDescription && !property.isTransient {
                guard isWhole || row.given.contains(property.slotIndex) else { continue }
                copy.copyValue(from: row.row, at: copy.layout.slots[property.slotIndex])
                changed[ownerKey, default: PropertySet()].insert(property.slotIndex)
            }
            if let before = old[ownerKey] { copy.version = before.version &+ 1 }
            owners.remove(new[ownerKey] ?? owner, owner.knownObjectID.owningEntity.frozenParts)
            // Another constraint may be violated by another object.
            if let other = try await owners.owner(of: copy, owner.knownObjectID.owningEntity.frozenParts) {
                throw StoredRows.notUnique(entity.entity, other.knownObjectID)
            }
            owners.add(copy, owner.knownObjectID.owningEntity.frozenParts)
            new[ownerKey] = copy
            found.keys.append(ownerKey)
            found.entities.append(content.schema.entity(owner.knownObjectID.owningEntity)?.number ?? entity.number)
        }
        let writer = try content.writer(entity.entity)
        var orders = SQLOrderPositions()
        var bytes: [UInt8] = []
        for key in added {
            guard let row = new[key] else { continue }
            try writer.appendCopy(of: row, key: key, orders: &orders, to: &bytes)
            notes.note(.insert, entity.number, key)
        }
        if !bytes.isEmpty { try await connection.copy(writer.copy, bytes) }
        for (key, before) in old.sorted(by: { $0.key < $1.key }) {
            guard let row = new[key] else { continue }
            try await write(row, over: before, changed[key] ?? PropertySet())
        }
        return outcome(found, entity, as: insertion.wanted)
    }
}
#endif
