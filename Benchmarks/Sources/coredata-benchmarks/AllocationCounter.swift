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

    /// Begins to count the allocations of all threads.
    ///
    /// - Returns: The number so far, for ``endCounting(since:)``.
    static func beginCounting() -> Int { count_all_allocations(1) }

    /// Ends the counting.
    ///
    /// - Returns: The number of allocations since it has begun.
    static func endCounting(since begin: Int) -> Int { count_all_allocations(0) - begin }
}
