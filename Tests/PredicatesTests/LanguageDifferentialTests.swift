import Foundation
import PredicateCases
import TestSupport
import Testing

@testable import Predicates

/// Trees of every construct over random models: compiled for slots and for plain objects, in both logics, against a naive tree walker.
@Suite struct LanguageDifferentialTests {
    /// What a run has seen.
    private struct Tally {
        var cases = 0
        var matched = 0
        var refused = 0
    }

    @Test(arguments: 0..<2) func everyConstructAnswersAsANaiveTreeWalkerDoes(part: Int) throws {
        let seed = TestSeed.current(for: "everyConstructAnswersAsANaiveTreeWalkerDoes, part \(part)")
        var tally = Tally()
        var round: UInt64 = 0
        let budget = TestBudget(seconds: 5.3, atLeast: 5000)
        while budget.isLeft(after: tally.cases) {
            round += 1
            var trees = LanguageCases(seed: seed &+ round &* 2 &+ UInt64(part))
            let entity = trees.model.entities[0]
            let objects = (0..<12).map { _ in trees.object(entity, depth: 3) }
            for _ in 0..<40 {
                let tree = trees.predicate([LanguageCases.Scope(variable: nil, entity: entity)], depth: 2)
                guard try check(tree, entity, objects, &tally, "seed \(seed), round \(round), part \(part)") else { return }
            }
        }
        #expect(tally.matched > tally.cases / 10 && tally.matched < tally.cases * 9 / 10, "COREDATA_TEST_SEED=\(seed)")
        #expect(tally.refused < tally.cases / 20, "\(tally.refused) of \(tally.cases) cases were refused")
    }

    private func check(
        _ tree: PredicateTree, _ entity: RandomModel.Entity, _ objects: [RandomObject], _ tally: inout Tally, _ place: String
    ) throws -> Bool {
        let compiled: [(logic: NilLogic, test: CompiledPredicate)]
        let plain: CompiledPredicate
        do {
            compiled = try [NilLogic.threeValued, .twoValued].map { ($0, try tree.compiled(for: entity, logic: $0)) }
            plain = try tree.compiled(for: PlainSchema.shared, logic: .twoValued)
        } catch {
            Issue.record("\(place): \(tree) does not compile: \(error)")
            return false
        }
        let isPlainChecked = !tree.leadsOverManyToMany
        for object in objects {
            for (logic, test) in compiled {
                let expected = Result { try TreeWalker(object: object, logic: logic).answer(tree) == .yes }
                guard agree(Result { try test.matches(object.subject) }, expected, tree, object, &tally, "\(place), \(logic)") else {
                    return false
                }
                guard logic == .twoValued, isPlainChecked else { continue }
                let expectedOfPlain = Result { try TreeWalker(object: object, logic: logic, isPlain: true).answer(tree) == .yes }
                let found = Result { try plain.matches(plain: object) }
                guard agree(found, expectedOfPlain, tree, object, &tally, "\(place), plain") else { return false }
            }
        }
        return true
    }

    /// Which of several mistakes is met first is not a rule, nor is whether an answer is known before one is met.
    private func agree(
        _ found: Result<Bool, any Error>, _ expected: Result<Bool, any Error>, _ tree: PredicateTree, _ object: RandomObject,
        _ tally: inout Tally, _ place: String
    ) -> Bool {
        tally.cases += 1
        switch (found, expected) {
        case (.success(let answer), .success(let expected)):
            if answer { tally.matched += 1 }
            if answer == expected { return true }
            Issue.record("\(place): \(tree) answers \(answer) for \(object.shown)")
            return false
        case (.failure(let error), .success(let expected)):
            Issue.record("\(place): \(tree) fails instead of answering \(expected): \(error)")
            return false
        default:
            tally.refused += 1
            return true
        }
    }
}

extension PredicateTree {
    /// Whether a path goes on from many objects to many: plain values become collections in collections, as in key-value coding.
    fileprivate var leadsOverManyToMany: Bool {
        description.contains("many.many") || description.contains("more.many")
    }
}
