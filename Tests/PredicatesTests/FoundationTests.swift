import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct FoundationTests {
    private final class Track: KeyValueReadable {
        let title: String
        init(_ title: String) { self.title = title }
        func value(forKey key: String) -> Any? { key == "title" ? title : nil }
    }

    private struct Album {
        var title: String
        var year: Int
        var genre: String?
        var tracks: [Track] = []
    }

    private final class Label {
        let name = "Warp"
        let albums = [Album(title: "LP5", year: 1998)]
    }

    @Test func aFormatPredicateIsAnOrdinaryPredicate() throws {
        let predicate = NSPredicate(format: "name == %@ AND age > %d", "x", 5)
        let short: NSPredicate = .init(format: "a IN %@", [1, 2])
        let none: String? = nil
        expect(NSPredicate(format: "a == %@", none).formatString, equals: "a == nil")
        expect(
            NSPredicate(format: "a == %@", Date(timeIntervalSinceReferenceDate: 0) as any CVarArg).formatString,
            equals: "a == CAST(0.0, \"NSDate\")")
        expect(NSPredicate(format: "a IN %@", [1, 2] as any CVarArg).formatString, equals: "a IN {1, 2}")
        #expect(String(format: "%@", [1, 2] as any CVarArg).contains("1"))
        #expect(String(format: "%@", Date(timeIntervalSinceReferenceDate: 0) as any CVarArg).contains("2001"))
        expect(predicate.formatString, equals: "name == \"x\" AND age > 5")
        expect(String(describing: predicate), equals: predicate.formatString)
        expect(short.formatString, equals: "a IN {1, 2}")
        #expect(predicate.evaluate(with: ["name": "x", "age": 6]))
        #expect(!predicate.evaluate(with: ["name": "x", "age": 5]))
        expect(predicate, equals: NSPredicate(format: "name = 'x' && age > 5"))
        expect(predicate.hash, equals: NSPredicate(format: "name = 'x' && age > 5").hash)
        #expect(predicate != short)
        expect((predicate.copy() as? NSPredicate), equals: predicate)
        expect(NSPredicate(format: "%K == %@", argumentArray: ["a", 1]).formatString, equals: "a == 1")
        try expect(NSPredicate(tree: predicate.tree()), equals: predicate)
        try expect(NSPredicate(parsing: "a == 1").formatString, equals: "a == 1")
    }

    @Test func aFormatThatDoesNotParseHoldsItsErrorAndEveryThrowingReaderThrowsIt() throws {
        let predicate = NSPredicate(format: "name == ")
        let error = try #require(predicate.parseError)
        expect(error.kind, equals: .syntax)
        expect(error.position, equals: 8)
        #expect(throws: error) { try predicate.tree() }
        #expect(throws: error) { try predicate.compiled(for: RowSchema()) }
        #expect(throws: error) { try predicate.matches(["name": 1]) }
        #expect(throws: error) { try NSPredicate(parsing: "name == ") }
        #expect(throws: error) { try NSCompoundPredicate(notPredicateWithSubpredicate: predicate).tree() }
        #expect(throws: error) { try [1].filtered(matching: predicate) }
        #expect(NSPredicate(format: "a == 1").parseError == nil)
    }

    @Test func evaluatingAPredicateWithAnErrorStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            _ = NSPredicate(format: "name ==").evaluate(with: ["name": 1])
        }
    }

    @Test func compoundPredicatesAreReadThroughTheirParts() throws {
        let a = NSPredicate(format: "a == 1")
        let b = NSPredicate(format: "b == 2")
        let and = NSCompoundPredicate(andPredicateWithSubpredicates: [a, NSCompoundPredicate(orPredicateWithSubpredicates: [a, b])])
        expect(and.formatString, equals: "a == 1 AND (a == 1 OR b == 2)")
        expect(NSCompoundPredicate(notPredicateWithSubpredicate: b).formatString, equals: "NOT b == 2")
        try expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).tree(), equals: .true)
        try expect(NSCompoundPredicate(orPredicateWithSubpredicates: []).tree(), equals: .false)
        try expect(NSPredicate(value: true).tree(), equals: .true)
        try expect(NSPredicate(value: false).tree(), equals: .false)
        let block = NSPredicate { value, _ in value as? Int == 1 }
        try expect(block.tree(), equals: .block(PredicateBlock(block)))
        #expect(try NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "SELF > 0")]).matches(1))
        #expect(and.evaluate(with: ["a": 1, "b": 0]))
        expect(NSCompoundPredicate(format: "a == 1 OR b == 2").formatString, equals: "a == 1 OR b == 2")
    }

    @Test func variablesAreReplaced() throws {
        let template = NSPredicate(format: "name == $NAME AND age > $AGE")
        expect(template.withSubstitutionVariables(["NAME": "x", "AGE": 3]).formatString, equals: "name == \"x\" AND age > 3")
        expect(template.withSubstitutionVariables(["NAME": "x"]).formatString, equals: "name == \"x\" AND age > $AGE")
        #expect(template.evaluate(with: ["name": "x", "age": 4], substitutionVariables: ["NAME": "x", "AGE": 3]))
        #expect(throws: InvalidPredicateError.self) { try template.matches(["name": "x", "age": 4]) }
        expect(
            NSPredicate(format: "SUBQUERY(a, $x, $x == $y).@count > 0").withSubstitutionVariables(["x": 1, "y": 2]).formatString,
            equals: "SUBQUERY(a, $x, $x == 2).@count > 0")
    }

    @Test(
        "Plain values are evaluated",
        arguments: [
            ("SELF > 3", 5 as any Sendable, true), ("SELF BEGINSWITH 'a'", "abc", true), ("SELF == 'b'", "abc", false),
            ("SELF IN {1, 2}", 2, true),
            ("SELF.@count == 3", [1, 2, 3], true), ("ANY SELF > 2", [1, 2, 3], true), ("ALL SELF > 2", [1, 2, 3], false),
            ("SELF[FIRST] == 1", [1, 2, 3], true),
            ("SELF.@sum.self == 6", [1, 2, 3], true), ("length == 3", "abc", true), ("a.b.c == 1", ["a": ["b": ["c": 1]]], true),
            ("a.x == nil", ["a": ["b": 1]], true),
            ("a != 5", ["b": 1], true), ("NOT a > 5", ["b": 1], true), ("a > 5", ["b": 1], false),
            ("ANY a.b == 2", ["a": [["b": 1], ["b": 2]]], true),
            ("a.@max.b == 2", ["a": [["b": 1], ["b": 2]]], true), ("1 + 1 == 2", 0, true), ("SELF['a'] == 1", ["a": 1], true),
            ("a CONTAINS 'x'", ["a": ["x", "y"]], true),
            ("'LL' IN[c] SELF", "hello", true), ("SUBQUERY(a, $x, $x > 1).@count == 2", ["a": [1, 2, 3]], true),
            ("a == b", ["a": true, "b": 1] as [String: any Sendable], true),
        ])
    func plainValues(format: String, value: any Sendable, answer: Bool) throws {
        try expect(NSPredicate(format: format).matches(value), equals: answer)
    }

    @Test func objectsStructuresAndFoundationDictionariesAreEvaluated() throws {
        let album = Album(title: "Geogaddi", year: 2002, tracks: [Track("Music Is Math"), Track("1969")])
        #expect(try NSPredicate(format: "title BEGINSWITH 'G' AND year == 2002 AND genre == nil").matches(album))
        #expect(try NSPredicate(format: "ANY tracks.title == '1969' AND tracks.@count == 2").matches(album))
        #expect(try NSPredicate(format: "name == 'Warp' AND ANY albums.year < 2000").matches(Label()))
        #expect(try NSPredicate(format: "title ENDSWITH 'Math'").matches(Track("Music Is Math")))
        #expect(try NSPredicate(format: "name == 'x'").matches(NSDictionary(dictionary: ["name": "x"])))
        let error = try #require(throws: InvalidPredicateError.self) { try NSPredicate(format: "artist == 'x'").matches(album) }
        expect(error.kind, equals: .unknownKeyPath)
        #expect(throws: InvalidPredicateError.self) { try NSPredicate(format: "SELF BEGINSWITH 'x'").matches(5) }
    }

    @Test func sequencesAreFilteredAndSorted() throws {
        let albums = [
            Album(title: "b", year: 2, genre: "x"), Album(title: "B", year: 1), Album(title: "a10", year: 2, genre: "y"),
            Album(title: "a9", year: 2),
        ]
        expect(albums.filtered(using: NSPredicate(format: "title BEGINSWITH[c] 'b'")).map(\.year), equals: [2, 1])
        let byYear = [NSSortDescriptor(key: "year", ascending: false), NSSortDescriptor(key: "title", ascending: true)]
        try expect(albums.sorted(using: byYear).map(\.title), equals: ["a10", "a9", "b", "B"])
        try expect(albums.sorted(using: [NSSortDescriptor(key: "genre", ascending: true)]).map(\.title), equals: ["B", "a9", "b", "a10"])
        try expect(
            albums.sorted(using: [NSSortDescriptor(key: "title", ascending: true, textOrder: .caseInsensitive)]).map(\.title),
            equals: [
                "a10", "a9", "b", "B",
            ])
        let byLength = NSSortDescriptor(key: "title", ascending: true) { left, right in
            let (left, right) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
            return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
        }
        try expect(albums.sorted(using: [byLength]).map(\.title), equals: ["b", "B", "a9", "a10"])
        try expect([3, 1, 2].sorted(using: [NSSortDescriptor(key: nil, ascending: true)]), equals: [1, 2, 3])
        #expect(throws: InvalidPredicateError.self) { try albums.sorted(using: [NSSortDescriptor(key: "nope", ascending: true)]) }
    }

    @Test func aSortDescriptorIsAnOrdinarySortDescriptor() throws {
        let descriptor = NSSortDescriptor(key: "band.name", ascending: true)
        expect(descriptor.key, equals: "band.name")
        #expect(descriptor.ascending)
        expect(descriptor.compare(["band": ["name": "a"]], to: ["band": ["name": "b"]]), equals: .orderedAscending)
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(!reversed.ascending)
        expect(reversed.key, equals: "band.name")
        expect(reversed.compare(["band": ["name": "a"]], to: ["band": ["name": "b"]]), equals: .orderedDescending)
        expect((descriptor.copy() as? NSSortDescriptor), equals: descriptor)
        expect(descriptor, equals: NSSortDescriptor(key: "band.name", ascending: true))
        #expect(descriptor != NSSortDescriptor(key: "band.name", ascending: false))
        #expect(!descriptor.hasComparator)
        #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).key == nil)
    }

    @Test func compiledSortsFollowRelationshipsAndKeepTheOrderOfEquals() throws {
        let first = Row(age: 1, name: "z")
        let second = Row(age: 2, name: "y")
        let third = Row(age: 3)
        third.boss = first
        second.boss = third
        let rows = [first, second, third]
        func order(_ descriptors: NSSortDescriptor...) throws -> [Int] {
            try CompiledSort(descriptors, for: RowSchema()).sortedIndices(count: rows.count) { rows[$0].subject }
        }
        try expect(order(NSSortDescriptor(key: "name", ascending: true)), equals: [2, 1, 0])
        try expect(order(NSSortDescriptor(key: "name", ascending: false)), equals: [0, 1, 2])
        try expect(order(NSSortDescriptor(key: "boss.age", ascending: true)), equals: [0, 2, 1])
        try expect(order(NSSortDescriptor(key: "active", ascending: true)), equals: [0, 1, 2])
        #expect(throws: InvalidPredicateError.self) { try order(NSSortDescriptor(key: "nope", ascending: true)) }
        #expect(throws: InvalidPredicateError.self) { try order(NSSortDescriptor(key: "friends.age", ascending: true)) }
        let named = try CompiledSort([NSSortDescriptor(keyPath: \String.count, ascending: true)], for: RowSchema()) { _ in "age" }
        try expect(named.compare(first.subject, second.subject), equals: .orderedAscending)
    }

    @Test func valuesConvertBothWays() throws {
        try expect(PropertyValue(any: NSNumber(value: true)), equals: .bool(true))
        try expect(PropertyValue(any: NSNumber(value: 1)), equals: .int64(1))
        try expect(PropertyValue(any: NSNumber(value: Int8(1))), equals: .int64(1))
        try expect(PropertyValue(any: NSNumber(value: 1.5)), equals: .double(1.5))
        try expect(PropertyValue(any: 1), equals: .int64(1))
        try expect(PropertyValue(any: UInt64.max), equals: .decimal(Decimal(UInt64.max)))
        try expect(PropertyValue(any: NSString("x")), equals: .string("x"))
        try expect(PropertyValue(any: NSNull()), equals: .null)
        try expect(PropertyValue(any: Int?.none as Any), equals: .null)
        try expect(PropertyValue(any: Int?.some(3) as Any), equals: .int64(3))
        try expect(PropertyValue(any: NSDecimalNumber(string: "1.5")), equals: .decimal(Decimal(string: "1.5") ?? 0))
        try expect(PropertyValue(any: [1, "a", NSNull()] as [Any]), equals: .array([.int64(1), .string("a"), .null]))
        try expect(PropertyValue(any: NSSet(array: [1, 2])), equals: .set([.int64(1), .int64(2)]))
        #expect(throws: InvalidPredicateError.self) { try PropertyValue(any: Album(title: "", year: 0)) }
        expect(PropertyValue.int64(5).any as? Int16, equals: 5)
        expect(PropertyValue.int64(5).any as? Int, equals: 5)
        expect(PropertyValue.bool(true).any as? Bool, equals: true)
        expect(PropertyValue.double(1.5).any as? Double, equals: 1.5)
        #expect(PropertyValue.null.any == nil)
        expect(PropertyValue.array([.int64(1), .null]).any as? [NSObject], equals: [NSNumber(value: 1), NSNull()])
    }
}
