import Foundation
import TestSupport
import Testing

@testable import Predicates

/// Every kind of node: the tree it becomes, and that the tree answers as Foundation does, whichever logic nil follows.
@Suite struct PredicateTranslationTests {
    enum Genre: String, Codable { case rock, jazz }

    final class Item {
        var title: String
        var note: String?
        var year: Int
        var rating: Double?
        var plays: Int?
        var isLoved: Bool
        var isHidden: Bool?
        var genre: Genre
        var released: Date
        var price: Decimal
        var key: UUID
        var link: URL
        var cover: Data
        var scores: [Int]
        var labels: Set<String>
        var counts: [String: Int]
        var other: Item?
        var parts: [Item]

        init(_ number: Int, other: Item? = nil, parts: [Item] = []) {
            let titles = ["Dawn Chorus", "dawn", "", "Ágætis", "LP5", "a"]
            title = titles[number % titles.count]
            note = number % 3 == 0 ? nil : ["first", "Dawn", "b"][number % 3]
            year = 1998 + number % 5
            rating = number % 2 == 0 ? nil : Double(number) / 2
            plays = number % 4 == 0 ? nil : number
            isLoved = number % 2 == 0
            isHidden = [nil, true, false][number % 3]
            genre = number % 3 == 1 ? .jazz : .rock
            released = Date(timeIntervalSinceReferenceDate: Double(number) * 100)
            price = Decimal(number) / 4
            key = number == 3 ? Samples.key : UUID()
            link = URL(string: "https://example.org/\(number)")!
            cover = Data([UInt8(number)])
            scores = Array(0..<(number % 4))
            labels = number % 2 == 0 ? ["new"] : ["old", "rare"]
            counts = number % 2 == 0 ? ["a": number] : [:]
            self.other = other
            self.parts = parts
        }
    }

    enum Samples {
        static let key = UUID()

        static func items() -> [Item] {
            let single = (0..<12).map { Item($0) }
            let paired = (0..<12).map { Item($0, other: single[($0 * 5) % 12], parts: Array(single[0..<($0 % 5)])) }
            return single + paired + (0..<12).map { Item($0 * 7, other: paired[$0], parts: [paired[$0], single[11 - $0]]) }
        }
    }

    private let items = Samples.items()

    /// Checks that a predicate is printed as `format`, and that it answers as Foundation does wherever Foundation answers.
    private func check(
        _ predicate: Foundation.Predicate<Item>, _ format: String, matchesSome: Bool = true, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let translated = try NSPredicate(translating: predicate)
        expect(translated.formatString, equals: format, sourceLocation: location)
        let schema = PlainSchema()
        let logics = try [NilLogic.twoValued, .threeValued].map { try translated.compiled(for: schema, logic: $0) }
        var answers: Set<Bool> = []
        for (number, item) in items.enumerated() {
            guard let expected = try? predicate.evaluate(item) else { continue }
            answers.insert(expected)
            let box = PlainValue(original: item, value: try PropertyValue(plain: item))
            for logic in logics {
                let found = try withExtendedLifetime(box) { try logic.matches(box.subject) }
                expect(found, equals: expected, "item \(number) and \(format)", sourceLocation: location)
            }
        }
        if matchesSome { expect(answers, equals: [true, false], "The items do not tell the answers apart.", sourceLocation: location) }
    }

