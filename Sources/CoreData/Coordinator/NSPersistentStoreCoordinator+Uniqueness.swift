internal import Foundation
internal import Predicates

extension NSPersistentStoreCoordinator {
    /// Finds the objects of a save that would share the values of a uniqueness constraint, with each other or with one in the store.
    ///
    /// - Throws: code 133021 with an ``NSConstraintConflict`` for each such constraint and values.
    func findConstraintConflicts(_ changes: ChangeSet, in store: NSPersistentStore, for context: NSManagedObjectContext) throws {
        guard managedObjectModel.hasUniquenessConstraints, store.enforcesUniqueness else { return }
        var claims: [Claim: [NSManagedObject]] = [:]
        var order: [Claim] = []
        var moved: [ObjectIdentifier: Set<NSManagedObjectID>] = [:]
        for object in changes.inserted.followed(by: changes.updated) {
            let frozen = object.owningEntity.frozen!
            for constraint in frozen.uniqueness {
                guard object.isInserted || constraint.slotIndexes.contains(where: object.changed.contains), let row = object.row else {
                    continue
                }
                moved[ObjectIdentifier(constraint), default: []].insert(object.objectID)
                guard let key = constraint.key(of: row, frozen) else { continue }
                let claim = Claim(constraint: constraint, key: key)
                if claims[claim] == nil { order.append(claim) }
                claims[claim, default: []].append(object)
            }
        }
        if order.isEmpty { return }
        let deleted = Set(changes.deleted.map(\.objectID))
        let conflicts = try order.compactMap { claim -> NSConstraintConflict? in
            let objects = claims[claim] ?? []
            let holder = try store.holders(of: claim.constraint, claim.key)
                .first { !deleted.contains($0) && !(moved[ObjectIdentifier(claim.constraint)]?.contains($0) ?? false) }
            let row = try holder.flatMap { try store.row(for: $0, in: context) }
            if row == nil, objects.count < 2 { return nil }
            return NSConstraintConflict(
                constraint: claim.constraint.names, database: holder.map(context.object(with:)),
                databaseSnapshot: row.flatMap { row in holder.map { row.conflictSnapshot(of: $0.owningEntity) } }, conflicting: objects,
                conflictingSnapshots: objects.map { $0.row?.conflictSnapshot(of: $0.owningEntity) ?? [:] })
        }
        if !conflicts.isEmpty { throw NSConstraintConflict.error(conflicts) }
    }

    /// Values of a constraint that objects claim.
    private struct Claim: Hashable {
        let constraint: UniquenessConstraint
        let key: [PropertyValue]

        static func == (left: Claim, right: Claim) -> Bool { left.constraint === right.constraint && left.key == right.key }
        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(constraint))
            hasher.combine(key)
        }
    }
}
