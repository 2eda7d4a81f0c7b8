internal import Synchronization

/// Counts what reading, printing and compiling cost, so that tests can hold the cost to the size of what is read without a clock.
///
/// Work is counted in debug builds only, and only within ``WorkCount/counting(_:)``.
final class WorkCount: Sendable {
    /// What the running task counts with.
    @TaskLocal static var current: WorkCount?

    /// Bytes looked at, words read, nodes moved and nodes written.
    private let total = Atomic<Int>(0)
    /// Predicates compiled for a schema.
    private let compiledTotal = Atomic<Int>(0)

    /// The steps counted so far.
    var steps: Int { total.load(ordering: .relaxed) }
    /// The compilations counted so far.
    var compilations: Int { compiledTotal.load(ordering: .relaxed) }

    /// Runs code and counts its work.
    ///
    /// - Parameter body: The code.
    /// - Returns: What was counted.
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

    /// Counts a predicate that is compiled.
    @inline(__always) static func compilation() {
        #if DEBUG
        current?.compiledTotal.add(1, ordering: .relaxed)
        #endif
    }

    /// What the running task counted with when this was made, for loops that would look it up at every step. Nothing in release builds.
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
