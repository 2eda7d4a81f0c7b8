import Foundation
import Predicates
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
        #expect(NSPredicate(format: "a == %@", none).formatString == "a == nil")
        #expect(
            NSPredicate(format: "a == %@", Date(timeIntervalSinceReferenceDate: 0) as any CVarArg).formatString
                == "a == CAST(0.0, \"NSDate\")")
        #expect(NSPredicate(format: "a IN %@", [1, 2] as any CVarArg).formatString == "a IN {1, 2}")
        #expect(String(format: "%@", [1, 2] as any CVarArg).contains("1"))
        #expect(String(format: "%@", Date(timeIntervalSinceReferenceDate: 0) as any CVarArg).contains("2001"))
        #expect(predicate.formatString == "name == \"x\" AND age > 5")
        #expect(String(describing: predicate) == predicate.formatString)
        #expect(short.formatString == "a IN {1, 2}")
        #expect(predicate.evaluate(with: ["name": "x", "age": 6]))
        #expect(!predicate.evaluate(with: ["name": "x", "age": 5]))
        #expect(predicate == NSPredicate(format: "name = 'x' && age > 5"))
        #expect(predicate.hash == NSPredicate(format: "name = 'x' && age > 5").hash)
        #expect(predicate != short)
        #expect((predicate.copy() as? NSPredicate) == predicate)
        #expect(NSPredicate(format: "%K == %@", argumentArray: ["a", 1]).formatString == "a == 1")
        #expect(try NSPredicate(tree: predicate.tree()) == predicate)
        #expect(try NSPredicate(parsing: "a == 1").formatString == "a == 1")
    }

    @Test func aFormatThatDoesNotParseHoldsItsErrorAndEveryThrowingReaderThrowsIt() throws {
        let predicate = NSPredicate(format: "name == ")
        let error = try #require(predicate.parseError)
        #expect(error.kind == .syntax)
        #expect(error.position == 8)
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
        #expect(and.formatString == "a == 1 AND (a == 1 OR b == 2)")
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: b).formatString == "NOT b == 2")
        #expect(try NSCompoundPredicate(andPredicateWithSubpredicates: []).tree() == .true)
        #expect(try NSCompoundPredicate(orPredicateWithSubpredicates: []).tree() == .false)
        #expect(try NSPredicate(value: true).tree() == .true)
        #expect(try NSPredicate(value: false).tree() == .false)
        let block = NSPredicate { value, _ in value as? Int == 1 }
        #expect(try block.tree() == .block(PredicateBlock(block)))
        #expect(try NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "SELF > 0")]).matches(1))
        #expect(and.evaluate(with: ["a": 1, "b": 0]))
        #expect(NSCompoundPredicate(format: "a == 1 OR b == 2").formatString == "a == 1 OR b == 2")
    }

    @Test func variablesAreReplaced() throws {
        let template = NSPredicate(format: "name == $NAME AND age > $AGE")
        #expect(template.withSubstitutionVariables(["NAME": "x", "AGE": 3]).formatString == "name == \"x\" AND age > 3")
        #expect(template.withSubstitutionVariables(["NAME": "x"]).formatString == "name == \"x\" AND age > $AGE")
        #expect(template.evaluate(with: ["name": "x", "age": 4], substitutionVariables: ["NAME": "x", "AGE": 3]))
        #expect(throws: InvalidPredicateError.self) { try template.matches(["name": "x", "age": 4]) }
        #expect(
            NSPredicate(format: "SUBQUERY(a, $x, $x == $y).@count > 0").withSubstitutionVariables(["x": 1, "y": 2]).formatString
                == "SUBQUERY(a, $x, $x == 2).@count > 0")
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
        #expect(try NSPredicate(format: format).matches(value) == answer)
    }

    @Test func objectsStructuresAndFoundationDictionariesAreEvaluated() throws {
        let album = Album(title: "Geogaddi", year: 2002, tracks: [Track("Music Is Math"), Track("1969")])
        #expect(try NSPredicate(format: "title BEGINSWITH 'G' AND year == 2002 AND genre == nil").matches(album))
        #expect(try NSPredicate(format: "ANY tracks.title == '1969' AND tracks.@count == 2").matches(album))
        #expect(try NSPredicate(format: "name == 'Warp' AND ANY albums.year < 2000").matches(Label()))
        #expect(try NSPredicate(format: "title ENDSWITH 'Math'").matches(Track("Music Is Math")))
        #expect(try NSPredicate(format: "name == 'x'").matches(NSDictionary(dictionary: ["name": "x"])))
        let error = try #require(throws: InvalidPredicateError.self) { try NSPredicate(format: "artist == 'x'").matches(album) }
        #expect(error.kind == .unknownKeyPath)
        #expect(throws: InvalidPredicateError.self) { try NSPredicate(format: "SELF BEGINSWITH 'x'").matches(5) }
    }

    @Test func sequencesAreFilteredAndSorted() throws {
        let albums = [
            Album(title: "b", year: 2, genre: "x"), Album(title: "B", year: 1), Album(title: "a10", year: 2, genre: "y"),
            Album(title: "a9", year: 2),
        ]
        #expect(albums.filtered(using: NSPredicate(format: "title BEGINSWITH[c] 'b'")).map(\.year) == [2, 1])
        let byYear = [NSSortDescriptor(key: "year", ascending: false), NSSortDescriptor(key: "title", ascending: true)]
        #expect(try albums.sorted(using: byYear).map(\.title) == ["a10", "a9", "b", "B"])
        #expect(try albums.sorted(using: [NSSortDescriptor(key: "genre", ascending: true)]).map(\.title) == ["B", "a9", "b", "a10"])
        #expect(
            try albums.sorted(using: [NSSortDescriptor(key: "title", ascending: true, textOrder: .caseInsensitive)]).map(\.title) == [
                "a10", "a9", "b", "B",
            ])
        let byLength = NSSortDescriptor(key: "title", ascending: true) { left, right in
            let (left, right) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
            return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
        }
        #expect(try albums.sorted(using: [byLength]).map(\.title) == ["b", "B", "a9", "a10"])
        #expect(try [3, 1, 2].sorted(using: [NSSortDescriptor(key: nil, ascending: true)]) == [1, 2, 3])
        #expect(throws: InvalidPredicateError.self) { try albums.sorted(using: [NSSortDescriptor(key: "nope", ascending: true)]) }
    }

    @Test func aSortDescriptorIsAnOrdinarySortDescriptor() throws {
        let descriptor = NSSortDescriptor(key: "band.name", ascending: true)
        #expect(descriptor.key == "band.name")
        #expect(descriptor.ascending)
        #expect(descriptor.compare(["band": ["name": "a"]], to: ["band": ["name": "b"]]) == .orderedAscending)
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(!reversed.ascending)
        #expect(reversed.key == "band.name")
        #expect(reversed.compare(["band": ["name": "a"]], to: ["band": ["name": "b"]]) == .orderedDescending)
        #expect((descriptor.copy() as? NSSortDescriptor) == descriptor)
        #expect(descriptor == NSSortDescriptor(key: "band.name", ascending: true))
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
        #expect(try order(NSSortDescriptor(key: "name", ascending: true)) == [2, 1, 0])
        #expect(try order(NSSortDescriptor(key: "name", ascending: false)) == [0, 1, 2])
        #expect(try order(NSSortDescriptor(key: "boss.age", ascending: true)) == [0, 2, 1])
        #expect(try order(NSSortDescriptor(key: "active", ascending: true)) == [0, 1, 2])
        #expect(throws: InvalidPredicateError.self) { try order(NSSortDescriptor(key: "nope", ascending: true)) }
        #expect(throws: InvalidPredicateError.self) { try order(NSSortDescriptor(key: "friends.age", ascending: true)) }
        let named = try CompiledSort([NSSortDescriptor(keyPath: \String.count, ascending: true)], for: RowSchema()) { _ in "age" }
        #expect(try named.compare(first.subject, second.subject) == .orderedAscending)
    }

    @Test func valuesConvertBothWays() throws {
        #expect(try PropertyValue(any: NSNumber(value: true)) == .bool(true))
        #expect(try PropertyValue(any: NSNumber(value: 1)) == .int64(1))
        #expect(try PropertyValue(any: NSNumber(value: Int8(1))) == .int64(1))
        #expect(try PropertyValue(any: NSNumber(value: 1.5)) == .double(1.5))
        #expect(try PropertyValue(any: 1) == .int64(1))
        #expect(try PropertyValue(any: UInt64.max) == .decimal(Decimal(UInt64.max)))
        #expect(try PropertyValue(any: NSString("x")) == .string("x"))
        #expect(try PropertyValue(any: NSNull()) == .null)
        #expect(try PropertyValue(any: Int?.none as Any) == .null)
        #expect(try PropertyValue(any: Int?.some(3) as Any) == .int64(3))
        #expect(try PropertyValue(any: NSDecimalNumber(string: "1.5")) == .decimal(Decimal(string: "1.5") ?? 0))
        #expect(try PropertyValue(any: [1, "a", NSNull()] as [Any]) == .array([.int64(1), .string("a"), .null]))
        #expect(try PropertyValue(any: NSSet(array: [1, 2])) == .set([.int64(1), .int64(2)]))
        #expect(throws: InvalidPredicateError.self) { try PropertyValue(any: Album(title: "", year: 0)) }
        #expect(PropertyValue.int64(5).any as? Int16 == 5)
        #expect(PropertyValue.int64(5).any as? Int == 5)
        #expect(PropertyValue.bool(true).any as? Bool == true)
        #expect(PropertyValue.double(1.5).any as? Double == 1.5)
        #expect(PropertyValue.null.any == nil)
        #expect(PropertyValue.array([.int64(1), .null]).any as? [NSObject] == [NSNumber(value: 1), NSNull()])
    }
}
