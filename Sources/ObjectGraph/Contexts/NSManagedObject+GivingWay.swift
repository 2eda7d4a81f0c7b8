internal import Foundation
internal import Logging

/// Redirects references to an object that is replaced by another, because a uniqueness constraint lets only one of them have its values: the
/// references then lead to the object that stays.
extension NSManagedObject {
    /// A relationship of the replaced object, with the same relationship of the object that stays.
    private typealias Ends = (own: NSRelationshipDescription, kept: NSRelationshipDescription, inverse: NSRelationshipDescription)

    /// The relationships with an inverse that `keeper` has too.
    private func ends(sharedWith keeper: NSManagedObject) -> [Ends] {
        let names = keeper.owningEntity.frozen!.byName
        return owningEntity.frozen!.relationships.compactMap { relationship in
            guard let inverse = relationship.mutualInverse, let kept = names[relationship.name] as? NSRelationshipDescription,
                let destination = inverse.destinationEntity, keeper.owningEntity.isKindOf(entity: destination)
            else { return nil }
            return (relationship, kept, inverse)
        }
    }

    /// Returns a relationship by which objects refer to this one, and which does not accept the entity of `keeper`.
    func relationshipToLose(inFavorOf keeper: NSManagedObject) -> NSRelationshipDescription? {
        if keeper.owningEntity.isKindOf(entity: owningEntity) { return nil }
        let shared = ends(sharedWith: keeper).map(\.own)
        return owningEntity.frozen!.relationships.first { relationship in
            guard relationship.mutualInverse != nil, !shared.contains(where: { $0 === relationship }) else { return false }
            return related(relationship).contains { $0 !== self && $0.registry != nil && !$0.flags.contains(.deleted) }
        }
    }

    /// Redirects to `keeper` the objects that refer to this one by a relationship with an inverse. `keeper` also gets the destinations of this
    /// object's relationships without an inverse.
    ///
    /// If the relationship allows `keeper` only one destination, and it has another one already, `keepsDestination` decides.
    ///
    /// - Parameters:
    ///   - keepsDestination: Whether `keeper` keeps that destination.
    ///   - staying: Returns the object that has replaced an object, or the object itself.
    /// - Returns: The references that lead to neither object any more.
    func leadReferences(
        to keeper: NSManagedObject, keepsDestination: Bool, _ staying: (NSManagedObject) -> NSManagedObject
    ) -> [LostReference] {
        var lost: [LostReference] = []
        for ends in ends(sharedWith: keeper) {
            for other in related(ends.own) where !other.flags.contains(.deleted) && other.registry === registry {
                let target = other === self ? keeper : other
                if keepsDestination, !ends.kept.isToMany, let current = keeper.toOne(ends.kept), current !== target, current !== self {
                    lost.append(LostReference(keeper: keeper, relationship: ends.kept, other: target))
                } else if keepsDestination, other === self, !ends.inverse.isToMany, keeper.isRelatedElsewhere(by: ends.inverse) {
                    // An object that was related to itself does not take the other end of the same relationship, either.
                    lost.append(LostReference(keeper: keeper, relationship: ends.kept, other: keeper))
                } else {
                    keeper.refreshDestination(by: ends.kept)
                    if target === keeper { target.refreshDestination(by: ends.inverse) }
                    let place = target.place(of: self, in: ends.inverse, before: keeper)
                    if ends.kept.isToMany { keeper.add(target, to: ends.kept) } else { keeper.setToOne(target, ends.kept) }
                    if let place { target.move(keeper, to: place, in: ends.inverse) }
                }
                // The other end may lead to neither of them: this context does not know yet which objects others have related.
                release(other, from: ends.own)
                other.nullify(self, at: ends.inverse)
            }
        }
        leadOwnDestinations(to: keeper, keepsDestination: keepsDestination, staying)
        return lost
    }

