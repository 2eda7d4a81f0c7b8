import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct ArchiveTests {
    @Test(
        "A predicate comes back from its archive as it was",
        arguments: [
            "a == 1", "a != 1.5", "a / 2 == 2.0 AND b == {TRUE, 1, 1.0}", "a.b.c < 'x'", "ANY a.b LIKE[cd] 'x*'", "ALL a MATCHES[c] '.*'",
            "NOT a IN {1, 'x', nil}", "a CONTAINS[d] $v",
            "a BETWEEN {1, b}", "a == 1 AND (b == TRUE OR NOT c == nil)", "TRUEPREDICATE", "FALSEPREDICATE OR a == 1",
            "SUBQUERY(a, $x, $x.b > 1 AND $x.c == 2).@count > 0", "TERNARY(a == 1, 'x', b) == 'x'", "a + b * 2 - 1 == -c", "~a == 1",
            "a[FIRST] == b[LAST]", "a[SIZE] == b[2]", "CAST(a, 'NSDate') < now()", "FUNCTION(a, 'substringFromIndex:', 2) == 'b'",
            "a UNION {1} == b INTERSECT c", "a MINUS b == {c, 1}", "SELF == $x", "ANYKEY == 1", "max:(a) == canonical:(b)",
            "($x := 5) == a", "FETCH($r, $c, YES) == 1", "a BEGINSWITH 'x' AND b ENDSWITH[n] 'y'",
        ])
    func predicates(format: String) throws {
        let predicate = try NSPredicate(parsing: format)
        let read = try PredicateArchive.predicate(from: PredicateArchive.data(of: predicate))
        try expect(read.tree(), equals: ArchiveTests.normalized(predicate.tree()))
        #expect(type(of: read) == type(of: predicate))
    }

    @Test(
        "Every operator comes back from its archive with all its options and modifiers",
        arguments: [
            PredicateComparison.Operator.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual, .matches, .like,
            .beginsWith, .endsWith, .isIn, .contains, .between,
        ])
    func options(of operation: PredicateComparison.Operator) throws {
        for options in 0..<16 {
            for modifier in [PredicateComparison.Modifier.direct, .all, .any] {
                let tree = PredicateTree.compare(
                    .path("a"), operation, .path("b"), modifier: modifier, options: PredicateComparison.Options(rawValue: options))
                try expect(PredicateArchive.predicate(from: PredicateArchive.data(of: NSPredicate(tree: tree))).tree(), equals: tree)
            }
        }
    }

    /// A sign is a function in Apple's layout.
    private static func normalized(_ tree: PredicateTree) throws -> PredicateTree {
        try PredicateTree(parsing: tree.description.replacingOccurrences(of: "-c", with: "(0 - c)"))
    }

    @Test func constantsOfEveryTypeComeBack() throws {
        let values: [PropertyValue] = [
            .null, .bool(true), .bool(false), .int64(.max), .int64(1), .double(1.5), .decimal(try #require(Decimal(string: "12.340001"))),
            .decimal(2), .string("ą'\""),
            .date(Date(timeIntervalSinceReferenceDate: 1.25)), .data(Data([0, 1, 255])), .uuid(UUID()),
            .url(try #require(URL(string: "https://example.org/a"))), .array([.int64(1), .string("x"), .null]),
            .set([.int64(1), .int64(2)]),
        ]
        for value in values {
            let predicate = NSPredicate(tree: .compare(.path("a"), .equal, .constant(value)))
            try expect(PredicateArchive.predicate(from: PredicateArchive.data(of: predicate)).tree(), equals: predicate.tree(), "\(value)")
        }
    }

    @Test func foundationsArchiversTakePredicatesAndExpressions() throws {
        let predicate = try #require(NSPredicate(format: "a == 1 AND b IN {1, 2}") as? FormatCompoundPredicate)
        let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
        try expect(NSKeyedUnarchiver.unarchivedObject(ofClass: FormatCompoundPredicate.self, from: data), equals: predicate)
        let expression = NSExpression(format: "a.b + 1")
        let other = try NSKeyedArchiver.archivedData(withRootObject: expression, requiringSecureCoding: true)
        try expect(NSKeyedUnarchiver.unarchivedObject(ofClass: NSExpression.self, from: other), equals: expression)
        try expect(PredicateArchive.expression(from: PredicateArchive.data(of: expression)), equals: expression)
    }

    @Test func theLayoutIsThatOfCompiledModels() throws {
        let data = try PredicateArchive.data(of: NSPredicate(format: "name == $NAME"))
        let archive = try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        let objects = try #require(archive["$objects"] as? [Any])
        let names = Set(objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
        #expect(
            names.isSuperset(of: [
                "NSComparisonPredicate", "NSEqualityPredicateOperator", "NSKeyPathExpression", "NSSelfExpression",
                "NSKeyPathSpecifierExpression", "NSVariableExpression",
            ]))
        let keys = Set(objects.flatMap { ($0 as? [String: Any])?.keys.map { $0 } ?? [] })
        #expect(
            keys.isSuperset(of: [
                "NSLeftExpression", "NSRightExpression", "NSPredicateOperator", "NSOperatorType", "NSModifier", "NSNegate", "NSOptions",
                "NSExpressionType", "NSOperand", "NSSelectorName", "NSArguments", "NSKeyPath", "NSVariable",
            ]))
    }

    @Test func whatCannotBeArchivedOrReadIsAnError() throws {
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.data(of: NSPredicate { _, _ in true }) }
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.data(of: NSPredicate(format: "a ==")) }
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.data(of: NSPredicate(format: "a == %@", Row())) }
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(from: Data([1, 2, 3])) }
        let foreign = try NSKeyedArchiver.archivedData(withRootObject: NSUUID(), requiringSecureCoding: true)
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(from: foreign) }
        let locale = try NSKeyedArchiver.archivedData(withRootObject: NSLocale(localeIdentifier: "en_US"), requiringSecureCoding: true)
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(from: locale) }
    }
}
