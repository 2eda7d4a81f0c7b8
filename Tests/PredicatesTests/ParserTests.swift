import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct ParserTests {
    private func key(_ path: String) -> ExpressionTree { .path(path) }

    @Test(
        "Every comparison operator and each of its spellings is read",
        arguments: [
            ("=", PredicateComparison.Operator.equal), ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .lessThan),
            ("<=", .lessThanOrEqual), ("=<", .lessThanOrEqual), (">", .greaterThan), (">=", .greaterThanOrEqual),
            ("=>", .greaterThanOrEqual), ("BEGINSWITH", .beginsWith), ("endswith", .endsWith), ("Contains", .contains), ("LIKE", .like),
            ("MATCHES", .matches), ("IN", .isIn),
        ])
    func operators(spelling: String, operation: PredicateComparison.Operator) throws {
        let tree = try PredicateTree(parsing: "name \(spelling) 'x'")
        expect(tree, equals: .compare(key("name"), operation, .constant(.string("x"))))
    }

    @Test func optionsAreReadInAnyOrderAndCase() throws {
        for (text, options) in [
            ("[c]", PredicateComparison.Options.caseInsensitive), ("[d]", .diacriticInsensitive),
            ("[dC]", [.caseInsensitive, .diacriticInsensitive]),
            ("[n]", .normalized), ("[cdl]", [.caseInsensitive, .diacriticInsensitive, .localeSensitive]),
        ] {
            try expect(
                PredicateTree(parsing: "a CONTAINS\(text) 'b'"),
                equals: .compare(key("a"), .contains, .constant(.string("b")), options: options))
            try expect(
                PredicateTree(parsing: "a ==\(text) 'b'"), equals: .compare(key("a"), .equal, .constant(.string("b")), options: options))
        }
        #expect(throws: InvalidPredicateError.self) { try PredicateTree(parsing: "a CONTAINS[x] 'b'") }
        #expect(throws: InvalidPredicateError.self) { try PredicateTree(parsing: "a CONTAINS[] 'b'") }
    }

    @Test func andBindsTighterThanOrAndNotTighterThanAnd() throws {
        let a = PredicateTree.compare(key("a"), .equal, .constant(.int64(1)))
        let b = PredicateTree.compare(key("b"), .equal, .constant(.int64(2)))
        let c = PredicateTree.compare(key("c"), .equal, .constant(.int64(3)))
        try expect(PredicateTree(parsing: "a == 1 OR b == 2 AND c == 3"), equals: .or([a, .and([b, c])]))
        try expect(PredicateTree(parsing: "(a == 1 || b == 2) && c == 3"), equals: .and([.or([a, b]), c]))
        try expect(PredicateTree(parsing: "NOT a == 1 AND b == 2"), equals: .and([.not(a), b]))
        try expect(PredicateTree(parsing: "!(a == 1 and b == 2)"), equals: .not(.and([a, b])))
        try expect(PredicateTree(parsing: "a == 1 AND b == 2 AND c == 3"), equals: .and([a, b, c]))
        try expect(PredicateTree(parsing: "TRUEPREDICATE OR falsepredicate"), equals: .or([.true, .false]))
    }

    @Test func literalsOfEveryKindAreRead() throws {
        let cases: [(String, PropertyValue)] = [
            ("1", .int64(1)), ("-1", .int64(-1)), ("0x1F", .int64(31)), ("0b101", .int64(5)), ("0o17", .int64(15)), ("1.5", .double(1.5)),
            ("-2.5e3", .double(-2500)), ("1e2", .double(100)), (".5", .double(0.5)), ("TRUE", .bool(true)), ("no", .bool(false)),
            ("nil", .null),
            ("NULL", .null), ("'it\\'s'", .string("it's")), ("\"a\\\"b\\n\"", .string("a\"b\n")), ("'\\\\'", .string("\\")),
            ("'\\d*'", .string("\\d*")), ("'\\u0105'", .string("ą")), ("{1, 'a'}", .array([.int64(1), .string("a")])), ("{}", .array([])),
            ("-9223372036854775808", .int64(.min)), ("9223372036854775807", .int64(.max)), ("'%@'", .string("%@")),
        ]
        for (text, value) in cases {
            try expect(ExpressionTree(parsing: text), equals: .constant(value), "\(text)")
        }
    }

    @Test func argumentsStandWhereTheirPlaceholdersAre() throws {
        let date = Date(timeIntervalSinceReferenceDate: 1)
        let tree = try PredicateTree(
            parsing: "%K == %@ AND age > %d AND score < %f AND b IN %@ AND c == %@ AND d >= %@ AND e = %ld AND f = %i AND g = %lu",
            "band.name", "x", 5,
            1.5, [1, 2], nil, date, Int64(7), Int32(8), UInt(9))
        expect(
            tree.description,
            equals:
                "band.name == \"x\" AND age > 5 AND score < 1.5 AND b IN {1, 2} AND c == nil AND d >= CAST(1.0, \"NSDate\") AND e == 7 AND f == 8 AND g == 9"
        )
        try expect(PredicateTree(parsing: "%K.%K == %@", "a", "b", true), equals: .compare(key("a.b"), .equal, .constant(.bool(true))))
        try expect(
            PredicateTree(parsing: "$x.%K == 1", "a"), equals: .compare(.navigation(.variable("x"), ["a"]), .equal, .constant(.int64(1))))
    }

    @Test func tooFewTooManyAndWrongArgumentsAreErrors() {
        for (format, arguments) in [
            ("a == %@", []), ("a == %@", [1, 2]), ("a == 1", [1]), ("a == %d", ["x"]), ("a == %f", ["x"]), ("%K == 1", [5]),
            ("%K == 1", ["a..b"]),
        ] as [(String, [Any?])] {
            let error = #expect(throws: InvalidPredicateError.self, "\(format)") {
                try PredicateTree(parsing: format, argumentArray: arguments)
            }
            expect(error?.kind, equals: .arguments)
        }
    }

    @Test func quantifiersCollectionsAndFunctionsAreRead() throws {
        try expect(PredicateTree(parsing: "ANY x.y == 1"), equals: .compare(key("x.y"), .equal, .constant(.int64(1)), modifier: .any))
        try expect(PredicateTree(parsing: "some x.y == 1"), equals: .compare(key("x.y"), .equal, .constant(.int64(1)), modifier: .any))
        try expect(PredicateTree(parsing: "ALL x > 1"), equals: .compare(key("x"), .greaterThan, .constant(.int64(1)), modifier: .all))
        try expect(
            PredicateTree(parsing: "NONE x > 1"), equals: .not(.compare(key("x"), .greaterThan, .constant(.int64(1)), modifier: .any)))
        try expect(
            ExpressionTree(parsing: "SUBQUERY(tracks, $t, $t.length > 5).@count"),
            equals: .navigation(
                .subquery(
                    key("tracks"), variable: "t", .compare(.navigation(.variable("t"), ["length"]), .greaterThan, .constant(.int64(5)))),
                ["@count"]))
        try expect(ExpressionTree(parsing: "a[FIRST]"), equals: .element(key("a"), .first))
        try expect(ExpressionTree(parsing: "a[1].b"), equals: .navigation(.element(key("a"), .at(.constant(.int64(1)))), ["b"]))
        try expect(ExpressionTree(parsing: "size"), equals: key("size"))
        try expect(ExpressionTree(parsing: "#in.#size"), equals: .keyPath(["in", "size"]))
        try expect(ExpressionTree(parsing: "SELF.name"), equals: key("name"))
        try expect(ExpressionTree(parsing: "add:to:(1, 2)"), equals: .function("add:to:", [.constant(.int64(1)), .constant(.int64(2))]))
        try expect(ExpressionTree(parsing: "a UNION b"), equals: .setOperation(.union, key("a"), key("b")))
    }

    @Test func arithmeticBindsAsInMathematics() throws {
        let one = ExpressionTree.constant(.int64(1))
        try expect(ExpressionTree(parsing: "a + b * 1"), equals: .arithmetic(.add, key("a"), .arithmetic(.multiply, key("b"), one)))
        try expect(ExpressionTree(parsing: "(a + b) * 1"), equals: .arithmetic(.multiply, .arithmetic(.add, key("a"), key("b")), one))
        try expect(ExpressionTree(parsing: "a - b - 1"), equals: .arithmetic(.subtract, .arithmetic(.subtract, key("a"), key("b")), one))
        try expect(PredicateTree(parsing: "a | 1 == 1"), equals: .compare(.arithmetic(.bitOr, key("a"), one), .equal, one))
        try expect(PredicateTree(parsing: "(a + 1) == 1"), equals: .compare(.arithmetic(.add, key("a"), one), .equal, one))
    }

    @Test(
        "A format that does not parse says where and what was expected",
        arguments: [
            ("name ==", 7), ("name", 4), ("== 1", 0), ("a == 1 AND", 10), ("(a == 1", 7), ("a == 1 b", 7), ("a == 'x", 5),

            ("a IN {1, 2", 10), ("a ~= 1", 2), ("", 0), ("a == 1 OR OR b == 2", 10), ("ANY (a == 1 AND b == 2)", 0), ("a == %y", 5),
            ("5a == 1", 0),
            ("ą == ;", 5), ("a NOT == {1}", 2), ("SUBQUERY(a, b, c == 1)", 12), ("a == 1)", 6),
            ("a == 1 == 2", 7), ("a AND b == 1", 2), ("a == (b == 1)", 5), ("a == NOT b", 5), ("a[1 == 2", 8), ("f(a b)", 4),
            ("TERNARY(a == 1, 2) == 3", 0), ("CAST(a, b) == 1", 8), ("FUNCTION(a) == 1", 0), ("FETCH(a, b, c) == 1", 12),
            ("a %% 2 == 0", 2),
            ("a == 0x", 5), ("a == 1e999", 5), ("a == %", 5), ("a == $", 5), ("a. == 1", 3), ("a CONTAINS[q] 'x'", 11), ("a in {1 2}", 8),
            ("a == %@", 5), ("$x := == 1", 6), ("a == 1 &&& b == 2", 9), ("not", 3), ("any", 3), ("()", 1), ("a == ?", 5),
        ])
    func errorsHaveAPosition(format: String, position: Int) throws {
        let error = try #require(throws: InvalidPredicateError.self) { try PredicateTree(parsing: format) }
        expect(error.position, equals: position, "\(error)")
        expect(error.format, equals: format)
        let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false)
        expect(lines.last.map(String.init), equals: "  " + String(repeating: " ", count: position) + "^")
        expect(error.expected?.isEmpty, equals: false, "\(error)")
    }

    @Test func nestingIsLimitedAndLengthIsNot() throws {
        for deep in [
            String(repeating: "(", count: 100_000) + "a == 1", String(repeating: "NOT ", count: 100_000) + "a == 1",
            "a == " + String(repeating: "-", count: 100_000) + "b", "a == 1" + String(repeating: " + 1", count: 100_000),
            "a" + String(repeating: "[0]", count: 100_000) + " == 1", "a == " + String(repeating: "{", count: 100_000),
        ] {
            let error = #expect(throws: InvalidPredicateError.self) { try PredicateTree(parsing: deep) }
            expect(error?.kind, equals: .tooDeep)
        }
        let allowed = String(repeating: "(", count: 99) + "a == 1" + String(repeating: ")", count: 99)
        try expect(PredicateTree(parsing: allowed), equals: .compare(key("a"), .equal, .constant(.int64(1))))
        let long = (0..<50_000).map { "a == \($0)" }.joined(separator: " OR ")
        guard case .or(let parts) = try PredicateTree(parsing: long) else {
            Issue.record("a long OR is not one OR")
            return
        }
        expect(parts.count, equals: 50_000)
    }
}

/// Arguments that fit the placeholders of a format.
enum PlaceholderArguments {
    static func make(for format: String) -> [Any?] {
        var arguments: [Any?] = []
        var quote: Character?
        var characters = format.makeIterator()
        while let character = characters.next() {
            if character == "\\" {
                _ = characters.next()
            } else if character == quote {
                quote = nil
            } else if quote == nil, "'\"".contains(character) {
                quote = character
            }
            guard character == "%", quote == nil else { continue }
            while let next = characters.next() {
                if "0123456789.lqhzt".contains(next) { continue }
                switch next {
                case "K": arguments.append("someKey")
                case "@": arguments.append(format.uppercased().contains("BETWEEN %@") ? [1, 2] : "value" as Any)
                case "f", "g", "e": arguments.append(1.5)
                case "s": arguments.append("text")
                default: arguments.append(1)
                }
                break
            }
        }
        return arguments
    }
}
