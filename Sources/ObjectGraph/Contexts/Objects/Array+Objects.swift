internal import CoreDataRuntime
internal import Foundation

extension [NSManagedObject] {
    /// Prefetches some objects and then their rows, which are scattered in memory, so that the processor waits for all of them at once.
    @inline(__always) func prefetchRows(from start: Int, count limit: Int) {
        let end = Swift.min(start &+ limit, count)
        if end &- start < 2 { return }
        for index in start..<end { coredata_prefetch(uncounted(index).toOpaque()) }
        for index in start..<end { coredata_prefetch(uncounted(index)._withUnsafeGuaranteedRef { $0.slots }) }
    }
}

extension Array where Element: NSManagedObject {
    /// Iterates like ``forEachUncounted(_:)`` and also prefetches the rows of the objects.
    @inline(__always) func forEachWithRow(_ body: (Element) throws -> Void) rethrows {
        for index in indices {
            let far = uncounted(Swift.min(index &+ 24, count &- 1)).toOpaque()
            coredata_prefetch(far)
            coredata_prefetch(far + 64)
            uncounted(Swift.min(index &+ 12, count &- 1))._withUnsafeGuaranteedRef { next in
                guard let slots = next.slots else { return }
                coredata_prefetch(slots - RowPrefix.size)
                coredata_prefetch(slots - RowBlock.distanceToFirstRow)
                coredata_prefetch(slots + 32)
                coredata_prefetch(slots + 96)
                if let snapshot = next.snapshotSlots, snapshot != slots {
                    coredata_prefetch(snapshot - RowPrefix.size)
                    coredata_prefetch(snapshot + 32)
                }
            }
            try uncounted(index)._withUnsafeGuaranteedRef(body)
        }
    }
}
