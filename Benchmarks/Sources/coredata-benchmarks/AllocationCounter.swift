import CountAllocations

/// Counts the blocks that the heap hands out.
enum AllocationCounter {
    /// Runs code.
    ///
    /// - Parameter body: What is measured, on this thread.
    /// - Returns: How many blocks the heap has handed out meanwhile.
    static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = count_allocations()
        try body()
        return count_allocations() - before
    }
}
