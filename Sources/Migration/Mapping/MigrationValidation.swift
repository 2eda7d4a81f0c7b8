internal import Foundation
internal import ObjectGraph
internal import Predicates

/// Validates all objects of the destination, which were saved before their relationships were there.
struct MigrationValidation {
    private let manager: NSMigrationManager

    init(_ manager: NSMigrationManager) { self.manager = manager }

    /// - Throws: Code 134110 with the errors of validation, which name entities and properties, under `NSDetailedErrorsKey`.
    func run() throws {
        let context = manager.destinationContext
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
            try validate(entity, context)
        }
    }

    private func validate(_ entity: NSEntityDescription, _ context: NSManagedObjectContext) throws {
        var last = 0
        while true {
            try manager.checkCancellation()
            let request = NSFetchRequest<any NSFetchRequestResult>()
            request.entity = entity
            request.includesSubentities = false
            request.returnsObjectsAsFaults = false
            request.fetchLimit = 20_000
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
            if objects.count < 20_000 { return }
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
