internal import Foundation

/// Whether a class overrides ``NSManagedObject/validateValue(_:forKey:)``.
///
/// A save calls the override for every property of every object; where there is none, asking each by a boxed value would cost more than the
/// rest of the save. Swift has no call that tells, so the method tables of two classes are compared once, which differ in nothing but this
/// method. Should that not single it out, every class counts as overriding it: slower, with the same answers.
enum ValidationOverride {
    private class Overriding: NSManagedObject {
        override func validateValue(_ value: inout Any?, forKey key: String) throws {}
    }
    private class Plain: NSManagedObject {}

    static func exists(in objectClass: NSManagedObject.Type) -> Bool {
        guard let place else { return true }
        return words(objectClass)[place] != words(NSManagedObject.self)[place]
    }

    /// The word of the class that holds the method.
    private static let place: Int? = {
        let base = words(NSManagedObject.self)
        let plain = words(Plain.self)
        let overriding = words(Overriding.self)
        let candidates = (headerWords..<wordCount).filter { base[$0] == plain[$0] && base[$0] != overriding[$0] }
        return candidates.count == 1 ? candidates[0] : nil
    }()

    /// What stands before the methods: kind, superclass, sizes, descriptor.
    private static let headerWords = 6

    /// The length of NSManagedObject's part of a class, which its header tells: the size of the whole less what lies before its address.
    private static let wordCount: Int = {
        let start = UnsafeRawPointer(words(NSManagedObject.self))
        let size = Int(start.load(fromByteOffset: 32, as: UInt32.self)) - Int(start.load(fromByteOffset: 36, as: UInt32.self))
        return max(headerWords, size / MemoryLayout<UInt>.size)
    }()

    /// The words of a class, which the program holds for good: reads stay within the length that the class's header tells.
    private static func words(_ objectClass: NSManagedObject.Type) -> UnsafePointer<UInt> {
        unsafeBitCast(objectClass as AnyClass, to: UnsafePointer<UInt>.self)
    }
}
