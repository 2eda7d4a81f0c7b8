internal import Foundation
internal import ObjectGraph
internal import Predicates

/// Validates the objects of the destination: new objects before they are saved, if everything that their entity requires exists by then, and the
/// others at the end.
struct MigrationValidation {
    private let manager: NSMigrationManager
    /// The entities whose objects are validated at the end.
    private var late: Set<ObjectIdentifier> = []
    /// Whether policies may still set an object's missing values.
    private let hasPolicies: Bool

    init(_ manager: NSMigrationManager, _ plans: [MappingPlan]) {
        self.manager = manager
        hasPolicies = plans.contains { !$0.isStandard }
        let entities = manager.destinationContext.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        for entity in entities {
            let makers = plans.filter { $0.destinationEntity === entity }
            let isEarly = entity.relationshipsByName.values.allSatisfy { relationship in
                if relationship.isTransient || !relationship.isToMany && relationship.isOptional { return true }
                if relationship.isToMany { return relationship.isOptional && relationship.minCount == 0 && relationship.maxCount == 0 }
                return !makers.isEmpty
                    && makers.allSatisfy {
                        $0.relationships.contains { $0.relationship.name == relationship.name && $0.treatment == .atOnce }
                    }
            }
            // The findings of an interrupted migration are lost.
            if !isEarly || manager.isResuming { late.insert(ObjectIdentifier(entity)) }
        }
    }

    /// Validates objects that are about to be saved.
    ///
    /// - Parameter new: The new objects that are associated with source objects.
    mutating func note(_ new: [NSManagedObject], _ context: NSManagedObjectContext) throws {
        // A policy may complete its own objects later.
        if hasPolicies {
            let own = Set(new.map(ObjectIdentifier.init))
            for object in context.insertedObjects where !own.contains(ObjectIdentifier(object)) {
                late.insert(ObjectIdentifier(object.entity))
            }
            for object in context.updatedObjects { late.insert(ObjectIdentifier(object.entity)) }
        }
        var errors: [NSError] = []
        for object in new where !late.contains(ObjectIdentifier(object.entity)) && !object.isDeleted {
            do { try object.validateForInsert() } catch {
                if hasPolicies { late.insert(ObjectIdentifier(object.entity)) } else { errors.append(error as NSError) }
            }
            if errors.count == 100 { break }
        }
        if !errors.isEmpty, let entity = (errors[0].userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.entity ?? new.first?.entity {
            throw failure(errors, entity)
        }
    }

    /// Validates the objects that were saved without.
    ///
    /// - Parameters:
    ///   - start: How far an earlier migration was: an entity, by its place in the order of names, and how many of its objects were valid.
    ///   - didValidate: Called after each batch with how far this one is.
    /// - Throws: Code 134110 with the errors of validation, which name entities and properties, under `NSDetailedErrorsKey`.
    func run(from start: (entity: Int, position: Int), didValidate: (_ entity: Int, _ position: Int) throws -> Void) throws {
        let context = manager.destinationContext
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        for (index, entity) in entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }).enumerated().dropFirst(start.entity)
        where !entity.isAbstract && late.contains(ObjectIdentifier(entity)) {
            try validate(entity, context, from: index == start.entity ? start.position : 0) { try didValidate(index, $0) }
        }
    }

    private var batchSize: Int { manager.batchSize * 2 }

    private func validate(
        _ entity: NSEntityDescription, _ context: NSManagedObjectContext, from start: Int, didValidate: (Int) throws -> Void
    ) throws {
        var last = start
        while true {
            try manager.checkCancellation()
            let request = NSFetchRequest<any NSFetchRequestResult>()
            request.entity = entity
            request.includesSubentities = false
            request.returnsObjectsAsFaults = false
            request.fetchLimit = batchSize
            request.fetchOffset = last
            let required = entity.relationshipsByName.values.filter {
                !$0.isTransient && (!$0.isOptional || $0.minCount > 0 || $0.maxCount > 1)
            }
            request.relationshipKeyPathsForPrefetching = required.map(\.name)
            let objects = try context.fetch(request).compactMap { $0 as? NSManagedObject }
            var errors: [NSError] = []
            for object in objects where errors.count < 100 {
                do { try object.validateForUpdate() } catch { errors.append(error as NSError) }
            }
            if !errors.isEmpty { throw failure(errors, entity) }
            context.refreshAllObjects()
            last += objects.count
            if objects.count < batchSize { return }
            try didValidate(last)
        }
    }

    private func failure(_ errors: [NSError], _ entity: NSEntityDescription) -> NSError {
        let all = errors.flatMap { $0.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [$0] }
        let first = all[0]
        let property = first.userInfo[NSValidationKeyErrorKey] as? String
        var info: [String: Any] = [NSDetailedErrorsKey: all, MigrationError.entityKey: entity.name ?? "?"]
        if let property { info[MigrationError.propertyKey] = property }
        return CoreDataError.make(
            NSMigrationError, "The store cannot be migrated.",
            reason: "\(all.count == 1 ? "An object" : "Objects") of “\(entity.name ?? "?")” would break the rules of the new model: "
                + first.localizedDescription,
            next: "Set a value in the mapping or in a policy, or relax the rule.", cause: first, info: info)
    }
}