    /// The message of the error that translating throws.
    private func message(_ predicate: Foundation.Predicate<Item>) -> String? {
        do {
            _ = try PredicateTree(predicate)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func equalityComparesProperties() throws {
        let title = "dawn"
        try check(#Predicate { $0.title == title }, "title == \"dawn\"")
        try check(#Predicate { $0.title != title }, "title != \"dawn\"")
        try check(#Predicate { !($0.title == title) }, "title != \"dawn\"")
    }

    @Test func equalityOfOptionalsKnowsTwoAnswersAsSwiftDoes() throws {
        try check(#Predicate { $0.note == "Dawn" }, "note == \"Dawn\"")
        try check(#Predicate { $0.note != "Dawn" }, "note != \"Dawn\" OR note == nil")
        try check(#Predicate { !($0.note == "Dawn") }, "note != \"Dawn\" OR note == nil")
        try check(#Predicate { $0.note == nil }, "note == nil")
        try check(#Predicate { $0.note != nil }, "note != nil")
        let none: String? = nil
        try check(#Predicate { $0.note == none }, "note == nil")
        try check(#Predicate { $0.isHidden == true }, "isHidden == TRUE")
        try check(#Predicate { $0.isHidden != true }, "isHidden != TRUE OR isHidden == nil")
        try check(
            #Predicate { $0.note == $0.other?.note }, "note == other.note OR (note == nil AND other.note == nil)")
        try check(
            #Predicate { $0.note != $0.other?.note },
            "note != other.note OR (note == nil AND other.note != nil) OR (note != nil AND other.note == nil)")
    }

    @Test func capturedValuesBecomeConstants() throws {
        let year = 2000
        let date = Date(timeIntervalSinceReferenceDate: 300)
        let price = Decimal(string: "0.75")!
        let key = Samples.key
        let link = URL(string: "https://example.org/3")!
        let cover = Data([3])
        let genre = Genre.jazz
        try check(#Predicate { $0.year == year }, "year == 2000")
        try check(#Predicate { $0.released == date }, "released == CAST(300.0, \"NSDate\")")
        try check(#Predicate { $0.price == price }, "price == CAST(\"0.75\", \"NSDecimalNumber\")")
        try check(#Predicate { $0.key == key }, "key == CAST(\"\(key.uuidString)\", \"NSUUID\")")
        try check(#Predicate { $0.link == link }, "link == CAST(\"https://example.org/3\", \"NSURL\")")
        try check(#Predicate { $0.cover == cover }, "cover == CAST(\"Aw==\", \"NSData\")")
        try check(#Predicate { $0.genre == genre }, "genre == \"jazz\"")
        try check(#Predicate { $0.rating == 1.5 }, "rating == 1.5")
    }

    @Test func comparisonsKeepTheirOperators() throws {
        try check(#Predicate { $0.year < 2000 }, "year < 2000")
        try check(#Predicate { $0.year <= 2000 }, "year <= 2000")
        try check(#Predicate { $0.year > 2000 }, "year > 2000")
        try check(#Predicate { $0.year >= 2000 }, "year >= 2000")
        try check(#Predicate { !($0.year >= 2000) }, "NOT year >= 2000")
        try check(#Predicate { $0.title < "b" }, "title < \"b\"")
    }

    @Test func logicIsFlattenedAndNegationGoesInwards() throws {
        try check(
            #Predicate { $0.year > 1998 && $0.isLoved && $0.title != "a" }, "year > 1998 AND isLoved == TRUE AND title != \"a\"")
        try check(#Predicate { $0.year == 1998 || $0.isLoved }, "year == 1998 OR isLoved == TRUE")
        try check(#Predicate { !($0.note == "b" && $0.isLoved) }, "note != \"b\" OR note == nil OR NOT isLoved == TRUE")
        try check(#Predicate { !($0.note == "b" || $0.isLoved) }, "(note != \"b\" OR note == nil) AND NOT isLoved == TRUE")
        try check(#Predicate { $0.isLoved == false }, "NOT isLoved == TRUE")
        try check(#Predicate { $0.isLoved != ($0.year > 2000) }, "isLoved != TERNARY(year > 2000, TRUE, FALSE)")
        try check(Foundation.Predicate<Item>.true, "TRUEPREDICATE", matchesSome: false)
        try check(Foundation.Predicate<Item>.false, "FALSEPREDICATE", matchesSome: false)
    }

    @Test func optionalChainsBecomePaths() throws {
        try check(#Predicate { $0.other?.title == "dawn" }, "other.title == \"dawn\"")
        try check(#Predicate { $0.other?.title != "dawn" }, "other.title != \"dawn\" OR other.title == nil")
        try check(#Predicate { $0.other?.other?.year == 2000 }, "other.other.year == 2000")
        try check(#Predicate { $0.other!.year == 2000 }, "other.year == 2000")
        try check(#Predicate { $0.rating! > 1 }, "rating > 1.0")
    }

    @Test func aConditionOnAnOptionalIsFalseOrWhatItIsSaidToBeWhereThereIsNone() throws {
        try check(#Predicate { $0.note?.contains("w") ?? false }, "note != nil AND note CONTAINS \"w\"")
        try check(#Predicate { $0.note?.contains("w") ?? true }, "note == nil OR note CONTAINS \"w\"")
        try check(#Predicate { !($0.note?.contains("w") ?? false) }, "note == nil OR NOT note CONTAINS \"w\"")
        try check(#Predicate { $0.note?.contains("w") == true }, "note != nil AND note CONTAINS \"w\"")
        try check(#Predicate { $0.note?.contains("w") != true }, "note == nil OR NOT note CONTAINS \"w\"")
        try check(#Predicate { $0.note?.contains("w") == false }, "note != nil AND NOT note CONTAINS \"w\"")
        try check(#Predicate { $0.rating.flatMap { $0 > 2 } == true }, "rating != nil AND rating > 2.0")
        try check(
            #Predicate { if let rating = $0.rating { rating > 2 } else { false } }, "rating != nil AND rating > 2.0")
    }

    @Test func nilCoalescingIsAConditionalValue() throws {
        try check(#Predicate { ($0.rating ?? 0) > 1 }, "TERNARY(rating != nil, rating, 0.0) > 1.0")
        try check(#Predicate { !(($0.rating ?? 0) > 1) }, "NOT TERNARY(rating != nil, rating, 0.0) > 1.0")
        try check(#Predicate { ($0.other?.title ?? "") == "" }, "TERNARY(other.title != nil, other.title, \"\") == \"\"")
        try check(
            #Predicate { ($0.other?.parts.count ?? 2) > 1 },
            "TERNARY(TERNARY(other != nil, other.parts.@count, nil) != nil, TERNARY(other != nil, other.parts.@count, nil), 2) > 1")
    }

    @Test func aConditionalChoosesBetweenValuesOrConditions() throws {
        try check(#Predicate { ($0.isLoved ? $0.year : 0) > 1999 }, "TERNARY(isLoved == TRUE, year, 0) > 1999")
        try check(
            #Predicate { $0.isLoved ? $0.year > 1999 : $0.note == nil },
            "(isLoved == TRUE AND year > 1999) OR (NOT isLoved == TRUE AND note == nil)")
    }

    @Test func arithmeticIsCalculatedInThePredicate() throws {
        try check(#Predicate { $0.year + 2 > 2001 }, "year + 2 > 2001")
        try check(#Predicate { $0.year - 2000 > 0 }, "year - 2000 > 0")
        try check(#Predicate { $0.year * 2 > 4000 }, "year * 2 > 4000")
        try check(#Predicate { -$0.year < -2000 }, "-year < -2000")
        try check(#Predicate { $0.year / 2 == 1000 }, "year / 2 == 1000")
        try check(#Predicate { $0.year % 2 == 0 }, "modulus:by:(year, 2) == 0")
        try check(#Predicate { $0.rating! / 2 > 1 }, "rating / 2.0 > 1.0")
    }

    @Test func rangesAreBetweenOrTwoComparisons() throws {
        let years = 1999...2000
        let later = 1999..<2001
        try check(#Predicate { (1999...2000).contains($0.year) }, "year BETWEEN {1999, 2000}")
        try check(#Predicate { years.contains($0.year) }, "year BETWEEN {1999, 2000}")
        try check(#Predicate { (1999..<2001).contains($0.year) }, "year >= 1999 AND year < 2001")
        try check(#Predicate { later.contains($0.year) }, "year >= 1999 AND year < 2001")
        try check(#Predicate { !later.contains($0.year) }, "NOT (year >= 1999 AND year < 2001)")
        try check(#Predicate { ($0.other!.year...2002).contains($0.year) }, "year BETWEEN {other.year, 2002}")
        let from = 2000...
        let upTo = ..<2000
        let through = ...2000
        try check(#Predicate { from.contains($0.year) }, "year >= 2000")
        try check(#Predicate { upTo.contains($0.year) }, "year < 2000")
        try check(#Predicate { through.contains($0.year) }, "year <= 2000")
        let dates = Date(timeIntervalSinceReferenceDate: 100)...Date(timeIntervalSinceReferenceDate: 500)
        try check(
            #Predicate { dates.contains($0.released) }, "released BETWEEN {CAST(100.0, \"NSDate\"), CAST(500.0, \"NSDate\")}")
    }

    @Test func membershipIsIN() throws {
        let titles = ["dawn", "a"]
        let years: Set = [1999]
        let notes: [String?] = ["b", nil]
        let known: [String?] = ["b"]
        try check(#Predicate { titles.contains($0.title) }, "title IN {\"dawn\", \"a\"}")
        try check(#Predicate { !titles.contains($0.title) }, "NOT title IN {\"dawn\", \"a\"}")
        try check(#Predicate { years.contains($0.year) }, "year IN {1999}")
        try check(#Predicate { [1999, 2000].contains($0.year) }, "year IN {1999, 2000}")
        try check(#Predicate { $0.scores.contains(2) }, "2 IN scores")
        try check(#Predicate { $0.labels.contains("old") }, "\"old\" IN labels")
        try check(#Predicate { notes.contains($0.note) }, "note IN {\"b\"} OR note == nil")
        try check(#Predicate { !notes.contains($0.note) }, "NOT note IN {\"b\"} AND note != nil")
        try check(#Predicate { known.contains($0.note) }, "note IN {\"b\"} AND note != nil")
        try check(#Predicate { !known.contains($0.note) }, "NOT note IN {\"b\"} OR note == nil")
    }

    @Test func conditionsOnElementsAreCountsOfSubqueries() throws {
        try check(
            #Predicate { $0.parts.contains { $0.year > 2000 } }, "SUBQUERY(parts, $element1, $element1.year > 2000).@count > 0")
        try check(
            #Predicate { !$0.parts.contains { $0.note == "b" } }, "SUBQUERY(parts, $element1, $element1.note == \"b\").@count == 0")
        try check(
            #Predicate { $0.parts.allSatisfy { $0.note == "b" } },
            "SUBQUERY(parts, $element1, $element1.note != \"b\" OR $element1.note == nil).@count == 0")
        try check(
            #Predicate { !$0.parts.allSatisfy { $0.note == "b" } },
            "SUBQUERY(parts, $element1, $element1.note != \"b\" OR $element1.note == nil).@count > 0")
        try check(
            #Predicate { $0.parts.filter { $0.isLoved }.count > 1 },
            "SUBQUERY(parts, $element1, $element1.isLoved == TRUE).@count > 1")
        try check(
            #Predicate { item in item.parts.contains { part in part.parts.contains { $0.year == item.year } } },
            "SUBQUERY(parts, $element1, SUBQUERY($element1.parts, $element2, $element2.year == year).@count > 0).@count > 0")
        try check(#Predicate { $0.scores.contains { $0 > 1 } }, "SUBQUERY(scores, $element1, $element1 > 1).@count > 0")
    }

    @Test func collectionsAreCountedAndAsked() throws {
        try check(#Predicate { $0.parts.count > 2 }, "parts.@count > 2")
        try check(#Predicate { $0.parts.isEmpty }, "parts.@count == 0")
        try check(#Predicate { !$0.parts.isEmpty }, "parts.@count != 0")
        try check(#Predicate { $0.parts.first?.year == 1998 }, "parts[FIRST].year == 1998")
        try check(#Predicate { $0.scores.last == 2 }, "scores[LAST] == 2")
        try check(#Predicate { $0.scores[0] == 0 }, "scores[0] == 0", matchesSome: false)
        try check(#Predicate { $0.scores.max() == 2 }, "scores.@max.self == 2")
        try check(#Predicate { $0.scores.min() == 0 }, "scores.@min.self == 0")
        try check(#Predicate { $0.counts["a"] == 4 }, "counts[\"a\"] == 4")
        try check(#Predicate { $0.counts["a", default: 4] == 4 }, "TERNARY(counts[\"a\"] != nil, counts[\"a\"], 4) == 4")
    }

    @Test func textIsSearchedAndCompared() throws {
        try check(#Predicate { $0.title.contains("aw") }, "title CONTAINS \"aw\"")
        try check(#Predicate { $0.title.starts(with: "Da") }, "title BEGINSWITH \"Da\"")
        try check(#Predicate { !$0.title.starts(with: "Da") }, "NOT title BEGINSWITH \"Da\"")
        try check(#Predicate { $0.title.isEmpty }, "title == \"\"")
        try check(#Predicate { $0.title.count > 3 }, "title.length > 3")
        try check(#Predicate { $0.title.localizedStandardContains("AG") }, "title CONTAINS[cdl] \"AG\"")
        let same = ComparisonResult.orderedSame
        try check(#Predicate { $0.title.caseInsensitiveCompare("DAWN") == same }, "title ==[c] \"DAWN\"")
        try check(#Predicate { $0.title.caseInsensitiveCompare("DAWN") != same }, "NOT title ==[c] \"DAWN\"")
        try check(#Predicate { $0.title.localizedCompare("dawn") == same }, "title ==[l] \"dawn\"")
    }

    // Written node by node: the compiler warns of casts that it can decide itself, and the macro does not know `evaluate`.
    private typealias Nodes = PredicateExpressions

    @Test func castsThatAlwaysSucceedAreNoOperation() throws {
        try check(
            Foundation.Predicate {
                Nodes.Equal(
                    lhs: Nodes.ConditionalCast<_, String>(Nodes.build_KeyPath(root: $0, keyPath: \.title)),
                    rhs: Nodes.build_Arg(String?("dawn")))
            }, "title == \"dawn\"")
        try check(
            Foundation.Predicate {
                Nodes.Equal(
                    lhs: Nodes.ForceCast<_, String>(Nodes.build_KeyPath(root: $0, keyPath: \.title)), rhs: Nodes.build_Arg("dawn"))
            }, "title == \"dawn\"")
        try check(
            Foundation.Predicate { Nodes.TypeCheck<_, String>(Nodes.build_KeyPath(root: $0, keyPath: \.note)) }, "note != nil")
        try check(
            Foundation.Predicate {
                Nodes.build_Negation(Nodes.TypeCheck<_, String>(Nodes.build_KeyPath(root: $0, keyPath: \.note)))
            }, "note == nil")
        try check(
            Foundation.Predicate { Nodes.TypeCheck<_, String>(Nodes.build_KeyPath(root: $0, keyPath: \.title)) }, "TRUEPREDICATE",
            matchesSome: false)
    }

    @Test func anExpressionWithinAPredicateIsWrittenOut() throws {
        let age = #Expression<Item, Int> { 2010 - $0.year }
        let item = Nodes.Variable<Item>()
        let translation = PredicateTranslation()
        translation.bind(item, to: .evaluatedObject, name: "$0")
        let tree = try translation.predicate(
            Nodes.build_Comparison(lhs: Nodes.build_evaluate(Nodes.build_Arg(age), item), rhs: Nodes.build_Arg(10), op: .greaterThan))
        expect(tree.description, equals: "2010 - year > 10")
        try expect(ExpressionTree(age).description, equals: "2010 - year")
    }

    @Test func whatHasNoCounterpartIsShownInTheError() {
        expect(message(#Predicate { $0.scores[0..<1].contains(0) })?.contains("`$0.scores[(0..<1)]`"), equals: true)
        expect(message(#Predicate { $0.scores.starts(with: [1]) })?.contains("`$0.scores.starts(with: Array<Int>)`"), equals: true)
        expect(message(#Predicate { $0.title.first == nil })?.contains("`$0.title.first`"), equals: true)
        expect(message(#Predicate { $0.labels.first == "a" })?.contains("Set<String>"), equals: true)
        let after = ComparisonResult.orderedDescending
        expect(
            message(#Predicate { $0.title.caseInsensitiveCompare("b") == after })?.contains("`$0.title.caseInsensitiveCompare(\"b\")`"),
            equals: true)
        expect(message(#Predicate { $0.title.contains { $0 == $0 } })?.contains("`$0.title`"), equals: true)
        expect(
            message(#Predicate { $0.parts.contains { $0.scores.starts(with: [1]) } })?.contains("`$element1.scores.starts("), equals: true)
        let cast = Foundation.Predicate<Item> { Nodes.TypeCheck<_, UInt8>(Nodes.build_KeyPath(root: $0, keyPath: \.year)) }
        expect(message(cast)?.contains("`($0.year is UInt8)`"), equals: true)
        let own = Own()
        #expect(message(#Predicate { _ in own == own }) == nil, "What depends on nothing is a constant.")
        let regex = Foundation.Predicate<Item> {
            Nodes.StringContainsRegex(
                subject: Nodes.build_KeyPath(root: $0, keyPath: \.title), regex: Nodes.build_Arg(Nodes.PredicateRegex(/a+/)!))
        }
        expect(message(regex)?.contains("`$0.title.contains("), equals: true)
    }

    private struct Own: Equatable, Codable, Sendable { var number = 1 }

    @Test func aPredicateThatCannotBeTranslatedHoldsItsErrorAndMatchesNothingSilently() throws {
        let predicate = try #require(NSPredicate(#Predicate<Item> { $0.title.first == nil }))
        let error = try #require(predicate.parseError)
        expect(error.kind, equals: .unknownKeyPath)
        expect(predicate.formatString, equals: error.description)
        #expect(throws: error) { try predicate.tree() }
        #expect(throws: error) { try predicate.matches(items[0]) }
        #expect(throws: error) { try NSPredicate(translating: #Predicate<Item> { $0.title.first == nil }) }
    }

    @Test func aTranslatedPredicateIsAnOrdinaryPredicate() throws {
        let predicate = try #require(NSPredicate(#Predicate<Item> { $0.year > 2000 }))
        #expect(predicate.parseError == nil)
        expect(predicate.description, equals: "year > 2000")
        expect(predicate, equals: NSPredicate(#Predicate<Item> { $0.year > 2000 }))
        #expect(predicate != NSPredicate(#Predicate<Item> { $0.year > 2001 }))
        expect(items.filtered(using: predicate).count, equals: items.filter { $0.year > 2000 }.count)
        #expect(predicate.evaluate(with: items[3]))
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate, NSPredicate(format: "isLoved == TRUE")])
        expect(both.formatString, equals: "year > 2000 AND isLoved == TRUE")
    }
}
