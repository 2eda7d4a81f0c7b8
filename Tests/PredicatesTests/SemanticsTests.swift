import Foundation
import Predicates
import TestSupport
import Testing

/// Holds what the article "What predicates mean" says, operator by operator.
@Suite struct SemanticsTests {
    private enum Answer: String, Sendable { case yes, no, unknown }

    /// The answer over a row in which everything is nil but `age`, `score`, `price`, `name`, `born` and `token` where asked for.
    private func answer(_ format: String, _ row: Row, _ arguments: [Any?] = [], logic: NilLogic = .threeValued) throws -> Answer {
        let tree = try PredicateTree(parsing: format, argumentArray: arguments)
        let isTrue = try tree.compiled(for: RowSchema(), logic: logic).matches(row.subject)
        let isFalse = try PredicateTree.not(tree).compiled(for: RowSchema(), logic: logic).matches(row.subject)
        return isTrue ? .yes : isFalse ? .no : .unknown
    }

    @Test(
        "What each operator answers for nil, to a store and in memory",
        arguments: [
            ("name == nil", "yes", "yes"), ("name != nil", "no", "no"), ("nil == name", "yes", "yes"), ("age == 5", "unknown", "no"),
            ("age != 5", "unknown", "yes"), ("age < 5", "unknown", "no"), ("age <= 5", "unknown", "no"), ("age > 5", "unknown", "no"),
            ("age >= 5", "unknown", "no"), ("age BETWEEN {1, 9}", "unknown", "no"), ("age IN {5}", "unknown", "no"),
            ("age IN {}", "no", "no"),
            ("age IN {5, nil}", "unknown", "yes"), ("name BEGINSWITH 'a'", "unknown", "no"), ("name ENDSWITH 'a'", "unknown", "no"),
            ("name CONTAINS 'a'", "unknown", "no"), ("name CONTAINS ''", "unknown", "no"), ("name LIKE '*'", "unknown", "no"),
            ("name MATCHES '.*'", "unknown", "no"), ("'a' CONTAINS name", "unknown", "no"), ("name IN 'abc'", "unknown", "no"),
            ("name == city", "unknown", "yes"), ("name != city", "unknown", "no"), ("name < city", "unknown", "no"),
            ("name <= city", "unknown", "yes"), ("name >= city", "unknown", "yes"), ("name > city", "unknown", "no"),
            ("age <= nil", "unknown", "yes"), ("nil >= nil", "unknown", "yes"), ("nil < nil", "unknown", "no"),
            ("name BEGINSWITH ''", "unknown", "no"), ("name isKindOfClass: %@", "unknown", "no"),
            ("age + 1 == 1", "unknown", "no"),
            ("age + 1 == nil", "yes", "yes"), ("uppercase(name) == nil", "yes", "yes"), ("boss.name == 'x'", "unknown", "no"),
            ("boss.name == nil", "yes", "yes"), ("ANY friends.age == nil", "no", "no"), ("ALL friends.age == 5", "yes", "yes"),
            ("friends.@count == 0", "yes", "yes"), ("friends.@sum.age == 0", "yes", "yes"), ("friends.@max.age == nil", "yes", "yes"),
            ("TERNARY(age > 1, 1, 2) == 2", "yes", "yes"), ("CAST(age, 'NSString') == nil", "yes", "yes"), ("{1}[5] == nil", "yes", "yes"),
        ] as [(String, String, String)])
    func forNil(format: String, inStore: String, inMemory: String) throws {
        let arguments: [Any?] = format.contains("%@") ? [NSString.self] : []
        try expect(answer(format, Row(), arguments).rawValue, equals: inStore)
        try expect(answer(format, Row(), arguments, logic: .twoValued).rawValue, equals: inMemory)
    }

    @Test(
        "Comparisons of numbers of different types",
        arguments: [
            ("%@ == %@", 9_007_199_254_740_993 as any Sendable, 9_007_199_254_740_992.0 as any Sendable, "no"),
            ("%@ > %@", 9_007_199_254_740_993, 9_007_199_254_740_992.0, "yes"), ("%@ == %@", 1, 1.0, "yes"),
            ("%@ == %@", 1, Decimal(1), "yes"),
            ("%@ == %@", 0.1, Decimal(string: "0.1") ?? 0, "yes"), ("%@ == %@", Int64.max, Decimal(Int64.max), "yes"),
            ("%@ < %@", Int64.max, 0x1p63, "yes"), ("%@ == %@", true, 1, "yes"), ("%@ == %@", false, 0.0, "yes"),
            ("%@ > %@", true, 0, "yes"),
            ("%@ == %@", Double.nan, Double.nan, "no"), ("%@ < %@", Double.nan, 1, "no"), ("%@ < %@", 1, Double.infinity, "yes"),
            ("%@ == %@", -0.0, 0.0, "yes"), ("%@ == %@", UInt64.max, Decimal(UInt64.max), "yes"),
            ("%@ == %@", "1", 1, "no"), ("%@ != %@", "1", 1, "yes"), ("%@ < %@", "1", 2, "no"),
            ("%@ <= %@", "1", 2, "no"), ("%@ >= %@", "1", 2, "no"), ("NOT %@ <= %@", "1", 2, "yes"), ("%@ IN %@", "1", [1, 2], "no"),
            ("%@ IN %@", 1.0, [1, 2], "yes"), ("%@ IN %@", Decimal(2), [1, 2], "yes"), ("%@ IN %@", true, [1, 2], "yes"),
            ("%@ BETWEEN %@", 1.5, [1, 2], "yes"), ("%@ BETWEEN %@", "b", ["a", "c"], "yes"),
        ])
    func numbers(format: String, left: any Sendable, right: any Sendable, expected: String) throws {
        try expect(answer(format, Row(), [left, right]).rawValue, equals: expected)
    }

