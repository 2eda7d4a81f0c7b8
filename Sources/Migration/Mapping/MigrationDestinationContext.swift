internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The context of the new store, in which policies find what they have made.
///
/// What a batch has made is saved and becomes faults. Policies were written for managers that save once, at the end: they look among the registered or the
/// inserted objects for what they have made, and make what they do not find. While a policy is at work, this context therefore has the objects that mappings
/// with policies of the program have made, with their values, however many batches ago.
// Confined to the thread that migrates, as the context itself.
final class MigrationDestinationContext: NSManagedObjectContext, @unchecked Sendable {
    /// What policies have made; nil while none is at work.
    var made: PolicyObjects?

    override var registeredObjects: Set<NSManagedObject> {
        // Those that were loaded for this are registered with it.
        _ = made?.objects(in: self)
        return super.registeredObjects
    }

    override var insertedObjects: Set<NSManagedObject> {
        guard let made else { return super.insertedObjects }
        return made.objects(in: self).subtracting(deletedObjects).union(super.insertedObjects)
    }
}
