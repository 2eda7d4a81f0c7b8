internal import CoreDataRuntime
internal import Foundation

extension Array where Element: AnyObject {
    /// The objects that `reference` makes of the elements, which keep them alive, as a set. For long lists, as ``forEachUncounted(_:)``.
    @inline(__always) func setUncounted<Object: NSObject>(_ reference: (Element) -> Unmanaged<Object>) -> Set<Object> {
        if isEmpty { return [] }
        var references: [Unmanaged<Object>] = []
        references.reserveCapacity(count)
        forEachUncounted { references.append(reference($0)) }
        var set = Set<Object>(minimumCapacity: count)
        // In pieces: each count waits for the write before it, which for a set goes to any place at all.
        let size = 64
        for start in stride(from: 0, to: references.count, by: size) {
            let end = Swift.min(start + size, references.count)
            for next in end..<Swift.min(end + size, references.count) { coredata_prefetch(references[next].toOpaque()) }
            for index in start..<end { _ = references[index].retain() }
            // `insert` answers with the member, which counts it once more and back again; an update of nothing answers with nothing.
            for index in start..<end { set.update(with: references[index].takeRetainedValue()) }
        }
        return set
    }
}

extension Array where Element: NSManagedObject {
    /// The objects as a set.
    var objectSet: Set<NSManagedObject> { setUncounted { Unmanaged.passUnretained($0) } }

    /// The IDs of objects that have been saved as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted { Unmanaged.passUnretained($0.identifier.known("the objects have been saved")) } }
}

extension Array where Element == NSManagedObjectID {
    /// The IDs as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted { Unmanaged.passUnretained($0) } }
}
