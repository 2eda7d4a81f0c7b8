internal import Foundation

extension Array where Element: AnyObject {
    /// The elements in another order.
    ///
    /// The references are retained in the order in which they lie, which mostly is that of memory, and then placed: retaining them in the
    /// new order would miss the processor's cache at each.
    ///
    /// - Parameter indices: every index of the array, once.
    func permuted(by indices: [Int]) -> [Element] {
        // The standard library writes the count of what it builds, also into the storage that all empty arrays of all threads share.
        guard count > 1 else { return self }
        return [Element](unsafeUninitializedCapacity: count) { target, initialized in
            withUnsafeBufferPointer { source in
                for element in source { _ = Unmanaged.passRetained(element) }
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                let references = UnsafeRawPointer(from).assumingMemoryBound(to: UnsafeRawPointer.self)
                let places = UnsafeMutableRawPointer(to).assumingMemoryBound(to: UnsafeRawPointer.self)
                for (place, index) in indices.enumerated() { places[place] = references[index] }
            }
            initialized = count
        }
    }
}
