internal import Foundation

extension Array {
    /// The elements of both, these first; a new array only where both hold something.
    func followed(by others: [Element]) -> [Element] { others.isEmpty ? self : isEmpty ? others : self + others }
}

extension Array where Element: AnyObject {
    /// Calls `body` with each element, which the array keeps alive: for long lists, where counting references costs more than the work.
    @inline(__always) func forEachUncounted(_ body: (Element) throws -> Void) rethrows {
        for index in indices {
            // Read as bits, so that no reference is made on the way.
            let element = withUnsafeBytes {
                $0.load(fromByteOffset: index * MemoryLayout<Element>.stride, as: Unmanaged<Element>.self)
            }
            try element._withUnsafeGuaranteedRef(body)
        }
    }

    /// The results of `body` for each element, as ``forEachUncounted(_:)``.
    @inline(__always) func mapUncounted<Result>(_ body: (Element) throws -> Result) rethrows -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(count)
        try forEachUncounted { results.append(try body($0)) }
        return results
    }

    /// The results of `body` for each element as a set, as ``forEachUncounted(_:)``.
    @inline(__always) func setUncounted<Result: Hashable>(_ body: (Element) throws -> Result) rethrows -> Set<Result> {
        var results = Set<Result>(minimumCapacity: count)
        // `insert` answers with the member, which counts it once more and back again; an update of nothing answers with nothing.
        try forEachUncounted { results.update(with: try body($0)) }
        return results
    }

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
