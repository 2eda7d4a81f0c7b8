import CountAllocations

/// Counts heap allocations.
enum AllocationCounter {
    /// Runs a closure and counts its allocations.
    ///
    /// - Parameter body: The closure to measure, on this thread.
    /// - Returns: The number of allocations.
    static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = count_allocations()
        try body()
        return count_allocations() - before
    }
}
