internal import Foundation

/// Determines whether a class overrides ``NSManagedObject/validateValue(_:forKey:)``.
///
/// A save calls an override for every property of every object; without one, calls with boxed values would cost more than the rest of the
/// save. Swift has no API for this, so the method tables of two classes that differ only in this method are compared once. If that does
/// not identify the method, every class counts as overriding it: slower, with the same results.
enum ValidationOverride {
    private class Overriding: NSManagedObject {
        override func validateValue(_ value: inout Any?, forKey key: String) throws {}
    }
    private class Plain: NSManagedObject {}

    static func exists(in objectClass: NSManagedObject.Type) -> Bool {
        guard let place else { return true }
        return words(objectClass)[place] != words(NSManagedObject.self)[place]
    }

    /// The word of the class metadata that holds the method.
    private static let place: Int? = {
        let base = words(NSManagedObject.self)
        let plain = words(Plain.self)
        let overriding = words(Overriding.self)
        let candidates = (headerWords..<wordCount).filter { base[$0] == plain[$0] && base[$0] != overriding[$0] }
        return candidates.count == 1 ? candidates[0] : nil
    }()

    /// The number of words before the methods: kind, superclass, sizes, descriptor.
    private static let headerWords = 6

    /// The size of NSManagedObject's part of the class metadata: the class size in the header minus the part before the address point.
    private static let wordCount: Int = {
        let start = UnsafeRawPointer(words(NSManagedObject.self))
        let size = Int(start.load(fromByteOffset: 32, as: UInt32.self)) - Int(start.load(fromByteOffset: 36, as: UInt32.self))
        return max(headerWords, size / MemoryLayout<UInt>.size)
    }()

    /// Returns the words of a class, which the program never releases: reads stay within the length that the class's header states.
    private static func words(_ objectClass: NSManagedObject.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(objectClass as AnyClass, to: UnsafePointer<UInt>.self)
    }
}
