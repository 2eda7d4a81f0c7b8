internal import CoreDataRuntime
internal import Foundation

extension Array where Element: AnyObject {
    /// Returns a set of the objects that `reference` returns for the elements, which keep them alive; for long lists, like
    /// ``forEachUncounted(_:)``.
    @inline(__always) func setUncounted<Object: NSObject>(_ reference: (Element) -> Unmanaged<Object>) -> Set<Object> {
        if isEmpty { return [] }
        var references: [Unmanaged<Object>] = []
        references.reserveCapacity(count)
        forEachUncounted { references.append(reference($0)) }
        var set = Set<Object>(minimumCapacity: count)
        // In chunks: each reference count operation waits for the preceding write, which for a set goes to a random place.
        let size = 64
        for start in stride(from: 0, to: references.count, by: size) {
            let end = Swift.min(start + size, references.count)
            for next in end..<Swift.min(end + size, references.count) { coredata_prefetch(references[next].toOpaque()) }
            for index in start..<end { _ = references[index].retain() }
            // `insert` returns the member, with an extra retain and release; `update` returns nothing for a new one.
            for index in start..<end { set.update(with: references[index].takeRetainedValue()) }
        }
        return set
    }
}

extension Array where Element: NSManagedObject {
    /// The objects as a set.
    var objectSet: Set<NSManagedObject> { setUncounted { Unmanaged.passUnretained($0) } }

    /// The IDs of saved objects as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted { Unmanaged.passUnretained($0.identifier.known("the objects have been saved")) } }
}

extension Array where Element == NSManagedObjectID {
    /// The IDs as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted { Unmanaged.passUnretained($0) } }
}
