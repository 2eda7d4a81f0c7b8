import Foundation
import Predicates
import Testing

@Suite struct ExpressionTests {
    @Test func everyKindOfExpressionTellsItsParts() throws {
        let one = NSExpression(forConstantValue: 1)
        #expect(one.expressionType == .constantValue)
        #expect(one.constantValue as? Int == 1)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
        #expect(NSExpression.expressionForAnyKey().expressionType == .anyKey)
        #expect(NSExpression(forVariable: "x").variable == "x")
        let path = NSExpression(forKeyPath: "band.name")
        #expect(path.expressionType == .keyPath)
        #expect(path.keyPath == "band.name")
        #expect(path.operand == NSExpression.expressionForEvaluatedObject())
        let function = NSExpression(forFunction: "max:", arguments: [path, 2])
        #expect(function.expressionType == .function)
        #expect(function.function == "max:")
        #expect(function.arguments == [path, NSExpression(forConstantValue: 2)])
        let method = NSExpression(forFunction: path, selectorName: "substringFromIndex:", arguments: [one])
        #expect(method.operand == path)
        #expect(method.function == "substringFromIndex:")
        #expect(method.arguments == [one])
        let aggregate = NSExpression(forAggregate: [one, path])
        #expect(aggregate.expressionType == .aggregate)
        #expect(aggregate.collection as? [NSExpression] == [one, path])
        #expect(NSExpression(forAggregate: [1, 2]).expressionType == .aggregate)
        #expect(NSExpression(forConstantValue: [1, 2]).expressionType == .constantValue)
        let sets: [(NSExpression, NSExpression.ExpressionType)] = [
            (NSExpression(forUnionSet: path, with: aggregate), .unionSet),
            (NSExpression(forIntersectSet: path, with: aggregate), .intersectSet),
            (NSExpression(forMinusSet: path, with: aggregate), .minusSet),
        ]
        for (set, type) in sets {
            #expect(set.expressionType == type)
            #expect(set.left == path)
            #expect(set.right == aggregate)
        }
        let condition = NSPredicate(format: "$t.length > 5")
        let subquery = NSExpression(forSubquery: path, usingIteratorVariable: "t", predicate: condition)
        #expect(subquery.expressionType == .subquery)
        #expect(subquery.collection as? NSExpression == path)
        #expect(subquery.variable == "t")
        #expect(subquery.predicate == condition)
        let conditional = NSExpression(forConditional: condition, trueExpression: one, falseExpression: path)
        #expect(conditional.expressionType == .conditional)
        #expect(conditional.predicate == condition)
        #expect(conditional.true == one)
        #expect(conditional.false == path)
        #expect(NSExpression(format: "FETCH($r, $c, YES)").expressionType == .fetchRequest)
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
        #expect(made == NSExpression(format: format))
        #expect(made.hash == NSExpression(format: format).hash)
        #expect(made.description == format)
        #expect(NSExpression(format: format).function == name)
        #expect(NSExpression(format: format).arguments?.count == 2)
    }

    @Test func expressionsAreEvaluated() throws {
        let object: [String: Any] = ["a": 5, "b": [1, 2, 3], "name": "Ann"]
        #expect(NSExpression(format: "a * 2 + 1").expressionValue(with: object, context: nil) as? Int == 11)
        #expect(NSExpression(format: "b.@sum.self").expressionValue(with: object, context: nil) as? Int == 6)
        #expect(NSExpression(format: "stddev(b) > 0 ").parseError != nil)
        #expect(NSExpression(format: "$x + a").expressionValue(with: object, context: ["x": 1]) as? Int == 6)
        #expect(NSExpression(format: "uppercase(name)").expressionValue(with: object, context: nil) as? String == "ANN")
        #expect(
            NSExpression(forFunction: NSExpression(forKeyPath: "name"), selectorName: "substringFromIndex:", arguments: [1])
                .expressionValue(
                    with: object, context: nil) as? String == "nn")
        let block = NSExpression(
            block: { object, arguments, context in
                "\((object as? [String: Any])?["name"] ?? "") \(arguments) \(context?["k"] ?? "")"
            }, arguments: [NSExpression(forKeyPath: "a"), NSExpression(forConstantValue: nil)])
        #expect(block.expressionType == .block)
        #expect(block.expressionValue(with: object, context: ["k": "v"]) as? String == "Ann [5, <null>] v")
        #expect(throws: InvalidPredicateError.self) { try NSExpression(format: "$x").value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression.expressionForAnyKey().value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression(format: "FETCH($r, $c, NO)").value(with: object) }
        #expect(throws: InvalidPredicateError.self) { try NSExpression(parsing: "a +") }
        #expect(NSExpression(format: "a +").parseError?.position == 3)
    }

    @Test func expressionsGoIntoFormatsAndVariables() throws {
        let expression = NSExpression(forKeyPath: "band.name")
        #expect(NSPredicate(format: "%@ == 'x'", expression).formatString == "band.name == \"x\"")
        #expect(NSPredicate(format: "$A == 1").withSubstitutionVariables(["A": expression]).formatString == "band.name == 1")
        #expect(expression.copy() as? NSExpression == expression)
        #expect(NSExpression(format: "a.b + %d", 5).description == "a.b + 5")
        #expect(NSExpression(format: "%K", argumentArray: ["a.b"]) == NSExpression(forKeyPath: "a.b"))
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
