import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct PredicateClassTests {
    @Test func aFormatIsOfTheClassThatAppleWouldMake() throws {
        let comparison = try #require(NSPredicate(format: "ANY a.b BEGINSWITH[cd] 'x'") as? NSComparisonPredicate)
        expect(comparison.leftExpression.keyPath, equals: "a.b")
        expect(comparison.rightExpression.constantValue as? String, equals: "x")
        expect(comparison.comparisonPredicateModifier, equals: .any)
        expect(comparison.predicateOperatorType, equals: .beginsWith)
        expect(comparison.options, equals: [.caseInsensitive, .diacriticInsensitive])
        let compound = try #require(NSPredicate(format: "a == 1 AND (b == 2 OR NOT c == 3)") as? NSCompoundPredicate)
        expect(compound.compoundPredicateType, equals: .and)
        expect(compound.subpredicates.count, equals: 2)
        #expect(compound.subpredicates[0] is NSComparisonPredicate)
        let or = try #require(compound.subpredicates[1] as? NSCompoundPredicate)
        expect(or.compoundPredicateType, equals: .or)
        let not = try #require(or.subpredicates[1] as? NSCompoundPredicate)
        expect(not.compoundPredicateType, equals: .not)
        expect((not.subpredicates.first as? NSComparisonPredicate)?.leftExpression.keyPath, equals: "c")
        #expect(!(NSPredicate(format: "a ==") is NSComparisonPredicate))
        #expect(!(NSPredicate(format: "TRUEPREDICATE") is NSComparisonPredicate))
    }

    @Test func everyOperatorKeepsItsTypeBothWays() throws {
        let operators: [(String, NSComparisonPredicate.Operator, UInt)] = [
            ("<", .lessThan, 0), ("<=", .lessThanOrEqualTo, 1), (">", .greaterThan, 2), (">=", .greaterThanOrEqualTo, 3),
            ("==", .equalTo, 4),
            ("!=", .notEqualTo, 5), ("MATCHES", .matches, 6), ("LIKE", .like, 7), ("BEGINSWITH", .beginsWith, 8),
            ("ENDSWITH", .endsWith, 9),
            ("IN", .in, 10), ("CONTAINS", .contains, 99), ("BETWEEN", .between, 100),
        ]
        for (keyword, type, number) in operators {
            let made = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forConstantValue: [1, 2]), modifier: .all,
                type: type, options: .caseInsensitive)
            expect(type.rawValue, equals: number)
            expect(made.predicateOperatorType, equals: type)
            expect(made.comparisonPredicateModifier, equals: .all)
            expect(made.formatString, equals: "ALL a \(keyword)[c] {1, 2}")
            expect(made, equals: NSPredicate(format: made.formatString))
            expect(made.hash, equals: NSPredicate(format: made.formatString).hash)
        }
    }

    @Test func aComparatorIsCalledWithBothValues() throws {
        let byLength = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forConstantValue: "xy")
        ) { left, right in (left as? String)?.count == (right as? String)?.count }
        expect(byLength.predicateOperatorType, equals: .customSelector)
        #expect(byLength.evaluate(with: ["a": "ab"]))
        #expect(!byLength.evaluate(with: ["a": "abc"]))
        #expect(byLength.customComparator != nil)
        #expect(throws: InvalidPredicateError.self) { try NSPredicate(format: "a UTI-CONFORMS-TO 'public.data'").matches(["a": "x"]) }
    }

    @Test func compoundPredicatesEvaluateByTheirTreesAndFollowTheirProperties() throws {
        let predicate = try #require(NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)
        #expect(predicate.evaluate(with: ["a": 0, "b": 2]))
        predicate.compoundPredicateType = .and
        expect(predicate.formatString, equals: "a == 1 AND b == 2")
        #expect(!predicate.evaluate(with: ["a": 0, "b": 2]))
        predicate.subpredicates = [NSPredicate(format: "b == 2")]
        #expect(predicate.evaluate(with: ["a": 0, "b": 2]))
        expect(predicate.description, equals: "b == 2")
        let variables = NSPredicate(format: "a == $x AND b == $y")
        #expect(variables.evaluate(with: ["a": 1, "b": 2], substitutionVariables: ["x": 1, "y": 2]))
        #expect(variables.withSubstitutionVariables(["x": 1]) is NSCompoundPredicate)
        expect((variables.copy() as? NSPredicate), equals: variables)
    }

    @Test func predicatesAreEqualAcrossTheirKinds() {
        let a = NSPredicate(format: "a == 1")
        let b = NSPredicate(format: "b == 2")
        let read = NSPredicate(format: "a == 1 AND b == 2")
        #expect(read.isEqual(NSCompoundPredicate(andPredicateWithSubpredicates: [a, b])))
        #expect(!read.isEqual(NSCompoundPredicate(orPredicateWithSubpredicates: [a, b])))
        expect(NSPredicate(format: "TRUEPREDICATE"), equals: NSPredicate(value: true))
        expect(NSPredicate(value: true), equals: NSPredicate(format: "TRUEPREDICATE"))
        expect(NSPredicate(value: false), equals: NSPredicate(format: "FALSEPREDICATE"))
        #expect(NSPredicate(value: true) != NSPredicate(format: "FALSEPREDICATE"))
        #expect(NSPredicate(value: false) != a)
        #expect(a != NSPredicate(value: false))
        #expect(a != NSPredicate(format: "a == 1.0"))
    }

    @Test func aClassThatWasAskedForIsMadeOrHoldsAnError() {
        expect(NSComparisonPredicate(format: "a == 1").leftExpression.keyPath, equals: "a")
        #expect(NSComparisonPredicate(format: "a == 1 AND b == 2").parseError != nil)
        expect(NSComparisonPredicate(format: "a ==").parseError?.position, equals: 4)
        expect(FormatPredicate(format: "a == 1 AND b == 2").formatString, equals: "a == 1 AND b == 2")
        expect(FormatCompoundPredicate(format: "a == 1").subpredicates.count, equals: 1)
    }
}