    /// Returns whether a to-one relationship leads to an object other than this one.
    private func isRelatedElsewhere(by relationship: NSRelationshipDescription) -> Bool {
        guard let other = toOne(relationship) else { return false }
        return other !== self
    }

    /// Refreshes the destination of a to-one relationship before it is changed: others may have related it since this context has read it.
    private func refreshDestination(by relationship: NSRelationshipDescription) {
        guard !relationship.isToMany, let current = toOne(relationship), current.registry === registry else { return }
        if !current.flags.contains(.inserted), !current.flags.contains(.deleted) { registry?.context?.refreshFromStore(current) }
    }

    /// Takes an object out of this end of a relationship.
    private func release(_ other: NSManagedObject, from relationship: NSRelationshipDescription) {
        if relationship.isToMany {
            if toMany(relationship).contains(other) { take(other, outOf: relationship) }
        } else if toOne(relationship) === other {
            putToOne(nil, relationship, was: other)
        }
    }

    /// Adds the destinations of the relationships without an inverse to `keeper`.
    private func leadOwnDestinations(
        to keeper: NSManagedObject, keepsDestination: Bool, _ staying: (NSManagedObject) -> NSManagedObject
    ) {
        for relationship in owningEntity.frozen!.relationships where relationship.mutualInverse == nil {
            guard let kept = keeper.owningEntity.frozen!.byName[relationship.name] as? NSRelationshipDescription else { continue }
            for destination in related(relationship) {
                let other = staying(destination)
                guard !other.flags.contains(.deleted), other.registry === registry else { continue }
                let target = other === self ? keeper : other
                if kept.isToMany {
                    keeper.add(target, to: kept)
                } else if !keepsDestination || !keeper.hasDestination(by: kept, staying) {
                    keeper.setToOne(target, kept)
                }
            }
        }
    }

    /// Returns whether a to-one relationship without an inverse leads to an existing object. Others may have deleted its destination without
    /// redirecting the relationship.
    private func hasDestination(
        by relationship: NSRelationshipDescription, _ staying: (NSManagedObject) -> NSManagedObject
    ) -> Bool {
        guard let other = toOne(relationship).map(staying), let context = registry?.context else { return false }
        if other.registry !== registry { return false }
        return other.flags.contains(.inserted) || other.flags.contains(.deleted) || context.refreshFromStore(other)
    }

    /// Returns the position of the replaced object in an ordered relationship that has been read, unless the object that stays has a position there.
    private func place(
        of object: NSManagedObject, in relationship: NSRelationshipDescription, before keeper: NSManagedObject
    ) -> Int? {
        guard relationship.isToMany, relationship.isOrdered else { return nil }
        let storage = toManyWithoutLoading(relationship)
        return storage.isLoaded && !storage.contains(keeper) ? storage.index(of: object) : nil
    }

    private func move(_ object: NSManagedObject, to place: Int, in relationship: NSRelationshipDescription) {
        take(object, outOf: relationship)
        put(object, into: relationship, at: place)
    }

    /// Replaces objects by others in the relationships without an inverse.
    func replaceDestinations(_ replacement: (NSManagedObject) -> NSManagedObject?) {
        for relationship in owningEntity.frozen!.relationships where relationship.mutualInverse == nil {
            switch state(of: relationship) {
            case .fault: continue
            case .toOne(let target):
                if let keeper = target.flatMap(replacement) { putToOne(keeper, relationship, was: target) }
            case .toMany(let storage):
                for object in storage.objects {
                    guard let keeper = replacement(object) else { continue }
                    let place = place(of: object, in: relationship, before: keeper)
                    take(object, outOf: relationship)
                    put(keeper, into: relationship, at: place)
                }
            }
        }
    }

    // MARK: Afterwards

    /// Marks a new object as replaced: it belongs to no context, and its ID leads to the object that stays.
    func giveWay(to keeper: NSManagedObject) {
        flags.insert(.gaveWay)
        if extras == nil { extras = ObjectExtras() }
        extras?.successor = keeper
        let id = objectID
        if id.isTemporary, !id.namesSameObject(as: keeper.objectID) { id.promote(to: keeper.objectID) }
    }

