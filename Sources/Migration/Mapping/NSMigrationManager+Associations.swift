internal import Foundation
public import ObjectGraph
internal import Predicates

extension NSMigrationManager {
    /// Returns the source entity of an entity mapping, as an entity of ``sourceContext``; nil if it has none.
    public func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceContext.persistentStoreCoordinator?.managedObjectModel.entitiesByName[$0] }
    }

    /// Returns the destination entity of an entity mapping, as an entity of ``destinationContext``; nil if it has none.
    public func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationContext.persistentStoreCoordinator?.managedObjectModel.entitiesByName[$0] }
    }

    /// Records that an entity mapping made a destination object from a source object. Without this, the object gets no relationships, and the
    /// relationships of others do not lead to it. Call it during a migration.
    public func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject, for entityMapping: NSEntityMapping
    ) {
        run?.associate(sourceInstance, destinationInstance, entityMapping)
    }

    /// Returns the destination objects that an entity mapping has made of source objects.
    ///
    /// - Parameters:
    ///   - mappingName: The name of the entity mapping.
    ///   - sourceInstances: The source objects; nil for all.
    /// - Returns: The objects in the order of the source objects, each once.
    public func destinationInstances(forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        run?.destinations(mappingName, of: sourceInstances) ?? []
    }

    /// Returns the source objects that an entity mapping has made destination objects of.
    ///
    /// - Parameters:
    ///   - mappingName: The name of the entity mapping.
    ///   - destinationInstances: The destination objects; nil for all.
    /// - Returns: The objects in the order of the destination objects, each once.
    public func sourceInstances(forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        run?.sources(mappingName, of: destinationInstances) ?? []
    }

    /// Returns a request for the objects of a source entity, without those of its subentities; source expressions call it.
    ///
    /// - Throws: Code 134110 for an unknown entity or a predicate that does not parse.
    public func fetchRequest(forSourceEntityNamed name: String, predicateString: String?) throws -> NSFetchRequest<any NSFetchRequestResult>
    {
        guard let entity = sourceContext.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name] else {
            throw MigrationError.make(
                NSMigrationError, workingMapping, reason: "The source model has no entity “\(name)”.",
                next: "Correct the source expression.")
        }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        request.includesSubentities = false
        if let predicateString, !predicateString.isEmpty, predicateString != "TRUEPREDICATE" {
            do { request.predicate = try NSPredicate(parsing: predicateString) } catch {
                throw MigrationError.make(
                    NSMigrationError, workingMapping, reason: "The predicate of the source objects does not parse: \(error)",
                    next: "Correct it.", cause: error)
            }
        }
        return request
    }

    // MARK: The standard policy

    func hasMapping(named name: String) -> Bool { run?.tables[name] != nil }

    func makeInstance(from source: NSManagedObject, in mapping: NSEntityMapping, by policy: NSEntityMigrationPolicy) throws {
        guard let run, let plan = run.plan(of: mapping) else { throw Self.outsideOfMigration(mapping) }
        guard let entity = plan.destinationEntity, !entity.isAbstract else { return }
        let object = NSManagedObject(entity: entity, insertInto: destinationContext)
        let scope = ExpressionScope(manager: self, policy: policy, mapping: mapping, source: source, destination: object)
        try plan.setAttributes(of: object, from: source, scope)
        plan.setRelationshipsAtOnce(of: object, from: source, run)
        run.associate(source, object, plan.index)
    }

    func setRelationships(of object: NSManagedObject, in mapping: NSEntityMapping, by policy: NSEntityMigrationPolicy) throws {
        guard let run, let plan = run.plan(of: mapping) else { throw Self.outsideOfMigration(mapping) }
        if plan.relationships.isEmpty { return }
        let source = run.source(of: object, plan.index)
        let scope = ExpressionScope(manager: self, policy: policy, mapping: mapping, source: source, destination: object)
        try run.setRelationships(of: object, from: source, plan, scope)
    }

    private static func outsideOfMigration(_ mapping: NSEntityMapping) -> NSError {
        MigrationError.make(
            NSEntityMigrationPolicyError, mapping, reason: "The policy is used with a mapping that the manager does not migrate by.",
            next: "Call super with the mapping and the manager that the policy was given.")
    }
}
