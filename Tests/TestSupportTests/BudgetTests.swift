import Testing

@testable import TestSupport

@Suite("Time of tests") struct BudgetTests {
    @Test("A budget without time has its minimum, and no more") func minimum() {
        let budget = TestBudget(seconds: 0, atLeast: 3, count: nil)
        expect((0..<5).map(budget.isLeft), equals: [true, true, true, false, false])
        expect(Array(TestRounds(budget)), equals: [0, 1, 2])
    }

    @Test("A budget lasts until its time is over") func time() {
        let start = ContinuousClock.now
        var count = 0
        for round in TestRounds(TestBudget(seconds: 0.05, atLeast: 1, count: nil)) {
            expect(round, equals: count)
            count += 1
        }
        #expect(ContinuousClock.now - start >= .seconds(0.05))
        #expect(count > 1)
    }

    @Test("A number of rounds counts whatever the time and the minimum are", arguments: [0.0, 1000])
    func count(seconds: Double) {
        let rounds = TestRounds(TestBudget(seconds: seconds, atLeast: 5, count: 2), first: 40)
        expect(Array(rounds), equals: [40, 41])
    }
}