    @Test func datesIdentifiersAddressesAndBytesCompareWithinTheirTypes() throws {
        let date = Date(timeIntervalSinceReferenceDate: 1)
        let identifier = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000001"))
        let other = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000002"))
        let url = try #require(URL(string: "https://example.org/a"))
        let values: [(lower: Any, higher: Any)] = [
            (date, date.addingTimeInterval(0.5)), (identifier, other), (url, url.appendingPathComponent("b")), (Data([1]), Data([1, 0])),
            (false, true), ("a", "b"),
        ]
        for (lower, higher) in values {
            try expect(answer("%@ == %@", Row(), [lower, lower]), equals: .yes)
            try expect(answer("%@ == %@", Row(), [lower, higher]), equals: .no)
            try expect(answer("%@ < %@", Row(), [lower, higher]), equals: .yes)
            try expect(answer("%@ >= %@", Row(), [lower, higher]), equals: .no)
            try expect(answer("%@ IN %@", Row(), [higher, [lower, higher]]), equals: .yes)
            try expect(answer("%@ BETWEEN %@", Row(), [lower, [lower, higher]]), equals: .yes)
        }
        // A date is not a number, an address no string.
        for (left, right) in [(date as Any, 1.0 as Any), (url, "https://example.org/a"), (identifier, identifier.uuidString), (Data(), "")]
        {
            try expect(answer("%@ == %@", Row(), [left, right]), equals: .no)
            try expect(answer("%@ != %@", Row(), [left, right]), equals: .yes)
            try expect(answer("%@ < %@", Row(), [left, right]), equals: .no)
        }
    }

    @Test(
        "Text is compared by canonical equivalence, case and marks as Foundation folds them",
        arguments: [
            ("'é' == 'e\u{301}'", "yes"), ("'e\u{301}a' BEGINSWITH 'é'", "yes"), ("'q\u{301}' BEGINSWITH 'q'", "no"),
            ("'K' == '\u{212A}'", "yes"), ("'ß' ==[c] 'SS'", "yes"), ("'É' ==[cd] 'e'", "yes"), ("'Z' < 'a'", "yes"),
            ("'Z' <[c] 'a'", "no"),
            ("'é' > 'z'", "yes"), ("'é' >[d] 'z'", "no"), ("'' BEGINSWITH ''", "no"), ("'a' CONTAINS ''", "no"),
            ("'a\nb' LIKE 'a?b'", "yes"),
            ("'a*b' LIKE 'a\\*b'", "yes"), ("'axb' LIKE 'a\\*b'", "no"), ("'ab' MATCHES 'a'", "no"), ("'É' MATCHES[c] 'é'", "yes"),
            ("'É' MATCHES[d] 'E'", "yes"), ("'ABC' CONTAINS[n] 'abc'", "no"),
        ])
    func text(format: String, expected: String) throws {
        try expect(answer(format, Row()).rawValue, equals: expected)
    }

    @Test func localizedStandardOrderPutsNumbersByWhatTheyAreWorth() throws {
        let names = ["track 10", "Track 9", "track 1"]
        let rows = names.map { ["name": $0] }
        let descriptor = NSSortDescriptor(key: "name", ascending: true, textOrder: .localizedStandard)
        try expect(rows.sorted(using: [descriptor]).compactMap { $0["name"] }, equals: ["track 1", "Track 9", "track 10"])
    }

    @Test func keysThatAreNotThereAreErrorsUnlessADictionaryIsAsked() throws {
        for format in ["nope == nil", "boss.nope == 1", "ANY friends.nope == 1", "SUBQUERY(friends, $f, $f.nope == 1).@count == 0"] {
            let error = try #require(throws: InvalidPredicateError.self) { try answer(format, Row()) }
            expect(error.kind, equals: .unknownKeyPath)
            #expect(error.message.contains("nope"))
        }
        #expect(try NSPredicate(format: "nope == nil").matches(["a": 1]))
        #expect(throws: InvalidPredicateError.self) { try NSPredicate(format: "nope == nil").matches(5) }
    }

    @Test(
        "Text operators on what is not text are errors that name the clause",
        arguments: ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES"])
    func textOperatorsOnOtherTypes(operation: String) throws {
        for value in [1, 1.5, true, Date(), UUID()] as [Any] {
            let error = try #require(throws: InvalidPredicateError.self) { try answer("%@ \(operation) 'a'", Row(), [value]) }
            #expect(error.message.contains(operation), "\(error)")
        }
    }
}
