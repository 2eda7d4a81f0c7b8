internal import ObjectGraph

/// Determines whether a policy class overrides ``NSEntityMigrationPolicy/createRelationships(forDestination:in:manager:)``.
///
/// Without an override, the relationships are those of the mapping, and can be set when the objects are made, which saves a second pass over all of
/// them. Swift cannot answer this question directly. So the method tables of the classes are compared, at the position where a known class differs
/// that overrides nothing else. If the tables do not look as expected, the class counts as overriding it.
enum PolicyOverrides {
    private final class Plain: NSEntityMigrationPolicy {}
    private final class Overriding: NSEntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {}
    }

    static func createsRelationships(_ policyClass: NSEntityMigrationPolicy.Type) -> Bool {
        if policyClass == NSEntityMigrationPolicy.self { return false }
        guard let place, let base = words(NSEntityMigrationPolicy.self), let own = words(policyClass), place < own.count else {
            return true
        }
        return own[place] != base[place]
    }

    /// The place of the method in the tables; nil if it is not certain.
    private static let place: Int? = {
        guard let base = words(NSEntityMigrationPolicy.self), let plain = words(Plain.self), let overriding = words(Overriding.self) else {
            return nil
        }
        let count = min(base.count, plain.count, overriding.count)
        let candidates = (0..<count).filter { base[$0] == plain[$0] && base[$0] != overriding[$0] }
        return candidates.count == 1 ? candidates[0] : nil
    }()

    /// Returns the words of a class after its header: pointers to its methods, after those of its superclasses.
    ///
    /// The runtime owns the memory and never releases it. The header states its size.
    private static func words(_ type: AnyClass) -> UnsafeBufferPointer<UInt>? {
        #if _runtime(_ObjC)
        return nil
        #else
        guard MemoryLayout<UInt>.size == 8 else { return nil }
        let start = unsafeBitCast(type, to: UnsafeRawPointer.self)
        let size = Int(start.load(fromByteOffset: 32, as: UInt32.self)) - Int(start.load(fromByteOffset: 36, as: UInt32.self))
        guard size > 56, size < 1 << 16 else { return nil }
        return UnsafeBufferPointer(start: (start + 56).assumingMemoryBound(to: UInt.self), count: (size - 56) / 8)
        #endif
    }
}
