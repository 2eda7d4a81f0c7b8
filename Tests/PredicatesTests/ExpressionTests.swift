import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct ExpressionTests {
    @Test func everyKindOfExpressionTellsItsParts() throws {
        let one = NSExpression(forConstantValue: 1)
        expect(one.expressionType, equals: .constantValue)
        expect(one.constantValue as? Int, equals: 1)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        expect(NSExpression.expressionForEvaluatedObject().expressionType, equals: .evaluatedObject)
        expect(NSExpression.expressionForAnyKey().expressionType, equals: .anyKey)
        expect(NSExpression(forVariable: "x").variable, equals: "x")
        let path = NSExpression(forKeyPath: "band.name")
        expect(path.expressionType, equals: .keyPath)
        expect(path.keyPath, equals: "band.name")
        expect(path.operand, equals: NSExpression.expressionForEvaluatedObject())
        let function = NSExpression(forFunction: "max:", arguments: [path, 2])
        expect(function.expressionType, equals: .function)
        expect(function.function, equals: "max:")
        expect(function.arguments, equals: [path, NSExpression(forConstantValue: 2)])
        let method = NSExpression(forFunction: path, selectorName: "substringFromIndex:", arguments: [one])
        expect(method.operand, equals: path)
        expect(method.function, equals: "substringFromIndex:")
        expect(method.arguments, equals: [one])
        let aggregate = NSExpression(forAggregate: [one, path])
        expect(aggregate.expressionType, equals: .aggregate)
        expect(aggregate.collection as? [NSExpression], equals: [one, path])
        expect(NSExpression(forAggregate: [1, 2]).expressionType, equals: .aggregate)
        expect(NSExpression(forConstantValue: [1, 2]).expressionType, equals: .constantValue)
        let sets: [(NSExpression, NSExpression.ExpressionType)] = [
            (NSExpression(forUnionSet: path, with: aggregate), .unionSet),
            (NSExpression(forIntersectSet: path, with: aggregate), .intersectSet),
            (NSExpression(forMinusSet: path, with: aggregate), .minusSet),
        ]
        for (set, type) in sets {
            expect(set.expressionType, equals: type)
            expect(set.left, equals: path)
            expect(set.right, equals: aggregate)
        }
        let condition = NSPredicate(format: "$t.length > 5")
        let subquery = NSExpression(forSubquery: path, usingIteratorVariable: "t", predicate: condition)
        expect(subquery.expressionType, equals: .subquery)
        expect(subquery.collection as? NSExpression, equals: path)
        expect(subquery.variable, equals: "t")
        expect(subquery.predicate, equals: condition)
        let conditional = NSExpression(forConditional: condition, trueExpression: one, falseExpression: path)
        expect(conditional.expressionType, equals: .conditional)
        expect(conditional.predicate, equals: condition)
        expect(conditional.true, equals: one)
        expect(conditional.false, equals: path)
        expect(NSExpression(format: "FETCH($r, $c, YES)").expressionType, equals: .fetchRequest)
    }

    @Test(
        "A calculation is a function with Apple's name, however it was made",
        arguments: [
            ("add:to:", "1 + a"), ("from:subtract:", "1 - a"), ("multiply:by:", "1 * a"), ("divide:by:", "1 / a"),
            ("raise:toPower:", "1 ** a"),
            ("bitwiseAnd:with:", "1 & a"), ("bitwiseOr:with:", "1 | a"), ("bitwiseXor:with:", "1 ^ a"), ("leftshift:by:", "1 << a"),
            ("rightshift:by:", "1 >> a"),
        ])
    func calculations(name: String, format: String) {
        let made = NSExpression(forFunction: name, arguments: [NSExpression(forConstantValue: 1), NSExpression(forKeyPath: "a")])
        expect(made, equals: NSExpression(format: format))
        expect(made.hash, equals: NSExpression(format: format).hash)
        expect(made.description, equals: format)
        expect(NSExpression(format: format).function, equals: name)
        expect(NSExpression(format: format).arguments?.count, equals: 2)
    }

    @Test func expressionsAreEvaluated() throws {
        let object: [String: Any] = ["a": 5, "b": [1, 2, 3], "name": "Ann"]
        expect(NSExpression(format: "a * 2 + 1").expressionValue(with: object, context: nil) as? Int, equals: 11)
        expect(NSExpression(format: "b.@sum.self").expressionValue(with: object, context: nil) as? Int, equals: 6)
        #expect(NSExpression(format: "stddev(b) > 0 ").parseError != nil)
        expect(NSExpression(format: "$x + a").expressionValue(with: object, context: ["x": 1]) as? Int, equals: 6)
        expect(NSExpression(format: "uppercase(name)").expressionValue(with: object, context: nil) as? String, equals: "ANN")
        expect(
            NSExpression(forFunction: NSExpression(forKeyPath: "name"), selectorName: "substringFromIndex:", arguments: [1])
                .expressionValue(
                    with: object, context: nil) as? String, equals: "nn")
        let block = NSExpression(
            block: { object, arguments, context in
                "\((object as? [String: Any])?["name"] ?? "") \(arguments) \(context?["k"] ?? "")"
            }, arguments: [NSExpression(forKeyPath: "a"), NSExpression(forConstantValue: nil)])
        expect(block.expressionType, equals: .block)
        expect(block.expressionValue(with: object, context: ["k": "v"]) as? String, equals: "Ann [5, <null>] v")
        #expect(throws: InvalidPredicateError.self) { try NSExpression(format: "$x").value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression.expressionForAnyKey().value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression(format: "FETCH($r, $c, NO)").value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression(parsing: "a +") }
        expect(NSExpression(format: "a +").parseError?.position, equals: 3)
    }

    @Test func expressionsGoIntoFormatsAndVariables() throws {
        let expression = NSExpression(forKeyPath: "band.name")
        expect(NSPredicate(format: "%@ == 'x'", expression).formatString, equals: "band.name == \"x\"")
        expect(NSPredicate(format: "$A == 1").withSubstitutionVariables(["A": expression]).formatString, equals: "band.name == 1")
        expect(expression.copy() as? NSExpression, equals: expression)
        expect(NSExpression(format: "a.b + %d", 5).description, equals: "a.b + 5")
        expect(NSExpression(format: "%K", argumentArray: ["a.b"]), equals: NSExpression(forKeyPath: "a.b"))
    }

    @Test func aHostEvaluatesFetches() throws {
        final class Host: PredicateSchema {
            let schemaName = "Host"
            func predicateProperty(named: String) -> PredicateProperty? { nil }
            func identity(of subject: PredicateSubject) -> PropertyValue { .null }
            func constant(for object: AnyObject) -> PropertyValue? { nil }
            func publicObject(of subject: PredicateSubject) -> Any { self }
            func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue {
                countOnly ? .int64(2) : .array([request, context])
            }
        }
        let host = Host()
        let row = Row(age: 1)
        #expect(try PredicateTree(parsing: "FETCH('r', 'c', YES) == 2").compiled(for: host).matches(row.subject))
        #expect(try PredicateTree(parsing: "'c' IN FETCH('r', 'c', NO)").compiled(for: host).matches(row.subject))
        let other = try PredicateTree(parsing: "FETCH('r', 'c', YES) == 2").compiled(for: RowSchema())
        #expect(throws: InvalidPredicateError.self) { try other.matches(row.subject) }
    }
}
