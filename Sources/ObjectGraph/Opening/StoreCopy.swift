internal import Foundation

/// Copies the contents of one store into another, row by row, through ``StoreInterface``: no objects are created, and no code of the
/// program's classes runs.
struct StoreCopy {
    /// The store to read.
    let source: any StoreInterface
    /// The entities of the store.
    let entities: [NSEntityDescription]
    private let caller = StoreCaller()

    init(source: any StoreInterface, entities: [NSEntityDescription]) {
        self.source = source
        self.entities = entities
    }

    /// Fills a new store.
    ///
    /// - Returns: The IDs in the destination by those of the source.
    /// - Throws: The errors of the stores; code 133021 if objects violate a uniqueness constraint.
    func fill(_ destination: NSPersistentStore) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard let target = destination.interface else { return [:] }
        let rows = try entities.filter { !$0.isAbstract }.flatMap(rows)
        let ids = try target.permanentIDs(for: NewObjects(rows: rows), for: caller)
        guard ids.count == rows.count else {
            throw CoreDataError.contract(
                destination, "permanentIDs(for:for:)", "It gave \(ids.count) IDs for \(rows.count) objects.",
                next: "Return one ID for each object, in order.")
        }
        let places = Dictionary(
            zip(rows, ids).map { ($0.knownObjectID, $1) }, uniquingKeysWith: { first, _ in first })
        var changes = StoreChangeSet()
        changes.inserted.reserveCapacity(rows.count)
        var start = 0
        while start < rows.count {
            let entity = rows[start].entity
            let end = rows[start...].firstIndex { $0.entity !== entity } ?? rows.count
            changes.inserted += try copies(of: rows[start..<end], entity, places, among: rows, keepsLists: target.rowsContainLists)
            start = end
        }
        do { _ = try target.save(changes, for: caller) } catch let conflicts as StoreConflicts {
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError, "The store cannot be copied.",
                reason:
                    "Objects share values of \(conflicts.constraints.map { $0.names.joined(separator: ", ") }), which are to be unique.",
                next: "Change or delete all but one of them.",
                info: [NSAffectedObjectsErrorKey: conflicts.constraints.flatMap(\.conflictingIDs)])
        }
        return places
    }

    // MARK: Reading

    /// Returns the rows of an entity, with all attributes loaded.
    private func rows(of entity: NSEntityDescription) throws -> [Row] {
        var rows: [Row]
        switch try source.answer(StoreQuery(entity, includesSubentities: false), for: caller) {
        case .rows(let list): rows = Array(list)
        case .ids(let ids): rows = try source.rows(for: ids, for: caller)
        case .objects, .dictionaries, .count:
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The objects of “\(entity)” cannot be copied.",
                reason: "Their store answers with something other than rows and IDs.")
        }
        for index in rows.indices where !rows[index].unknownSlots.isEmpty {
            let id = rows[index].knownObjectID
            if let whole = try source.row(for: id, for: caller) { rows[index] = whole.completed(from: rows[index]) }
            guard let unknown = rows[index].unknownSlots.first else { continue }
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "\(id) cannot be copied.",
                reason: "Its store does not say what “\(entity.frozenParts.properties[unknown])” is, although it was asked.",
                info: [NSAffectedObjectsErrorKey: [id]])
        }
        return rows
    }

    /// Returns the destinations of a relationship for rows of one entity: from the rows if they contain them, from the other ends if all rows there
    /// do, otherwise from the store.
    private func related(
        _ relationship: NSRelationshipDescription, of rows: ArraySlice<Row>, among all: [Row]
    ) throws -> [[NSManagedObjectID]] {
        let slot = rows[rows.startIndex].layout.slots[relationship.slotIndex]
        let asked = rows.filter { $0.isUnknown(at: slot) }.map { $0.knownObjectID }
        let answers =
            asked.isEmpty
            ? [:] : try Self.members(of: relationship, among: all) ?? source.related(by: relationship, from: asked, for: caller)
        return rows.map { row in
            row.isUnknown(at: slot)
                ? answers[row.knownObjectID] ?? [] : row.relatedIDs(relationship, at: slot)
        }
    }

    /// Returns the members of a relationship by their owners, derived from the members themselves: a service would be queried once for each owner.
    ///
    /// - Returns: Nil if the members do not have all the information: for ordered relationships, for those without a to-one inverse, and if the
    ///   inverse is unknown in a row.
    private static func members(
        of relationship: NSRelationshipDescription, among rows: [Row]
    ) -> [NSManagedObjectID: [NSManagedObjectID]]? {
        guard relationship.isToMany, !relationship.isOrdered, let inverse = relationship.inverseRelationship, !inverse.isToMany,
            !inverse.isTransient, let destination = relationship.destinationEntity
        else { return nil }
        var members: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        var ends: [ObjectIdentifier: NSRelationshipDescription] = [:]
        for row in rows {
            let key = ObjectIdentifier(row.entity)
            if ends[key] == nil, row.entity.isKindOf(entity: destination) { ends[key] = row.entity.relationshipsByName[inverse.name] }
            guard let end = ends[key] else { continue }
            let slot = row.layout.slots[end.slotIndex]
            if row.isUnknown(at: slot) { return nil }
            if let owner = row.relatedIDs(end, at: slot).first { members[owner, default: []].append(row.knownObjectID) }
        }
        return members
    }

    // MARK: Writing

    /// Returns the rows of one entity as new objects of another store.
    private func copies(
        of rows: ArraySlice<Row>, _ entity: NSEntityDescription, _ places: [NSManagedObjectID: NSManagedObjectID], among all: [Row],
        keepsLists: Bool
    ) throws -> [StoreChange] {
        let frozen = entity.frozenParts
        let copies = rows.map { row in
            // Value by value, because some of them may be decoded by the row's store.
            let copy = Row.blank(frozen.layout, objectID: places[row.knownObjectID], version: 1)
            for attribute in frozen.properties where attribute is NSAttributeDescription && !attribute.isTransient {
                copy.copyValue(from: row, at: frozen.layout.slots[attribute.slotIndex])
            }
            return copy
        }
        var lists: [[ListDifference]] = Array(repeating: [], count: copies.count)
        for relationship in frozen.relationships where !relationship.isTransient {
            let slot = frozen.layout.slots[relationship.slotIndex]
            for (index, ids) in try related(relationship, of: rows, among: all).enumerated() {
                let ids = ids.compactMap { places[$0] }
                guard relationship.isToMany else {
                    copies[index].setObjectID(ids.first, at: slot)
                    continue
                }
                if keepsLists { copies[index].setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot) }
                if ids.isEmpty { continue }
                lists[index].append(
                    ListDifference(
                        slotIndex: relationship.slotIndex, name: relationship.name, added: ids, removed: [],
                        members: relationship.isOrdered ? ids : nil))
            }
        }
        return zip(copies, lists).map { StoreChange(row: $0, base: nil, lists: $1) }
    }
}
