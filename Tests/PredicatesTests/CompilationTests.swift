import Foundation
import TestSupport
import Testing

@testable import Predicates

/// How often predicates are compiled. Work is counted in debug builds only.
@Suite struct CompilationTests {
    private let rows = [Row(age: 1, name: "a"), Row(age: 2, name: "b")]

    private func matching(_ predicate: NSPredicate, _ schema: RowSchema, _ logic: NilLogic = .threeValued) throws -> Int {
        let compiled = try predicate.compiled(for: schema, logic: logic)
        return try rows.filter { try compiled.matches($0.subject) }.count
    }

    @Test func aPredicateIsCompiledOnceForASchemaAndALogic() throws {
        let (first, second) = (RowSchema(), RowSchema())
        let predicate = NSPredicate(format: "age > 1 AND name == 'b'")
        let count = try WorkCount.counting {
            for _ in 0..<10 {
                for schema in [first, second] { try expect(matching(predicate, schema), equals: 1) }
                try expect(matching(predicate, first, .twoValued), equals: 1)
            }
        }
        expect(count.compilations, equals: 3)
    }

    @Test func plainValuesAreComparedWithoutCompilingAgain() throws {
        let predicate = NSPredicate(format: "SELF > 1")
        let count = WorkCount.counting {
            for number in 0..<10 { expect(predicate.evaluate(with: number), equals: (number > 1)) }
            for _ in 0..<10 { expect([1, 2, 3].filtered(using: predicate), equals: [2, 3]) }
        }
        expect(count.compilations, equals: 1)
    }

    @Test(arguments: [NSCompoundPredicate.LogicalType.and, .or, .not])
    func thePartsOfFoundationsCompoundPredicatesAreCompiledOnce(type: NSCompoundPredicate.LogicalType) throws {
        let schema = RowSchema()
        let parts = [NSPredicate(format: "age > 1"), NSPredicate(format: "score < 5"), NSPredicate(format: "name == 'b'")]
        let compound = NSCompoundPredicate(type: type, subpredicates: type == .not ? [parts[0]] : parts)
        let nested = NSCompoundPredicate(notPredicateWithSubpredicate: NSCompoundPredicate(notPredicateWithSubpredicate: compound))
        let tree = try compound.tree().compiled(for: schema)
        let rows = rows
        let count = try WorkCount.counting {
            for _ in 0..<5 {
                for predicate in [compound, nested] {
                    let compiled = try predicate.compiled(for: schema)
                    for row in rows { try expect(compiled.matches(row.subject), equals: tree.matches(row.subject)) }
                }
            }
        }
        expect(count.compilations, equals: compound.subpredicates.count)
    }

    @Test func aPredicateInUseIsCompiledAgainForASecondUser() throws {
        let schema = RowSchema()
        let predicate = NSPredicate(format: "SUBQUERY(friends, $x, $x.age > age).@count == 0")
        let count = try WorkCount.counting {
            let first = try predicate.compiled(for: schema)
            let second = try predicate.compiled(for: schema)
            try #expect(first.matches(rows[0].subject))
            try #expect(second.matches(rows[0].subject))
        }
        expect(count.compilations, equals: 2)
        let again = try WorkCount.counting { for _ in 0..<5 { _ = try matching(predicate, schema) } }
        expect(again.compilations, equals: 0)
    }

    @Test func manyThreadsMayAskOnePredicateAtOnce() async throws {
        // Predicates of ours never change.
        nonisolated(unsafe) let predicate = NSPredicate(format: "SUBQUERY({1, 2, 3}, $x, $x > SELF).@count > 1")
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<200).filter { number in predicate.evaluate(with: number % 5) != (number % 5 < 2) }.count
                }
            }
            return await group.reduce(0, +)
        }
        expect(wrong, equals: 0)
    }

    @Test func aPredicateKeepsNoSchemaAlive() throws {
        let predicate = NSPredicate(format: "boss.age > 1 OR ANY friends.boss.age == 3 OR SELF IN boss.friends")
        weak var gone: RowSchema?
        do {
            let schema = RowSchema()
            gone = schema
            try expect(matching(predicate, schema), equals: 0)
        }
        #expect(gone == nil)
        // What was compiled for it is not taken for that of another schema, which may lie in the same place.
        for _ in 0..<20 { try expect(matching(predicate, RowSchema()), equals: 0) }
    }

    @Test func aCompiledPredicateKeepsItsSchemaAlive() throws {
        let compiled = try NSPredicate(format: "NOT SELF IN friends").compiled(for: RowSchema())
        #expect(try compiled.matches(rows[0].subject))
    }

    @Test func anObjectThatStandsForSomethingElseByNowIsLookedUpAgain() throws {
        final class Renaming: PredicateSchema {
            var schemaName: String { "Anything" }
            var name = "a"
            func predicateProperty(named key: String) -> PredicateProperty? { .computed { _ in .string("b") } }
            func identity(of subject: PredicateSubject) -> PropertyValue { .null }
            func constant(for object: AnyObject) -> PropertyValue? { .string(name) }
            func publicObject(of subject: PredicateSubject) -> Any { self }
        }
        let schema = Renaming()
        let predicate = NSPredicate(format: "name == %@", Row())
        #expect(try !predicate.compiled(for: schema).matches(rows[0].subject))
        schema.name = "b"
        #expect(try predicate.compiled(for: schema).matches(rows[0].subject))
    }

    @Test func aCompoundPredicateWithNewPartsIsCompiledAnew() throws {
        let predicate = try #require(NSPredicate(format: "age == 1 AND name == 'a'") as? FormatCompoundPredicate)
        let schema = RowSchema()
        try expect(matching(predicate, schema), equals: 1)
        predicate.subpredicates = [NSPredicate(format: "age > 0")]
        try expect(matching(predicate, schema), equals: 2)
    }
}
