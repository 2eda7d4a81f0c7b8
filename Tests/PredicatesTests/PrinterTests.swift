import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct PrinterTests {
    @Test(
        "A predicate prints in canonical form and reads back as the same tree",
        arguments: [
            ("name='x' && age>5", "name == \"x\" AND age > 5"), ("any x.y in {1,2}", "ANY x.y IN {1, 2}"),
            ("name beginswith[dc] 'a'", "name BEGINSWITH[cd] \"a\""), ("(a = 1 or b = 2) and c = 3", "(a == 1 OR b == 2) AND c == 3"),
            ("a = 1 or b = 2 and c = 3", "a == 1 OR (b == 2 AND c == 3)"), ("not a = 1", "NOT a == 1"),
            ("! (a = 1 or b = 2)", "NOT (a == 1 OR b == 2)"),
            ("NONE a.b = 1", "NOT ANY a.b == 1"), ("a between {1,b}", "a BETWEEN {1, b}"), ("a <> nil", "a != nil"),
            ("a == YES", "a == TRUE"),
            ("a + b * 2 > 1", "a + (b * 2) > 1"), ("SUBQUERY(a, $x, $x.b == 1).@count > 0", "SUBQUERY(a, $x, $x.b == 1).@count > 0"),
            ("TERNARY(a == 1, 'x', 'y') == 'x'", "TERNARY(a == 1, \"x\", \"y\") == \"x\""), ("a[first] == b[1]", "a[FIRST] == b[1]"),
            ("#in == 'a\"b\\\\c\\n'", "#in == \"a\\\"b\\\\c\\n\""), ("TRUEPREDICATE", "TRUEPREDICATE"),
            ("a.@sum.b > 1.0", "a.@sum.b > 1.0"),
            ("CAST(5, 'NSDate') > b", "CAST(5.0, \"NSDate\") > b"),
            ("FUNCTION(a, 'substringFromIndex:', 2) == 'b'", "FUNCTION(a, \"substringFromIndex:\", 2) == \"b\""),
            ("SELF in {1}", "SELF IN {1}"), ("a == -5 - -b", "a == -5 - -b"), ("not not a == 1", "NOT NOT a == 1"),
            ("a == $VALUE", "a == $VALUE"),
            ("a UNION {1} == b", "a UNION {1} == b"), ("a not in {1}", "NOT a IN {1}"),
        ])
    func canonicalForm(format: String, canonical: String) throws {
        let tree = try PredicateTree(parsing: format)
        expect(tree.description, equals: canonical)
        try expect(PredicateTree(parsing: canonical), equals: tree)
    }

    @Test func constantsWithoutALiteralReadBackAsThemselves() throws {
        let values: [PropertyValue] = [
            .date(Date(timeIntervalSinceReferenceDate: 694_224_000.123456)), .uuid(UUID()), .data(Data([0, 1, 255])),
            .url(try #require(URL(string: "https://example.org/a?b=c"))), .decimal(try #require(Decimal(string: "12.340001"))),
            .double(.infinity),
            .double(1e300), .double(-0.0), .string("'\"\\%@\t\r\n\u{301}😀"), .array([.null, .bool(true), .array([])]),
        ]
        for value in values {
            let tree = PredicateTree.compare(.path("a"), .equal, .constant(value))
            try expect(PredicateTree(parsing: tree.description), equals: tree, "\(tree)")
        }
    }

    @Test func randomTreesReadBackAsThemselves() throws {
        let seed = TestSeed.current(for: "randomTreesReadBackAsThemselves")
        var trees = RandomTrees(seed: seed)
        for _ in TestRounds(seconds: 5, atLeast: 500) {
            let tree = trees.predicate(depth: 3)
            try expect(PredicateTree(parsing: tree.description), equals: tree, "COREDATA_TEST_SEED=\(seed): \(tree)")
        }
    }
}

/// Makes trees that a format string can hold.
struct RandomTrees {
    var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func predicate(depth: Int) -> PredicateTree {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &random) {
        case 0...3:
            return .comparison(
                PredicateComparison(
                    left: expression(depth: depth),
                    operator: [.equal, .notEqual, .lessThan, .like, .isIn, .contains, .beginsWith].randomElement(using: &random) ?? .equal,
                    right: expression(depth: depth), modifier: [.direct, .direct, .any, .all].randomElement(using: &random) ?? .direct,
                    options: PredicateComparison.Options(rawValue: Int.random(in: 0..<16, using: &random))))
        case 4: return .and((0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth - 1) })
        case 5: return .or((0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth - 1) })
        case 6: return .not(predicate(depth: depth - 1))
        default: return Bool.random(using: &random) ? .true : .false
        }
    }

    mutating func expression(depth: Int) -> ExpressionTree {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 5), using: &random) {
        case 0, 1: return .keyPath((0..<Int.random(in: 1...3, using: &random)).map { _ in key() })
        case 2, 3: return .constant(constant())
        case 4: return Bool.random(using: &random) ? .evaluatedObject : .variable("v")
        case 5:
            return .arithmetic(
                ExpressionTree.ArithmeticOperator.allCases.randomElement(using: &random) ?? .add, expression(depth: depth - 1),
                expression(depth: depth - 1))
        case 6: return .function("sum", [expression(depth: depth - 1), expression(depth: depth - 1)])
        case 7: return .subquery(expression(depth: depth - 1), variable: "x", predicate(depth: depth - 1))
        case 8: return .conditional(predicate(depth: depth - 1), expression(depth: depth - 1), expression(depth: depth - 1))
        case 9: return .element(expression(depth: depth - 1), .at(expression(depth: depth - 1)))
        case 10: return .element(.keyPath([key()]), [.first, .last, .size].randomElement(using: &random) ?? .first)
        case 11: return .setOperation(.union, expression(depth: depth - 1), expression(depth: depth - 1))
        case 12: return .navigation(.subquery(.keyPath([key()]), variable: "x", .true), ["@count"])
        default: return .aggregate([.keyPath([key()]), expression(depth: depth - 1)])
        }
    }

    mutating func key() -> String {
        ["a", "name", "in", "size", "ąę", "self", "NOT", "x1", "_y", "union", "first", "cast"].randomElement(using: &random) ?? "a"
    }

    mutating func constant() -> PropertyValue {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .int64(Int64.random(in: -100...100, using: &random))
        case 1: return .double(Double.random(in: -1e6...1e6, using: &random))
        case 2:
            return .string(
                String((0..<Int.random(in: 0...5, using: &random)).compactMap { _ in "a'\"\\%ą\n*?".randomElement(using: &random) }))
        case 3: return .null
        case 4: return .array([constant(), constant()])
        default: return .bool(Bool.random(using: &random))
        }
    }
}
