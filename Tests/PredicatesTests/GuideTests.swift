import Foundation
import Predicates
import TestSupport
import Testing

/// The tables of Apple's Predicate Programming Guide ("Predicate Format String Syntax" and "BNF Definition of Cocoa Predicates"), row by row.
@Suite struct GuideTests {
    private static let object: [String: any Sendable] = [
        "n": 5, "s": "Straße", "name": "Ångström", "list": [3, 1, 2], "empty": [Int](), "none": [String: Int](), "flag": true,
        "people": [["age": 17, "name": "Ann"], ["age": 20, "name": "Bob"]] as [[String: any Sendable]], "first": 1, "nested": ["in": 7],
    ]

    private func answer(_ format: String) throws -> Bool {
        try NSPredicate(parsing: format).matches(GuideTests.object, variables: ["VALUE": 5])
    }

    @Test(
        "Comparisons",
        arguments: [
            ("n = 5", true), ("n == 5", true), ("n >= 5", true), ("n => 6", false), ("n <= 5", true), ("n =< 4", false), ("n > 4", true),
            ("n < 5", false), ("n != 5", false), ("n <> 4", true), ("n BETWEEN {1, 5}", true), ("n BETWEEN {6, 9}", false),
            ("n BETWEEN { -33 , 22 }", true), ("n in {1, 5}", true), ("n == $VALUE", true),
        ])
    func comparisons(format: String, matches: Bool) throws { try expect(answer(format), equals: matches) }

    @Test(
        "Boolean value predicates and compound predicates",
        arguments: [
            ("TRUEPREDICATE", true), ("FALSEPREDICATE", false), ("n == 5 AND s == 'x'", false), ("n == 5 && flag == YES", true),
            ("n == 4 OR flag == YES", true), ("n == 4 || flag == NO", false), ("NOT n == 4", true), ("! n == 5", false),
            ("n == 4 AND n == 5 OR n == 5", true), ("n == 5 OR n == 4 AND n == 4", true), ("(n == 5 OR n == 4) AND n == 4", false),
            ("NOT n == 4 AND n == 4", false),
        ])
    func compounds(format: String, matches: Bool) throws { try expect(answer(format), equals: matches) }

    @Test(
        "String comparisons",
        arguments: [
            ("s BEGINSWITH 'Str'", true), ("s CONTAINS 'aß'", true), ("s ENDSWITH 'ße'", true), ("s LIKE 'St?aß*'", true),
            ("s LIKE 'St?'", false),
            ("s MATCHES 'S.*e'", true), ("s MATCHES 'S.*a'", false), ("name BEGINSWITH[cd] 'ang'", true),
            ("name BEGINSWITH[c] 'ång'", true),
            ("name BEGINSWITH[d] 'ang'", false), ("name BEGINSWITH[d] 'Ang'", true), ("name ==[cd] 'ANGSTROM'", true),
            ("name CONTAINS[cd] 'STROM'", true), ("name LIKE[cd] 'ang*'", true), ("name MATCHES[c] 'ång.*'", true), ("'x' IN {'x'}", true),
        ])
    func strings(format: String, matches: Bool) throws { try expect(answer(format), equals: matches) }

    @Test(
        "Aggregate operations",
        arguments: [
            ("ANY people.age < 18", true), ("SOME people.age < 18", true), ("ALL people.age < 18", false), ("NONE people.age > 30", true),
            ("'Bob' IN people.name", true), ("list[0] == 3", true), ("list[FIRST] == 3", true), ("list[LAST] == 2", true),
            ("list[SIZE] == 3", true),
            ("people.name CONTAINS 'Ann'", true), ("ALL empty > 5", true), ("ANY empty > 5", false), ("nested['in'] == 7", true),
        ])
    func aggregates(format: String, matches: Bool) throws { try expect(answer(format), equals: matches) }

    @Test(
        "Literals",
        arguments: [
            ("FALSE == NO", true), ("TRUE == YES", true), ("NULL == NIL", true), ("SELF.n == 5", true), ("\"text\" == 'text'", true),
            ("'comma' IN { 'comma', 'separated', 'literal', 'array' }", true), ("1 == 1.0", true), ("9.2 == 92e-1", true),
            ("0xFF == 255", true), ("0o17 == 15", true), ("0b101 == 5", true), ("1E3 == 1000", true), (".5 == 0.5", true),
            ("-3 < +3", true),
            ("'a\\'b' == \"a'b\"", true), ("'a\\\\b' == 'a\\u005Cb'", true), ("'\\t' == '\\u0009'", true),
        ])
    func literals(format: String, matches: Bool) throws { try expect(answer(format), equals: matches) }

