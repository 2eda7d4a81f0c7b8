internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The saved objects of mappings with the program's policies, if a policy looks for them.
///
/// They take memory only after a policy has looked for them; see ``MigrationDestinationContext``.
final class PolicyObjects {
    private enum State {
        /// No policy has looked yet.
        case unasked
        /// They are held, and are no faults.
        case held(Set<NSManagedObject>)
        /// There are more than may be held.
        case tooMany(Int)
    }

    private unowned let run: MigrationRun
    private var state = State.unasked
    /// Why the objects could not be given, until it is thrown.
    private var failure: NSError?

    init(_ run: MigrationRun) { self.run = run }

    /// Returns the objects, which are loaded the first time. If they cannot be, ``check()`` throws afterwards.
    func objects(in context: NSManagedObjectContext) -> Set<NSManagedObject> {
        do {
            if case .unasked = state { try load(in: context) }
            switch state {
            case .held(let objects): return objects
            case .unasked: return []
            case .tooMany(let count): throw tooMany(count)
            }
        } catch {
            failure = failure ?? error as NSError
            return []
        }
    }

    /// Throws the error that could not be thrown to the running policy.
    func check() throws {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    /// Whether an object is held.
    func holds(_ object: NSManagedObject) -> Bool {
        guard case .held(let objects) = state else { return false }
        return objects.contains(object)
    }

    /// Whether any object is held.
    var isHolding: Bool {
        if case .held = state { true } else { false }
    }

    /// Adds objects that are about to be saved, and removes those that are about to be deleted.
    func note(inserted: Set<NSManagedObject>, deleted: Set<NSManagedObject>) {
        guard case .held(var objects) = state else { return }
        // Another reference to the set would copy it.
        state = .unasked
        objects.formUnion(inserted)
        objects.subtract(deleted)
        state = objects.count > run.manager.heldLimit ? .tooMany(objects.count) : .held(objects)
    }

    /// Loads the objects of the new store, except those of mappings with the standard policy.
    private func load(in context: NSManagedObjectContext) throws {
        var ids: [NSManagedObjectID] = []
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObjectID>()
            request.entity = entity
            request.includesSubentities = false
            request.includesPendingChanges = false
            request.resultType = .managedObjectIDResultType
            let standard = run.plans.filter { $0.isStandard && $0.destinationEntity === entity }.map(\.index)
            for id in try context.fetch(request) where !standard.contains(where: { run.associations[$0].isDestination(id) }) {
                ids.append(id)
            }
        }
        guard ids.count <= run.manager.heldLimit else {
            state = .tooMany(ids.count)
            return
        }
        state = .held(
            Set(
                try Dictionary(grouping: ids, by: { ObjectIdentifier($0.entity) }).values.flatMap {
                    try MigrationSource.load($0, [], in: context)
                }))
    }

    private func tooMany(_ count: Int) -> NSError {
        MigrationError.make(
            NSEntityMigrationPolicyError, run.manager.workingMapping,
            reason:
                "The policy looks for an object among all that are registered with the destination context. Mappings with policies have made "
                + "\(count), and at most \(run.manager.heldLimit) are held for that.",
            next: "Find the object by a fetch request of the destination context, or keep it in the policy or in the manager's userInfo.")
    }
}
