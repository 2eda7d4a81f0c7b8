import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct EvaluationTests {
    private let rows: [Row] = {
        let ann = Row(
            active: true, age: 1, score: 1.5, born: Date(timeIntervalSinceReferenceDate: 100), name: "Ann", city: "Łódź",
            price: Decimal(string: "0.1"))
        let bob = Row(active: false, age: 2, score: 2, born: Date(timeIntervalSinceReferenceDate: 200), name: "bob", city: "ąbc", price: 10)
        let cy = Row(age: 3)
        let dan = Row(active: true, age: 4, score: -1, name: "anna", city: "Abc")
        ann.friends = [bob, cy]
        bob.friends = [dan]
        bob.boss = ann
        dan.boss = bob
        return [ann, bob, cy, dan]
    }()

    @Test(
        "Each format matches these rows",
        arguments: [
            ("age > 2", [3, 4]), ("age => 2 AND age =< 3", [2, 3]), ("age <> 2", [1, 3, 4]), ("age BETWEEN {2, 3}", [2, 3]),
            ("age IN {1, 4.0, 'x'}", [1, 4]),
            ("age IN {}", []), ("NOT age IN {1, 4}", [2, 3]), ("2 < age", [3, 4]), ("age == 2.0", [2]), ("age > 2.5", [3, 4]),
            ("active == YES", [1, 4]),
            ("active == 0", [2]), ("score > 1", [1, 2]), ("price == 0.1", [1]), ("price > 5", [2]), ("name BEGINSWITH 'an'", [4]),
            ("name BEGINSWITH[c] 'an'", [1, 4]), ("name ENDSWITH 'b'", [2]), ("name CONTAINS[c] 'N'", [1, 4]), ("name LIKE 'a??a'", [4]),
            ("name LIKE[c] 'a*'", [1, 4]), ("name MATCHES '[a-z]+'", [2, 4]), ("name MATCHES[c] 'an+'", [1]),
            ("name MATCHES 'an|anna'", [4]),
            ("name == nil", [3]), ("name != nil", [1, 2, 4]), ("name == NULL OR age == 1", [1, 3]), ("'xanny' CONTAINS name", []),
            ("name IN 'an Ann'", [1]),
            ("TRUEPREDICATE", [1, 2, 3, 4]), ("FALSEPREDICATE OR age == 1", [1]), ("NOT (age == 1 OR age == 2)", [3, 4]),
            ("boss.name == 'Ann'", [2]), ("boss.boss.name == 'Ann'", [4]), ("boss == nil", [1, 3]), ("boss != nil", [2, 4]),
            ("boss.age > 0", [2, 4]),
            ("ANY friends.name == 'bob'", [1]), ("ANY friends.age > 2", [1, 2]), ("ALL friends.age > 2", [2, 3, 4]),
            ("NONE friends.age > 2", [3, 4]),
            ("ANY friends.friends.name == 'anna'", [1]), ("friends.@count == 2", [1]), ("friends.@count == 0", [3, 4]),
            ("friends.@sum.age == 5", [1]),
            ("friends.@max.age > 3", [2]), ("friends.@avg.age == 2.5", [1]), ("friends.@min.name == 'bob'", [1]),
            ("boss.friends.@count == 1", [4]),
            ("SUBQUERY(friends, $f, $f.age > 2 AND $f.name == nil).@count == 1", [1]),
            ("SUBQUERY(friends, $f, $f.age == age + 1).@count > 0", [1]),
            ("SUBQUERY(friends, $f, ANY $f.friends.age == 4).@count == 1", [1]),
            ("age + 1 == 3", [2]), ("age * 2 - 1 == 5", [3]), ("age ** 2 == 16", [4]), ("age / 2 == 1", [2, 3]),
            ("age / 0 == nil", [1, 2, 3, 4]), ("age & 1 == 1", [1, 3]),
            ("-age == -3", [3]), ("uppercase(name) == 'ANN'", [1]), ("abs(score) == 1", [4]), ("sum(age, 1) == 4", [3]),
            ("modulus:by:(age, 2) == 0", [2, 4]),
            ("TERNARY(age > 2, 'old', 'new') == 'old'", [3, 4]), ("CAST(age, 'NSString') == '2'", [2]), ("born > CAST(150, 'NSDate')", [2]),
            ("born - CAST(0, 'NSDate') == 100", [1]), ("FUNCTION(name, 'substringFromIndex:', 1) == 'nn'", [1]), ("length(name) == 4", [4]),
            ("{1, 2}[FIRST] == age", [1]), ("{1, 2}[SIZE] == age", [2]), ("{1, 2, 3}[2] == age", [3]), ("age IN {1} UNION {4}", [1, 4]),
            ("age IN {1, 2} INTERSECT {2}", [2]), ("age IN {1, 2} MINUS {2}", [1]), ("name > 'b'", [2]), ("name < 'a'", [1]),
            ("age BETWEEN {1, boss.age}", []),
            ("name == 5", []), ("name != 5", [1, 2, 4]), ("name > 5", []), ("born == '1'", []),
        ] as [(String, [Int64])])
    func formats(format: String, ages: [Int64]) throws {
        try expect(rows.ages(format), equals: ages)
    }

    @Test("The condition of a SUBQUERY that no element can answer is an error of the elements that have a value")
    func mistakenConditions() throws {
        let schema = RowSchema()
        for operation in ["BEGINSWITH", "LIKE", "CONTAINS"] {
            let predicate = try PredicateTree(parsing: "SUBQUERY(friends, $f, $f.age \(operation) 'a').@count > 0").compiled(for: schema)
            // Ann has friends with an age, cy has no friends.
            #expect(throws: InvalidPredicateError.self) { try predicate.matches(rows[0].subject) }
            #expect(try !predicate.matches(rows[2].subject))
        }
    }

    @Test("Comparing with nil is neither true nor false, whichever way it is asked")
    func nilIsUnknown() throws {
        for format in [
            "score > 0", "score != 1", "score == 1", "score <= 0", "NOT score > 0", "NOT score != 1", "NOT (score > 0 AND age == 3)",
            "name BEGINSWITH 'a'",
            "NOT name BEGINSWITH 'a'", "name CONTAINS ''", "NOT name LIKE '*'", "score IN {1, 2}", "NOT score IN {1, 2}",
            "score BETWEEN {0, 9}",
            "NOT score BETWEEN {0, 9}", "boss.age != 5", "score + 1 != 0", "name == city", "name != city", "name <[c] 'z'", "age IN {nil}",
            "NOT age IN {7, nil}",
        ] {
            try expect(rows.ages("age == 3 AND \(format)"), equals: [], "\(format)")
        }
        try expect(rows.ages("score == nil"), equals: [3])
        try expect(rows.ages("NOT score != nil"), equals: [3])
        try expect(rows.ages("NOT (score > 0 AND age == 4)"), equals: [1, 2, 3, 4])
        try expect(rows.ages("score > 0 OR age == 3"), equals: [1, 2, 3])
        try expect(rows.ages("NOT score IN {}"), equals: [1, 2, 3, 4])
        let schema = RowSchema()
        let foundation = try PredicateTree(parsing: "score != 1 AND NOT score > 0 AND name == city").compiled(
            for: schema, logic: .twoValued)
        #expect(try foundation.matches(rows[2].subject))
    }

    @Test(
        "Case and marks matter unless an option says otherwise",
        arguments: [("", [String]()), ("[c]", ["Ą"]), ("[d]", ["ą", "a"]), ("[cd]", ["ą", "Ą", "a", "A"])])
    func foldsCaseAndMarks(options: String, alsoMatching: [String]) throws {
        for (operation, other) in [
            ("==", "%@"), ("BEGINSWITH", "%@"), ("ENDSWITH", "%@"), ("CONTAINS", "%@"), ("LIKE", "%@"), ("MATCHES", "%@"), ("IN", "{%@}"),
        ] {
            let tree = try PredicateTree(parsing: "name \(operation)\(options) \(other)", "ą")
            let compiled = try tree.compiled(for: RowSchema())
            for candidate in ["ą", "Ą", "a", "A", "b"] {
                let row = Row(age: 1, name: candidate)
                try expect(
                    compiled.matches(row.subject), equals: (candidate == "ą" || alsoMatching.contains(candidate)), "\(candidate) \(tree)")
            }
            let decomposed = Row(age: 1, name: "a\u{328}")
            if operation != "MATCHES" { #expect(try compiled.matches(decomposed.subject), "\(tree)") }
        }
    }

    @Test func membershipFindsObjectsAndDates() throws {
        try expect(rows.ages("boss == %@", rows[0]), equals: [2])
        try expect(rows.ages("boss IN %@", [rows[0], rows[1]]), equals: [2, 4])
        try expect(rows.ages("SELF IN %@", [rows[0], rows[3]]), equals: [1, 4])
        try expect(rows.ages("SELF == %@", rows[2]), equals: [3])
        try expect(rows.ages("friends CONTAINS %@", rows[1]), equals: [1])
        try expect(rows.ages("NOT friends CONTAINS %@", rows[1]), equals: [2, 3, 4])
        try expect(rows.ages("%@ IN friends", rows[2]), equals: [1])
        try expect(rows.ages("ANY friends == %@", rows[3]), equals: [2])
        try expect(rows.ages("born IN %@", [Date(timeIntervalSinceReferenceDate: 200)]), equals: [2])
        try expect(rows.ages("born == %@", Date(timeIntervalSinceReferenceDate: 100)), equals: [1])
        try expect(rows.ages("friends.age CONTAINS 4"), equals: [2])
        try expect(rows.ages("name IN %@", ["bob", "Ann", "Ann"] as Set<String>), equals: [1, 2])
        try expect(rows.ages("age IN %@", NSOrderedSet(array: [1, 3])), equals: [1, 3])
    }

    @Test func exactNumbersAreNotRounded() throws {
        let big = Row(age: 9_007_199_254_740_993, score: 0.1, price: Decimal(string: "0.1"))
        try expect([big].ages("age == 9007199254740992.0"), equals: [])
        try expect([big].ages("age > 9007199254740992.0"), equals: [9_007_199_254_740_993])
        try expect([big].ages("score == price"), equals: [9_007_199_254_740_993])
        try expect([big].ages("age < 1e300"), equals: [9_007_199_254_740_993])
        try expect([Row(age: .max)].ages("age + 1 > %@", Int64.max), equals: [.max])
    }

    @Test(
        "An error names a clause that cannot be evaluated, before any row is read",
        arguments: [
            ("nope == 1", InvalidPredicateError.Kind.unknownKeyPath), ("boss.nope == 1", .unknownKeyPath),
            ("ANY friends.nope == 1", .unknownKeyPath),
            ("age == $X", .unboundVariable), ("name MATCHES '('", .invalidPattern), ("friends.name == 'a'", .unsupported),
            ("ANY name == 'a'", .unsupported),
            ("ALL boss.age > 1", .unsupported), ("age BEGINSWITH 'a'", .unsupported), ("name BEGINSWITH 5", .unsupported),
            ("age IN 5", .unsupported),
            ("unknown(age) == 1", .unsupported), ("CAST(age, 'NSGarden') == 1", .unsupported), ("friends.@median.age == 1", .unsupported),
            ("age.@count == 1", .unsupported), ("age BETWEEN {1, 2, 3}", .unsupported), ("ANYKEY == 1", .unsupported),
            ("age UTI-CONFORMS-TO 'public.data'", .unsupported), ("distanceToLocation:fromLocation:(age, age) == 1", .unsupported),
            ("$x := 5 == 5", .unsupported), ("FUNCTION(name, 'delete') == 1", .unsupported),
            ("sqrt(1, 2) == 1", .unsupported),
            ("TRUEPREDICATE OR nope == 1", .unknownKeyPath),
        ])
    func errorsAtCompileTime(format: String, kind: InvalidPredicateError.Kind) throws {
        let tree = try PredicateTree(parsing: format)
        let error = try #require(throws: InvalidPredicateError.self) { try tree.compiled(for: RowSchema()) }
        expect(error.kind, equals: kind)
        #expect(error.message.contains("clause"), "\(error)")
        if kind == .unknownKeyPath { #expect(error.message.contains("Person") && error.message.contains("nope")) }
    }

    @Test func anErrorDoesNotPrintALongCollection() throws {
        let tree = try PredicateTree(parsing: "nope IN %@", Array(0..<10_000))
        let error = try #require(throws: InvalidPredicateError.self) { try tree.compiled(for: RowSchema()) }
        #expect(error.message.count < 200)
    }

    @Test func likeTakesNoLongerForManyStars() throws {
        let text = String(repeating: "a", count: 2_000)
        let pattern = String(repeating: "a*", count: 200) + "b"
        try expect([Row(age: 1, name: text)].ages("name LIKE %@", pattern), equals: [])
        try expect([Row(age: 1, name: "a*b?")].ages("name LIKE 'a\\*b\\?'"), equals: [1])
        try expect([Row(age: 1, name: "axb?")].ages("name LIKE 'a\\*b\\?'"), equals: [])
    }

    @Test func blocksAreShownThePublicObject() throws {
        let compiled = try NSPredicate { object, _ in (object as? Row)?.values["age"] == .int64(2) }.compiled(for: RowSchema())
        try expect(rows.map { try compiled.matches($0.subject) }, equals: [false, true, false, false])
    }

    @Test func aKeyPathIsReadAsAValue() throws {
        let schema = RowSchema()
        try expect(CompiledKeyPath("boss.name", for: schema).value(of: rows[1].subject), equals: .string("Ann"))
        try expect(CompiledKeyPath("boss.name", for: schema).value(of: rows[0].subject), equals: .null)
        try expect(CompiledKeyPath("friends.@count", for: schema).value(of: rows[0].subject), equals: .int64(2))
        try expect(CompiledKeyPath("friends.age", for: schema).value(of: rows[0].subject), equals: .array([.int64(2), .int64(3)]))
        try expect(
            CompiledKeyPath("friends.@distinctUnionOfObjects.name", for: schema).value(of: rows[0].subject),
            equals: .array([.string("bob")]))
        try expect(CompiledKeyPath(ExpressionTree(parsing: "age * 2"), for: schema).value(of: rows[1].subject), equals: .int64(4))
        #expect(throws: InvalidPredicateError.self) { try CompiledKeyPath("boss.nope", for: schema) }
    }
}
