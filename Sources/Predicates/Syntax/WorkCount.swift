internal import Synchronization

/// Counts the steps of parsing, printing and compiling, so that tests can relate the cost to the size of the input without a clock.
///
/// Steps are counted in debug builds only, and only within ``WorkCount/counting(_:)``.
final class WorkCount: Sendable {
    /// The counter of the running task.
    @TaskLocal static var current: WorkCount?

    /// The number of bytes visited, tokens parsed, nodes moved and nodes written.
    private let total = Atomic<Int>(0)
    /// The number of predicates compiled for a schema.
    private let compiledTotal = Atomic<Int>(0)

    /// The number of steps so far.
    var steps: Int { total.load(ordering: .relaxed) }
    /// The number of compilations so far.
    var compilations: Int { compiledTotal.load(ordering: .relaxed) }

    /// Runs a closure and counts its steps.
    ///
    /// - Parameter body: The closure.
    /// - Returns: The counter.
    static func counting(_ body: () throws -> Void) rethrows -> WorkCount {
        let count = WorkCount()
        try $current.withValue(count, operation: body)
        return count
    }

    /// Counts steps of the running task.
    @inline(__always) static func step(_ steps: @autoclosure () -> Int = 1) {
        #if DEBUG
        current?.total.add(steps(), ordering: .relaxed)
        #endif
    }

    /// Counts a compilation.
    @inline(__always) static func compilation() {
        #if DEBUG
        current?.compiledTotal.add(1, ordering: .relaxed)
        #endif
    }

    /// The counter of the running task at the time when this was created, for loops that would otherwise look it up at every step. Empty in release
    /// builds.
    struct Running {
        #if DEBUG
        private let count = WorkCount.current
        /// Whether anybody counts.
        var isCounting: Bool { count != nil }
        #endif

        /// Counts steps.
        @inline(__always) func step(_ steps: @autoclosure () -> Int = 1) {
            #if DEBUG
            count?.total.add(steps(), ordering: .relaxed)
            #endif
        }
    }
}
