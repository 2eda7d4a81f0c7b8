import Foundation
import TestSupport
import Testing

@testable import Predicates
@testable import PropertyLists

/// Predicates at the limit of nesting, on the stack of a secondary thread. They hold in a debug build, and under the thread sanitizer as well.
@Suite struct NestingTests {
    private static func text(_ shape: (String, String, String), _ count: Int) -> String {
        String(repeating: shape.0, count: count) + shape.1 + String(repeating: shape.2, count: count)
    }

    /// What opens a level, the innermost, what closes a level, and how deep a level makes the tree.
    private static let shapes: [(opening: String, middle: String, closing: String, height: Int)] = [
        ("NOT ", "a == 1", "", 1), ("NOT (", "a == 1", ")", 1), ("a == 1 AND (b == 2 OR (", "a == 1", "))", 2), ("", "a == 1", " + b", 1),
        ("(1 + ", "b", ")", 1), ("-", "b", "", 1), ("", "a", "[0]", 1), ("a[", "0", "]", 1), ("abs(", "a", ")", 1), ("{", "b", "}", 1),
        ("SUBQUERY(a, $x, ", "a == 1", ").@count == 1", 3), ("TERNARY(", "a == 1", ", 1, 2) == 1", 2), ("$x := (", "a", ")", 1),
        ("CAST(", "a", ", 'NSString')", 1), ("FETCH(", "a", ", b, YES)", 1), ("a UNION (", "b", ")", 1),
    ]

    @Test func everyShapeOfPredicateFitsTheStackOfASecondaryThread() async {
        for shape in NestingTests.shapes {
            let format = NestingTests.text((shape.opening, shape.middle, shape.closing), (PredicateLimits.nesting - 2) / shape.height)
            let isDone = await withCheckedContinuation { continuation in
                let thread = Thread { continuation.resume(returning: NestingTests.isUsable(format)) }
                thread.stackSize = 512 * 1024
                thread.start()
            }
            #expect(isDone, "\(format)")
        }
    }

    @Test func anArchiveAtItsLimitFitsThatStackAsWellAndADeeperOneIsAnError() async throws {
        for shape in NestingTests.shapes where shape.height == 1 {
            for levels in [PredicateLimits.archiveNesting - 3, PredicateLimits.archiveNesting + 5] {
                let format = NestingTests.text((shape.opening, shape.middle, shape.closing), levels)
                let isDone = await withCheckedContinuation { continuation in
                    let thread = Thread { continuation.resume(returning: NestingTests.isArchived(format)) }
                    thread.stackSize = 512 * 1024
                    thread.start()
                }
                expect(isDone, equals: (levels < PredicateLimits.archiveNesting), "\(format)")
            }
        }
    }

    /// Archives and reads back; a sign comes back as a subtraction.
    private static func isArchived(_ format: String) -> Bool {
        let tree = try? PredicateTree(parsing: format)
        let expression = try? ExpressionTree(parsing: format)
        guard let tree = tree ?? expression.map({ .compare($0, .equal, .constant(.int64(1))) }) else { return false }
        guard let data = try? PredicateArchive.data(of: NSPredicate(tree: tree)) else { return false }
        guard let read = try? PredicateArchive.predicate(from: data).tree() else { return false }
        return read == tree || format.hasPrefix("-")
    }

    /// Reads, prints, compares, hashes, substitutes, compiles and evaluates.
    private static func isUsable(_ format: String) -> Bool {
        let tree = try? PredicateTree(parsing: format)
        let expression = try? ExpressionTree(parsing: format)
        guard let tree = tree ?? expression.map({ .compare($0, .equal, .constant(.int64(1))) }) else { return false }
        guard let again = try? PredicateTree(parsing: tree.description), again == tree, again.hashValue == tree.hashValue else {
            return false
        }
        let replaced = tree.substituting(["other": .constant(.null)])
        _ = try? NSPredicate(tree: replaced).matches(["a": 1, "b": 2])
        return replaced == tree
    }

    @Test func aTreeOneLevelDeeperIsAnErrorWhereverTheLevelsAre() throws {
        for shape in NestingTests.shapes {
            let format = NestingTests.text((shape.opening, shape.middle, shape.closing), PredicateLimits.nesting + 1)
            let error = try #require(throws: InvalidPredicateError.self, "\(format)") {
                _ = shape.middle.contains("==") ? try PredicateTree(parsing: format) as Any : try ExpressionTree(parsing: format) as Any
            }
            expect(error.kind, equals: .tooDeep, "\(format)")
        }
        // Chains within parentheses do not add up to more than the limit.
        let chain = String(repeating: " + 1", count: 60)
        let error = try #require(throws: InvalidPredicateError.self) { try ExpressionTree(parsing: "((a\(chain))\(chain))\(chain)") }
        expect(error.kind, equals: .tooDeep)
        // Nor do trees that are given as arguments.
        let deep = try ExpressionTree(parsing: String(repeating: "-", count: 90) + "a")
        #expect(throws: InvalidPredicateError.self) { try ExpressionTree(parsing: String(repeating: "-", count: 20) + "%@", deep) }
    }

    @Test(
        "Reading and printing take steps in line with the length of the format",
        arguments: [
            ("", " OR ", "a == 1", ""), ("", " OR ", "name BEGINSWITH[cd] 'x'", ""), ("", " AND ", "b IN {1, 2, 3}", ""),
            ("", " OR ", "ANY c.d.e > 1.5 + 2", ""), ("", " OR ", "(NOT f(a, 2) == $x)", ""), ("a IN {", ", ", "'x'", "}"),
            ("a IN {", ", ", "b.c.d.e.f", "}"),
            ("a == '", "", "ą\\'", "'"), ("f(", ", ", "a[1]", ") == 1"), ("", "", "f:", "(1) == 1"), ("a == 1", "", " ", ""),
        ])
    func steps(opening: String, separator: String, piece: String, closing: String) throws {
        func format(_ length: Int) -> String {
            opening + Array(repeating: piece, count: length / (piece + separator).utf8.count).joined(separator: separator) + closing
        }
        func stepsPerByte(_ text: String) throws -> Double {
            let count = try WorkCount.counting { _ = try PredicateTree(parsing: text).description }
            return Double(count.steps) / Double(text.utf8.count)
        }
        let small = try stepsPerByte(format(1_000))
        let large = try stepsPerByte(format(30_000))
        #expect(small > 0.5)
        // Quadratic would be thirty times as many.
        #expect(large < small * 1.5, "\(piece): \(small) steps a byte at 1 KB, \(large) at 30 KB")
    }
}
