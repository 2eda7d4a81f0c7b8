internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Resolves references to objects of one of several entities, if the backend does not name the entity.
extension RemoteReader {
    /// Returns rows for a context with references to objects of the actual entities: a context creates an object of the class that belongs to the reference.
    ///
    /// Unknown objects are read in one batch, and kept for later requests.
    func knowingKinds(_ rows: [Row], for caller: StoreCaller) async throws -> [Row] {
        var unsure: [NSManagedObjectID] = []
        var places: [Int] = []
        forEachReference(rows) { place, id in
            unsure.append(id)
            if places.last != place { places.append(place) }
        }
        if unsure.isEmpty { return rows }
        let known = try await kinds(of: unsure, for: caller)
        var rows = rows
        for place in places {
            let row = rows[place]
            var copy: Row?
            for relationship in relationships(row.knownObjectID.owningEntity) where !row.isUnknown(relationship) {
                let ids = row.relatedIDs(relationship)
                let right = ids.map { known[$0] ?? $0 }
                if zip(ids, right).allSatisfy({ $0.owningEntity === $1.owningEntity }) { continue }
                let changed = copy ?? row.copy()
                changed.setRelatedIDs(right, of: relationship)
                copy = changed
            }
            guard let copy else { continue }
            if let time = earlier.take(row) { earlier.note(CollectionOfOne(copy), askedAt: time) }
            rows[place] = copy
        }
        return rows
    }

    /// Works like ``knowingKinds(_:for:)``, for lists.
    func knowingKinds(
        _ lists: [NSManagedObjectID: [NSManagedObjectID]], of relationship: NSRelationshipDescription, for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        guard relationship.destinationEntity?.subentities.isEmpty == false else { return lists }
        let unsure = lists.values.joined().filter(isUnsure)
        if unsure.isEmpty { return lists }
        let known = try await kinds(of: unsure, for: caller)
        return lists.mapValues { $0.map { known[$0] ?? $0 } }
    }

    /// Whether an object may be of a subentity of its ID's entity.
    private func isUnsure(_ id: NSManagedObjectID) -> Bool {
        guard !id.owningEntity.subentities.isEmpty else { return false }
        return decoding.kinds.kind(id) !== id.owningEntity
    }

    private func relationships(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.frozenParts.properties.compactMap { property in
            guard let relationship = property as? NSRelationshipDescription, !relationship.isTransient,
                relationship.destinationEntity?.subentities.isEmpty == false
            else { return nil }
            return relationship
        }
    }

    private func forEachReference(_ rows: [Row], _ body: (Int, NSManagedObjectID) -> Void) {
        var last: NSEntityDescription?
        var wanted: [NSRelationshipDescription] = []
        for (place, row) in rows.enumerated() {
            let entity = row.knownObjectID.owningEntity
            if entity !== last {
                last = entity
                wanted = relationships(entity)
            }
            for relationship in wanted where !row.isUnknown(relationship) {
                for id in row.relatedIDs(relationship) where isUnsure(id) { body(place, id) }
            }
        }
    }

    /// Returns the IDs of objects with their actual entities; those of missing objects are unchanged.
    private func kinds(of ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [NSManagedObjectID: NSManagedObjectID] {
        var known: [NSManagedObjectID: NSManagedObjectID] = [:]
        var missing: [NSManagedObjectID] = []
        var seen: Set<NSManagedObjectID> = []
        for id in ids where seen.insert(id).inserted {
            if let kind = decoding.kinds.kind(id), let own = decoding.resourceID(id) {
                known[id] = decoding.id(own, of: kind)
            } else {
                missing.append(id)
            }
        }
        if missing.isEmpty { return known }
        let time = AskTime(options.now())
        do {
            let (rows, failures) = try await readAvailable(missing, for: caller)
            for row in rows { known[row.knownObjectID] = row.knownObjectID }
            parked.park(rows, at: time)
            // The relationship's entity is assumed until they can be read.
            missing.removeAll { failures[$0] != nil }
        } catch let error as NSError where error.code == NSPersistentStoreUnsupportedRequestTypeError {
            // No endpoint tells the entity: the relationship's entity is assumed.
            RequestRunner.log.info("The entities of \(missing.count) references are unknown: \(error.localizedDescription)")
        }
        for id in missing where known[id] == nil { decoding.kinds.note(id) }
        return known
    }
}