    @Test(
        "Reserved words are keys behind a number sign, in any case",
        arguments: [
            "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
            "NULL",
            "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE",
            "FALSEPREDICATE", "TERNARY", "FUNCTION", "UNION", "INTERSECT", "MINUS",
        ])
    func reservedWords(word: String) throws {
        for key in [word, word.lowercased()] {
            let tree = try PredicateTree(parsing: "#\(key) == 1")
            expect(tree, equals: .compare(.keyPath([key]), .equal, .constant(.int64(1))))
            expect(tree.description, equals: "#\(key) == 1")
            // `self` is what it stands in, as in key-value coding.
            if word != "SELF" { #expect(try NSPredicate(parsing: "a.#\(key) == 1").matches(["a": [key: 1]])) }
        }
    }

    @Test(
        "Operators of words that are in the guide's list and cannot be evaluated are read, and are errors after that",
        arguments: ["UTI-CONFORMS-TO", "uti-equals"])
    func uniformTypeOperators(word: String) throws {
        let tree = try PredicateTree(parsing: "a \(word) 'public.data'")
        try expect(PredicateTree(parsing: tree.description), equals: tree)
        #expect(throws: InvalidPredicateError.self) { try NSPredicate(tree: tree).matches(["a": "x"]) }
    }

    @Test(
        "Functions",
        arguments: [
            ("sum(list)", "6"), ("count(list)", "3"), ("min(list)", "1"), ("max(list)", "3"), ("average(list)", "2.0"),
            ("median(list)", "2.0"),
            ("mode({1, 2, 2})", "2"), ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", "2.0"), ("add:to:(2, 3)", "5"), ("from:subtract:(2, 3)", "-1"),
            ("multiply:by:(2, 3)", "6"), ("divide:by:(7, 2)", "3"), ("modulus:by:(7, 2)", "1"), ("sqrt(9)", "3.0"), ("log(1000)", "3.0"),
            ("ln(1)", "0.0"), ("raise:toPower:(2, 10)", "1024"), ("exp(0)", "1.0"), ("floor(1.5)", "1.0"), ("ceiling(1.5)", "2.0"),
            ("abs(-2)", "2"),
            ("trunc(-1.5)", "-1.0"), ("uppercase('ab')", "AB"), ("lowercase('AB')", "ab"), ("bitwiseAnd:with:(6, 3)", "2"),
            ("bitwiseOr:with:(6, 3)", "7"), ("bitwiseXor:with:(6, 3)", "5"), ("leftshift:by:(1, 4)", "16"), ("rightshift:by:(16, 4)", "1"),
            ("onesComplement(0)", "-1"), ("noindex:(n)", "5"), ("length('abc')", "3"), ("canonical('Å')", "a"), ("sum:(list)", "6"),
            ("sqrt:(9)", "3.0"), ("random(1)", "0"), ("CAST('5', 'NSNumber')", "5"), ("2 ** 3 ** 2", "64"), ("1 + 2 * 3", "7"),
            ("7 - 2 - 1", "4"),
            ("people.@sum.name.@count", "2"),
        ])
    func functions(format: String, value: String) throws {
        if format.contains("@sum.name") {
            // An operator after an operator answers for each element: here, how long each list is.
            let nested: [String: Any] = ["people": [["name": [1]], ["name": [2]]]]
            try expect(NSExpression(parsing: format).value(with: nested) as? Int, equals: 2)
            return
        }
        let result = try #require(try NSExpression(parsing: format).value(with: GuideTests.object))
        expect("\(result)", equals: value)
        expect((try NSExpression(parsing: "now()").value(with: nil) as? Date).map { abs($0.timeIntervalSinceNow) < 60 }, equals: true)
        expect((try NSExpression(parsing: "random()").value(with: nil) as? Int).map { $0 >= 0 }, equals: true)
    }

    @Test(
        "Arguments",
        arguments: [
            ("%@", "x" as any Sendable, "\"x\""), ("%K", "a.b", "a.b"), ("%d", 1, "1"), ("%i", 1, "1"), ("%D", 1, "1"), ("%ld", 1, "1"),
            ("%lld", Int64.max, "9223372036854775807"), ("%qd", 1, "1"), ("%hd", Int16(1), "1"), ("%hhd", Int8(1), "1"),
            ("%u", UInt32(1), "1"),
            ("%lu", UInt(1), "1"), ("%llu", UInt64(1), "1"), ("%U", 1, "1"), ("%zd", 1, "1"), ("%f", 1.5, "1.5"), ("%lf", 1.5, "1.5"),
            ("%.2f", 1.25, "1.25"), ("%F", 1.5, "1.5"), ("%g", 1.5, "1.5"), ("%G", 1.5, "1.5"), ("%e", 1.5, "1.5"), ("%E", 1.5, "1.5"),
            ("%a", 1.5, "1.5"), ("%x", 255, "255"), ("%X", 255, "255"), ("%o", 8, "8"), ("%O", 8, "8"), ("%c", "x", "\"x\""),
            ("%C", "ą", "\"ą\""),
            ("%c", 65, "65"), ("%s", "x", "\"x\""), ("%S", "x", "\"x\""), ("'%@'", "", "\"%@\""),
        ])
    func arguments(placeholder: String, value: any Sendable, printed: String) throws {
        let arguments: [Any] = placeholder.hasPrefix("'") ? [] : [value]
        try expect(PredicateTree(parsing: "a == \(placeholder)", argumentArray: arguments).description, equals: "a == \(printed)")
    }
}
