internal import Foundation

extension NSManagedObjectContext {
    /// Retains or releases the registered objects as ``retainsRegisteredObjects`` requires.
    func updateRetained() {
        retained = [:]
        guard retainsRegisteredObjects else { return }
        retain(registry.all)
    }

    func retain(_ objects: [NSManagedObject]) {
        for object in objects { retained[ObjectIdentifier(object)] = object }
    }

    func release(_ objects: [NSManagedObject]) {
        if retained.isEmpty { return }
        for object in objects { retained[ObjectIdentifier(object)] = nil }
    }
}
