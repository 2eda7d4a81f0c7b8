internal import CoreDataRuntime
internal import Foundation

extension Array where Element: AnyObject {
    /// Returns a set of the objects that `reference` returns for the elements, which keep them alive; for long lists, like
    /// ``forEachUncounted(_:)``.
    ///
    /// - Parameter areDistinct: Whether no two of the objects are equal. They are not compared then, which costs more than the rest.
    @inline(__always) func setUncounted<Object: NSObject>(
        _ reference: (Element) -> Unmanaged<Object>, areDistinct: ([Unmanaged<Object>]) -> Bool
    ) -> Set<Object> {
        if isEmpty { return [] }
        var references: [Unmanaged<Object>] = []
        references.reserveCapacity(count)
        forEachUncounted { references.append(reference($0)) }
        if areDistinct(references) {
            // The standard library's own way to build a set of distinct members.
            var builder = _SetBuilder<Object>(count: count)
            forEachRetained(references) { builder.add(member: $0) }
            return builder.take()
        }
        var set = Set<Object>(minimumCapacity: count)
        // `insert` returns the member, with an extra retain and release; `update` returns nothing for a new one.
        forEachRetained(references) { set.update(with: $0) }
        return set
    }
}

/// Calls `body` with each object, in chunks: each reference count operation waits for the preceding write, which for a set goes to a random
/// place.
@inline(__always) private func forEachRetained<Object: NSObject>(_ references: [Unmanaged<Object>], _ body: (consuming Object) -> Void) {
    let size = 64
    for start in stride(from: 0, to: references.count, by: size) {
        let end = min(start + size, references.count)
        for next in end..<min(end + size, references.count) { coredata_prefetch(references[next].toOpaque()) }
        for index in start..<end { _ = references[index].retain() }
        for index in start..<end { body(references[index].takeRetainedValue()) }
    }
}

extension Array where Element: NSManagedObject {
    /// The objects, which are distinct, as a set.
    var objectSet: Set<NSManagedObject> {
        setUncounted {
            Unmanaged.passUnretained($0)
        } areDistinct: { references in
            InternalChecks.require(Set(references.map { $0.toOpaque() }).count == references.count, "an object is in a list twice")
            return true
        }
    }

    /// The objects, each once, in their order.
    var distinct: [Element] {
        // Objects with ascending numbers are distinct, and stores mostly list them in this order.
        var last = Int64.min
        let isRising = allSatisfyUncounted { object in
            defer { last = object.number }
            return object.number > last
        }
        if isRising { return self }
        var known = Set<ObjectIdentifier>(minimumCapacity: count)
        let areDistinct = allSatisfyUncounted { known.insert(ObjectIdentifier($0)).inserted }
        if areDistinct { return self }
        known.removeAll(keepingCapacity: true)
        return filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    /// The IDs of saved objects as a set.
    var idSet: Set<NSManagedObjectID> {
        setUncounted { object in
            // The object holds the ID that it has made.
            if let made = object.madeID { return Unmanaged.passUnretained(made) }
            return Unmanaged.passUnretained(object.identifier.unchecked("the objects have been saved"))
        } areDistinct: {
            haveRisingKeys($0)
        }
    }
}

/// Returns whether IDs were numbered in their order, as a store mostly does for new objects. Equal IDs have equal keys.
@inline(__always) private func haveRisingKeys(_ references: [Unmanaged<NSManagedObjectID>]) -> Bool {
    var last = Int64.min
    for reference in references {
        let key = reference._withUnsafeGuaranteedRef { $0.key }
        if key <= last { return false }
        last = key
    }
    return true
}

extension Array where Element == NSManagedObjectID {
    /// The IDs as a set.
    var idSet: Set<NSManagedObjectID> {
        setUncounted {
            Unmanaged.passUnretained($0)
        } areDistinct: {
            haveRisingKeys($0)
        }
    }
}
