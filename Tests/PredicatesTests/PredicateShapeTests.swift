import Foundation
import PredicateCases
import TestSupport
import Testing

@testable import Predicates

/// Shapes of predicates, by which stores keep translations.
@Suite struct PredicateShapeTests {
    private static let seed = TestSeed.current(for: "PredicateShapeTests")

    private func trees(_ count: Int, _ body: (PredicateTree) throws -> Void) rethrows {
        var made = 0
        var round: UInt64 = 0
        while made < count {
            round += 1
            var cases = LanguageCases(seed: Self.seed &+ round)
            let entity = cases.model.entities[0]
            for _ in 0..<50 {
                made += 1
                try body(cases.predicate([LanguageCases.Scope(variable: nil, entity: entity)], depth: 3))
            }
        }
    }

    private func shape(_ tree: PredicateTree) -> PredicateShape {
        var shape = PredicateShape { _, _, _ in }
        shape.append(tree)
        return shape
    }

    /// The tree with nil for every constant, the two bounds of BETWEEN apart.
    private func erased(_ tree: PredicateTree) -> PredicateTree {
        var next = 0
        return tree.numberingConstants(from: &next).erasingConstants
    }

    @Test func constantsAreNumberedInTheOrderOfTheShape() {
        trees(2000) { tree in
            let constants = shape(tree).constants
            var next = 0
            let numbered = tree.numberingConstants(from: &next)
            expect(next, equals: constants.count, "seed \(Self.seed): \(tree)")
            for constant in numbered.numberedConstants {
                expect(constants[constant.number], equals: constant.value, "seed \(Self.seed): \(tree)")
            }
        }
    }

    @Test func treesOfOneShapeDifferInConstantsOnly() {
        var known: [[UInt8]: PredicateTree] = [:]
        trees(3000) { tree in
            let key = shape(tree).key
            let plain = erased(tree)
            if let other = known[key] { expect(other, equals: plain, "seed \(Self.seed): \(tree) and \(other) have one shape") }
            known[key] = plain
        }
        #expect(known.count > 1000)
    }

    @Test func codeHasNoShape() {
        #expect(shape(.block(PredicateBlock(NSPredicate(value: true)))).isUnique)
        #expect(shape(.not(.compare(.anyKey, .equal, .constant(.null)))).isUnique)
        #expect(!shape(.compare(.keyPath(["a"]), .equal, .constant(.null))).isUnique)
    }
}

extension PredicateTree {
    fileprivate var numberedConstants: [(value: PropertyValue, number: Int)] {
        var found: [(value: PropertyValue, number: Int)] = []
        collect(&found)
        return found
    }

    private func collect(_ found: inout [(value: PropertyValue, number: Int)]) {
        switch self {
        case .true, .false, .block: return
        case .not(let part): part.collect(&found)
        case .and(let parts), .or(let parts): for part in parts { part.collect(&found) }
        case .comparison(let comparison):
            comparison.left.collect(&found)
            comparison.right.collect(&found)
        }
    }

    fileprivate func collectConstants(_ found: inout [(value: PropertyValue, number: Int)]) { collect(&found) }

    fileprivate var erasingConstants: PredicateTree { rebuilt { $0.erasingConstants } }
}

extension ExpressionTree {
    fileprivate func collect(_ found: inout [(value: PropertyValue, number: Int)]) {
        if case .numberedConstant(let value, let number) = self { found.append((value, number)) }
        if case .subquery(_, _, let condition) = self { condition.collectConstants(&found) }
        if case .conditional(let condition, _, _) = self { condition.collectConstants(&found) }
        for part in parts { part.collect(&found) }
    }

    fileprivate var erasingConstants: ExpressionTree {
        switch self {
        case .constant, .numberedConstant: return .constant(.null)
        default: return rebuilt({ $0.erasingConstants }, { condition, _ in condition.erasingConstants })
        }
    }
}
