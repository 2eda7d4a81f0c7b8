import Foundation
import TestSupport
import Testing

@testable import Predicates

/// A whole predicate as a part of another, which Foundation on Linux has no node for.
private struct Embedded<Input>: StandardPredicateExpression, TranslatableExpression, @unchecked Sendable {
    // Unchecked: predicates and variables are immutable.
    let predicate: Foundation.Predicate<Input>
    let variable: PredicateExpressions.Variable<Input>

    init(predicate: Foundation.Predicate<Input>, variable: PredicateExpressions.Variable<Input>) {
        self.predicate = predicate
        self.variable = variable
    }

    init(from decoder: any Decoder) throws { throw CocoaError(.coderReadCorrupt) }
    func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }

    func evaluate(_ bindings: PredicateBindings) throws -> Bool { try predicate.evaluate(variable.evaluate(bindings)) }

    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        translation.bind(predicate.variable, to: try translation.expression(variable), name: "$0")
        return .predicate(try translation.predicate(predicate.expression, negated: negated))
    }
}

/// Conditions put together at random: the tree answers as Foundation does, however they are negated.
@Suite struct RandomTranslationTests {
    private typealias Nodes = PredicateExpressions
    private typealias Condition = any StandardPredicateExpression<Bool>

    private final class Item {
        let title: String
        let note: String?
        let rating: Double?
        let isHidden: Bool?
        let parts: [Item]

        init(_ random: inout SeededGenerator, depth: Int = 2) {
            title = ["a", "b", "é", ""].randomElement(using: &random)!
            note = ["a", "b", nil].randomElement(using: &random)!
            rating = [1, 2.5, nil].randomElement(using: &random)!
            isHidden = [true, false, nil].randomElement(using: &random)!
            parts = depth == 0 ? [] : (0..<Int.random(in: 0...2, using: &random)).map { _ in Item(&random, depth: depth - 1) }
        }
    }

    private func and(_ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>) -> Condition {
        Nodes.build_Conjunction(lhs: left, rhs: right)
    }

    private func or(_ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>) -> Condition {
        Nodes.build_Disjunction(lhs: left, rhs: right)
    }

    private func not(_ part: some StandardPredicateExpression<Bool>) -> Condition { Nodes.build_Negation(part) }

    private func choose(
        _ test: some StandardPredicateExpression<Bool>, _ yes: some StandardPredicateExpression<Bool>,
        _ no: some StandardPredicateExpression<Bool>
    ) -> Condition { Nodes.build_Conditional(test, yes, no) }

    private func equal(_ left: some StandardPredicateExpression<Bool>, _ right: some StandardPredicateExpression<Bool>) -> Condition {
        Nodes.build_Equal(lhs: left, rhs: right)
    }

    /// Conditions without parts.
    private let leaves: [Foundation.Predicate<Item>] = [
        #Predicate { $0.title == "a" },
        #Predicate { $0.note == "a" },
        #Predicate { $0.note != "b" },
        #Predicate { $0.rating == nil },
        #Predicate { $0.isHidden != true },
        #Predicate { ($0.rating ?? 2) > 1.5 },
        #Predicate { $0.note?.contains("a") ?? true },
        #Predicate { $0.note?.contains("a") == false },
        #Predicate { $0.parts.contains { $0.note == "a" } },
        #Predicate { $0.parts.allSatisfy { !($0.rating == 1) } },
        #Predicate { item in !item.parts.contains { $0.note != item.note } },
    ]

    private func condition(_ item: Nodes.Variable<Item>, _ random: inout SeededGenerator, depth: Int) -> Condition {
        if depth == 0 { return Embedded(predicate: leaves.randomElement(using: &random)!, variable: item) }
        func part() -> Condition { condition(item, &random, depth: depth - 1) }
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: and(part(), part())
        case 1: or(part(), part())
        case 2, 3: not(part())
        case 4: choose(part(), part(), part())
        default: equal(part(), part())
        }
    }

    @Test func conditionsPutTogetherAtRandomAnswerAsFoundationDoes() throws {
        let seed = TestSeed.current(for: "RandomTranslationTests.conditionsPutTogetherAtRandomAnswerAsFoundationDoes")
        var random = SeededGenerator(seed: seed)
        let items = (0..<40).map { _ in Item(&random) }
        let schema = PlainSchema()
        for _ in TestRounds(seconds: 2.7, atLeast: 20) {
            let predicate = Foundation.Predicate<Item> { condition($0, &random, depth: 3) }
            let tree = try PredicateTree(predicate)
            let logics = try [NilLogic.twoValued, .threeValued].map { try tree.compiled(for: schema, logic: $0) }
            for item in items {
                let expected = try predicate.evaluate(item)
                let box = PlainValue(original: item, value: try PropertyValue(plain: item))
                for logic in logics {
                    let found = try withExtendedLifetime(box) { try logic.matches(box.subject) }
                    expect(found, equals: expected, "seed \(seed): \(tree)")
                }
            }
        }
    }
}