    /// Reports a change to an object that has given way; the next throwing call to its former context throws the error.
    func reportLostChange(at index: Int) {
        let successor = extras?.successor
        let property = owningEntity.frozen!.properties[index]
        let error = CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "“\(property.name)” of \(objectID) cannot be changed.",
            reason: "A uniqueness constraint lets one object have its values: when it was saved, it gave way to "
                + "\(successor.map { "\($0.objectID)" } ?? "another").",
            next: "Change that object; object(with:) returns it for the ID of either.",
            info: [NSAffectedObjectsErrorKey: [self]])
        Log.context.error("\(error.localizedDescription)")
        successor?.registry?.context?.keep(error)
    }
}

/// A reference to a replaced object that the remaining object could not take, because it has another destination.
struct LostReference {
    let keeper: NSManagedObject
    /// The relationship of the keeper.
    let relationship: NSRelationshipDescription
    let other: NSManagedObject

    /// Relates the objects after all, if the object that prevented it has itself been replaced.
    ///
    /// - Returns: Whether they are related now.
    func restore(_ staying: (NSManagedObject) -> NSManagedObject) -> Bool {
        let (keeper, other) = (staying(keeper), staying(other))
        guard let inverse = relationship.mutualInverse, keeper.isPresent, other.isPresent,
            let kept = keeper.owningEntity.frozen!.byName[relationship.name] as? NSRelationshipDescription,
            keeper.hasRoom(in: kept), other.hasRoom(in: inverse)
        else { return false }
        if kept.isToMany { keeper.add(other, to: kept) } else { keeper.setToOne(other, kept) }
        return true
    }
}

extension NSManagedObject {
    fileprivate var isPresent: Bool { registry != nil && !flags.contains(.deleted) }

    /// Whether a relationship can take another destination without losing one.
    fileprivate func hasRoom(in relationship: NSRelationshipDescription) -> Bool { relationship.isToMany || toOne(relationship) == nil }
}

extension NSManagedObjectContext {
    /// Redirects references by relationships without an inverse from replaced objects to those that stay.
    ///
    /// Only unsaved objects refer to a new object; for a saved one the stores are queried.
    func leadReferencesWithoutInverse(_ outcome: ConstraintOutcome) throws {
        guard !outcome.replaced.isEmpty, let model else { return }
        let relationships = model.entities.flatMap { entity in
            (entity.frozen?.relationships ?? []).filter { $0.mutualInverse == nil && $0.entity === entity }
        }
        if relationships.isEmpty { return }
        var referring = insertedList.elements + updatedList.elements
        let saved = outcome.replaced.filter { !$0.flags.contains(.gaveWay) }
        // The fetches then find nothing to process, which would otherwise be registered for undo.
        if !saved.isEmpty { postUnregistered(ObjectChanges()) }
        for object in saved {
            for relationship in relationships where relationship.destinationEntity.map(object.owningEntity.isKindOf) ?? false {
                referring += try storedReferences(to: object, by: relationship)
            }
        }
        for object in referring where object.registry === registry { object.replaceDestinations(outcome.keeper) }
    }

    private func storedReferences(
        to object: NSManagedObject, by relationship: NSRelationshipDescription
    ) throws -> [NSManagedObject] {
        guard let entity = relationship.entity else { return [] }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.predicate = NSPredicate(format: relationship.isToMany ? "ANY %K == %@" : "%K == %@", relationship.name, object)
        // For objects with changes, the state in this context may be older than the stored one.
        request.includesPendingChanges = false
        let found = try fetch(request)
        for object in found {
            // Others may have related it since this context has read it.
            if !object.flags.contains(.inserted) { refreshFromStore(object) }
            _ = object.related(relationship)
        }
        return found
    }
}
