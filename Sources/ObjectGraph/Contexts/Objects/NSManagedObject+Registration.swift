internal import Platform
internal import Predicates

/// The locks of ``NSManagedObject/registry``: ``NSManagedObject/managedObjectContext`` is read on any queue while the object's own queue
/// may take the object out of its context.
///
/// Several, each for many objects: a lock in each object would cost memory, and one for all would make unrelated contexts wait.
enum RegistrationLocks {
    private static let locks = (0..<64).map { _ in Mutex() }

    /// Returns the lock of an object.
    static func lock(for object: NSManagedObject) -> Mutex {
        // Addresses are multiples of 16, and objects that are made together are next to each other.
        locks[Int(UInt(bitPattern: ObjectIdentifier(object)) >> 6 & 63)]
    }

    /// Takes objects out of their registries, which the context holds: many of them under one acquisition of all locks.
    static func leave(_ objects: [NSManagedObject]) {
        guard objects.count > locks.count else {
            for object in objects { object.setRegistry(nil) }
            return
        }
        // The order is always the same, and a thread that has only one of the locks waits for no other.
        for lock in locks { lock.lock() }
        objects.forEachUncounted { $0.registry = nil }
        for lock in locks { lock.unlock() }
    }
}

extension NSManagedObject {
    /// Enters or leaves a registry. A new object, which no other thread knows, takes its first one without this method.
    final func setRegistry(_ new: ObjectRegistry?) {
        let lock = RegistrationLocks.lock(for: self)
        lock.lock()
        let old = registry
        registry = new
        lock.unlock()
        // Released without the lock: it may be the last reference.
        withExtendedLifetime(old) {}
    }

    /// The registry, on any queue.
    final var sharedRegistry: ObjectRegistry? {
        let lock = RegistrationLocks.lock(for: self)
        lock.lock()
        defer { lock.unlock() }
        return registry
    }
}
