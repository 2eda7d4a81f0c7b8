internal import CoreDataRuntime
internal import Foundation
internal import Platform

extension ObjectRegistry {
    /// The violated invariants of the table; empty if there are none. Call it on the context's queue, where no object changes its identity meanwhile.
    ///
    /// Each living object is filed under the key of its identity, belongs to the registry and is marked as filed, and no two of them have the same
    /// identity. Objects whose deinitialization has begun are about to leave, and may already have a successor.
    var invariantViolations: [String] {
        var violations: [String] = []
        var living: [(key: Int64, object: NSManagedObject)] = []
        lock.lock()
        violations += map.invariantViolations
        for index in 0...map.mask {
            let entry = map.entries[index]
            // The object leaves the table under the lock before its memory is freed.
            guard let pointer = entry.object, swift_tryRetain(pointer) != nil else { continue }
            living.append((entry.key, Unmanaged<NSManagedObject>.fromOpaque(pointer).takeRetainedValue()))
        }
        lock.unlock()
        // Without the lock: an object may be released here, and its deinitializer takes the lock.
        var keys: [Int64: [NSManagedObject]] = [:]
        for (key, object) in living {
            if object.identityKey != key {
                violations.append("an object is filed under \(key), its key is \(object.identityKey.map(String.init) ?? "none")")
            }
            if object.registry !== self { violations.append("an object of another context is filed") }
            if !object.flags.contains(.registered) { violations.append("an object is filed and does not know it") }
            for other in keys[key] ?? [] where Self.haveSameIdentity(object, other) {
                violations.append("two objects have the identity of the key \(key)")
            }
            keys[key, default: []].append(object)
        }
        return violations
    }

    private static func haveSameIdentity(_ object: NSManagedObject, _ other: NSManagedObject) -> Bool {
        if let origin = object.origin { return other.isIdentified(by: object.number, of: origin) }
        return object.madeID.map(other.isIdentified(by:)) ?? false
    }

    /// Stops the program if the table violates its invariants, and if the checks are on. Call it without the lock, on the context's queue.
    @inline(__always) func checkInvariants() {
        #if COREDATA_INTERNAL_CHECKS
        lock.lock()
        let size = map.mask
        lock.unlock()
        if InternalChecks.isDue(size) { InternalChecks.enforce(invariantViolations) }
        #endif
    }
}
