/// How much a test may still try: until its time is over, and at least a number of things.
///
/// `COREDATA_TEST_SECONDS` says for how long, for all tests; `COREDATA_TEST_ROUNDS` says how many things are tried instead, whatever their time.
package struct TestBudget: Sendable {
    private let end: ContinuousClock.Instant
    private let minimum: Int
    private let count: Int?

    /// Creates a budget, whose time begins now.
    ///
    /// - Parameters:
    ///   - seconds: For how long things are tried.
    ///   - minimum: How many are tried however slow the machine is: enough that each kind of thing is seen once.
    package init(seconds: Double, atLeast minimum: Int = 1) {
        self.init(seconds: TestTime.seconds(seconds), atLeast: minimum, count: TestTime.rounds)
    }

    init(seconds: Double, atLeast minimum: Int, count: Int?) {
        end = .now + .seconds(seconds)
        self.minimum = minimum
        self.count = count
    }

    /// Returns whether one more is to be tried after so many.
    package func isLeft(after done: Int) -> Bool {
        if let count { return done < count }
        return done < minimum || .now < end
    }
}
