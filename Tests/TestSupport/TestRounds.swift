/// The numbers of a test's rounds, 0, 1, 2…, as long as its budget lasts; see ``TestBudget``.
///
/// ```swift
/// let seed = TestSeed.current(for: "Random lists")
/// for round in TestRounds(seconds: 2, atLeast: 10) {
///     var random = SeededGenerator(seed: seed &+ UInt64(round))
/// }
/// ```
///
/// Each has its own time. `COREDATA_TEST_FIRST` says the number of the first round.
package struct TestRounds: Sequence, IteratorProtocol {
    private let budget: TestBudget
    private let first: Int
    private var done = 0

    /// Creates the rounds of a test; its time begins now.
    ///
    /// - Parameters:
    ///   - seconds: For how long rounds are begun.
    ///   - minimum: How many there are however slow the machine is: enough that each kind of thing is seen once.
    package init(seconds: Double, atLeast minimum: Int = 1) {
        self.init(TestBudget(seconds: seconds, atLeast: minimum), first: TestTime.firstRound)
    }

    init(_ budget: TestBudget, first: Int = 0) {
        self.budget = budget
        self.first = first
    }

    package mutating func next() -> Int? {
        guard budget.isLeft(after: done) else { return nil }
        defer { done += 1 }
        return first + done
    }
}
