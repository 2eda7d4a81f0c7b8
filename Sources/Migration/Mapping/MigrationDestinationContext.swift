internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The context of the new store, in which policies find the objects that they have made.
///
/// The objects of a batch are saved and become faults. Policies were written for managers that save once, at the end: they look for their objects
/// among the registered or the inserted ones, and make those that they do not find. While a policy runs, this context therefore keeps the objects of
/// mappings with the program's policies, with their values, even those of much earlier batches.
// Confined to the thread that migrates, as the context itself.
final class MigrationDestinationContext: NSManagedObjectContext, @unchecked Sendable {
    /// The objects that policies have made; nil while no policy runs.
    var made: PolicyObjects?

    override var registeredObjects: Set<NSManagedObject> {
        // The objects that were loaded for this are registered with the context.
        _ = made?.objects(in: self)
        return super.registeredObjects
    }

    override var insertedObjects: Set<NSManagedObject> {
        guard let made else { return super.insertedObjects }
        return made.objects(in: self).subtracting(deletedObjects).union(super.insertedObjects)
    }
}
