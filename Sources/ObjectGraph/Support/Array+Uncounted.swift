internal import CoreDataRuntime
internal import Foundation

extension Array {
    /// Returns the elements of this array followed by others; creates a new array only if both have elements.
    package func appending(contentsOf others: [Element]) -> [Element] { others.isEmpty ? self : isEmpty ? others : self + others }
}

extension Array where Element: AnyObject {
    /// Calls `body` with each element without counting references, because the array keeps the elements alive: for long lists, where counting costs
    /// more than the work.
    @inline(__always) func forEachUncounted(_ body: (Element) throws -> Void) rethrows {
        for index in indices {
            // The objects of a long list are scattered in memory: later ones are prefetched while this one is handled. At the end of the
            // list the last one is prefetched again.
            let next = uncounted(Swift.min(index &+ 12, count &- 1)).toOpaque()
            coredata_prefetch(next)
            coredata_prefetch(next + 64)
            try uncounted(index)._withUnsafeGuaranteedRef(body)
        }
    }

    /// Returns an element as an unmanaged reference, which the array keeps alive.
    @inline(__always) func uncounted(_ index: Int) -> Unmanaged<Element> {
        InternalChecks.require(index >= 0 && index < count, "there is no element \(index) among \(count)")
        return withUnsafeBytes { $0.load(fromByteOffset: index * MemoryLayout<Element>.stride, as: Unmanaged<Element>.self) }
    }

    /// Returns the range of consecutive elements that are alike, beginning with `start`.
    @inline(__always) func run(from start: Int, while isAlike: (Element, Element) -> Bool) -> Range<Int> {
        var end = start + 1
        uncounted(start)._withUnsafeGuaranteedRef { first in
            while end < count, uncounted(end)._withUnsafeGuaranteedRef({ isAlike(first, $0) }) { end += 1 }
        }
        return start..<end
    }

    /// Returns whether `predicate` holds for each element, iterating like ``forEachUncounted(_:)``.
    @inline(__always) func allSatisfyUncounted(_ predicate: (Element) -> Bool) -> Bool {
        for index in indices {
            coredata_prefetch(uncounted(Swift.min(index &+ 12, count &- 1)).toOpaque())
            if !uncounted(index)._withUnsafeGuaranteedRef(predicate) { return false }
        }
        return true
    }

    /// Returns the results of `body` for each element, iterating like ``forEachUncounted(_:)``.
    @inline(__always) func mapUncounted<Result>(_ body: (Element) throws -> Result) rethrows -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(count)
        try forEachUncounted { results.append(try body($0)) }
        return results
    }

    /// Returns the elements for which `predicate` holds; the array itself if it holds for all.
    @inline(__always) func keeping(_ predicate: (Element) throws -> Bool) rethrows -> [Element] {
        var kept: [Element]?
        var index = 0
        try forEachUncounted { element in
            let isKept = try predicate(element)
            if kept != nil {
                if isKept { kept?.append(element) }
            } else if !isKept {
                kept = Array(self[..<index])
            }
            index += 1
        }
        return kept ?? self
    }

    /// Returns the elements in another order.
    ///
    /// The references are retained in their original order, which is mostly that of memory, and then placed: retaining them in the new
    /// order would miss the processor's cache each time.
    ///
    /// - Parameter indices: Every index of the array, once.
    func permuted(by indices: [Int]) -> [Element] {
        // The standard library writes the count of the array it builds, also to the empty storage shared by all threads.
        guard count > 1 else { return self }
        return [Element](unsafeUninitializedCapacity: count) { target, initialized in
            InternalChecks.require(indices.sorted().elementsEqual(self.indices), "not every index is there once")
            // Each reference is counted once for the new array, and then moved as bits to a place of its own.
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
