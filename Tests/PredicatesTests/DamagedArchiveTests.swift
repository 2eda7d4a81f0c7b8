import Foundation
import PredicateCases
import Predicates
import PropertyLists
import TestSupport
import Testing

/// Archives that were damaged, or made to do harm. Reading one is an error or a predicate, and never ends the program.
@Suite struct DamagedArchiveTests {
    @Test func aDamagedArchiveIsAnErrorOrAPredicateThatCanBeArchivedAgain() throws {
        let seed = TestSeed.current(for: "aDamagedArchiveIsAnErrorOrAPredicateThatCanBeArchivedAgain")
        var random = SeededGenerator(seed: seed)
        let archives = try DamagedArchiveTests.formats.flatMap { format in
            let data = try PredicateArchive.data(of: NSPredicate(parsing: format))
            return [data, try DamagedArchiveTests.inXML(data)]
        }
        var (count, readCount, errorCount) = (0, 0, 0)
        for _ in TestRounds(seconds: 6.6, atLeast: 1000) {
            count += 1
            var archive = try #require(archives.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { archive.damage(using: &random) }
            do {
                let predicate = try PredicateArchive.predicate(from: archive)
                readCount += 1
                guard let again = try? PredicateArchive.data(of: predicate) else { continue }
                let read = try PredicateArchive.predicate(from: again)
                // A number that is none equals nothing, so the texts are compared.
                expect(read.formatString, equals: predicate.formatString, "seed \(seed)")
            } catch is InvalidPredicateError {
                errorCount += 1
            }
        }
        // A fiftieth at least is of either kind.
        #expect(
            readCount > count / 50 && errorCount > count / 50,
            "COREDATA_TEST_SEED=\(seed): of \(count), \(readCount) were read, \(errorCount) were errors")
    }

    @Test func anArchiveThatEndsEarlyIsAnError() throws {
        let whole = try PredicateArchive.data(of: NSPredicate(format: "a.b IN {1, 'x'} AND NOT c == 2"))
        for archive in [whole, try DamagedArchiveTests.inXML(whole)] {
            for count in stride(from: 0, to: archive.count - 10, by: 19) {
                #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(from: archive.prefix(count)) }
            }
        }
    }

    @Test("An archive in XML is read", arguments: formats) func anArchiveInXMLIsRead(format: String) throws {
        let predicate = try NSPredicate(parsing: format)
        let data = try DamagedArchiveTests.inXML(PredicateArchive.data(of: predicate))
        try expect(PredicateArchive.predicate(from: data).tree(), equals: predicate.tree())
    }

    @Test func anObjectThatHoldsItselfIsAnError() throws {
        let not =
            "<dict><key>$class</key>\(uid(2))<key>NSCompoundPredicateType</key><integer>0</integer><key>NSSubpredicates</key>\(uid(3))</dict>"
        let list = "<dict><key>$class</key>\(uid(4))<key>NS.objects</key><array>\(uid(1))</array></dict>"
        try expectError("holds itself", [not, named("NSCompoundPredicate"), list, named("NSArray")])
    }

    @Test func constantsThatHoldThemselvesAreErrors() throws {
        for (name, field) in [("NSArray", "<key>NS.objects</key><array>\(uid(6))</array>"), ("NSSet", "<key>NS.object.0</key>\(uid(6))")] {
            try expectError("holds itself", comparison(with: "<dict><key>$class</key>\(uid(7))\(field)</dict>", className: name))
        }
        let url = "<dict><key>$class</key>\(uid(7))<key>NS.base</key>\(uid(6))<key>NS.relative</key>\(uid(10))</dict>"
        try expectError("holds itself", comparison(with: url, className: "NSURL") + ["<string>a</string>"])
    }

    @Test func aSmallArchiveOfALargeTreeIsAnError() throws {
        // Thirty compounds, each of which holds the next one ten times: 10^30 comparisons.
        var objects: [String] = []
        for level in 0..<30 {
            let number = level * 2 + 1
            let parts = String(repeating: uid(level == 29 ? 63 : number + 2), count: 10)
            objects += [
                "<dict><key>$class</key>\(uid(61))<key>NSCompoundPredicateType</key><integer>1</integer><key>NSSubpredicates</key>\(uid(number + 1))</dict>",
                "<dict><key>$class</key>\(uid(62))<key>NS.objects</key><array>\(parts)</array></dict>",
            ]
        }
        let last = [named("NSCompoundPredicate"), named("NSArray"), "<dict><key>$class</key>\(uid(64))</dict>", named("NSTruePredicate")]
        try expectError("much larger than itself", objects + last)
    }

    @Test func objectsOfOtherClassesInTheWrongPlaceAreErrors() throws {
        let date = "<dict><key>$class</key>\(uid(7))<key>NS.time</key><real>1</real></dict>"
        #expect(throws: InvalidPredicateError.self) {
            try PredicateArchive.predicate(from: archive(comparison(with: date, className: "NSLocale")))
        }
        let read = try PredicateArchive.predicate(from: archive(comparison(with: date, className: "NSDate")))
        try expect(read.tree(), equals: .compare(.evaluatedObject, .equal, .constant(.date(Date(timeIntervalSinceReferenceDate: 1)))))
    }

    @Test func collectionsThatNestTooDeeplyAreErrorsOfTheArchiver() throws {
        // The comparison is a level, and what is in the innermost collection.
        for levels in [1, PredicateLimits.archiveNesting / 2, PredicateLimits.archiveNesting] {
            let value = (0..<levels).reduce(PropertyValue.string("x")) { value, _ in .array([value]) }
            let predicate = NSPredicate(tree: .compare(.path("a"), .equal, .constant(value)))
            if levels < PredicateLimits.archiveNesting {
                try expect(PredicateArchive.predicate(from: PredicateArchive.data(of: predicate)).tree(), equals: predicate.tree())
            } else {
                #expect(throws: InvalidPredicateError.self) { try PredicateArchive.data(of: predicate) }
            }
        }
    }

    @Test func partsOfAnArchiveAreRead() throws {
        let archive = try KeyedArchive(PredicateArchive.data(of: NSPredicate(format: "a.b == 1")))
        try expect(PredicateArchive.predicate(in: archive, at: archive.rootIndex).formatString, equals: "a.b == 1")
        let side = try #require(archive.root?.reference("NSLeftExpression"))
        try expect(PredicateArchive.expression(in: archive, at: side).tree(), equals: ExpressionTree(parsing: "a.b"))
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(in: archive, at: side) }
        #expect(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(in: archive, at: 100_000) }
    }

    @Test func valuesThatHoldThemselvesAreNil() throws {
        let url = "<dict><key>$class</key>\(uid(2))<key>NS.relative</key>\(uid(1))</dict>"
        #expect(try KeyedArchive(archive([url, named("NSURL")])).value(of: 1) == nil)
        let mapped =
            "<dict><key>$class</key>\(uid(2))<key>searchMapping</key>\(uid(1))<key>values</key>\(uid(1))<key>keys</key>\(uid(1))</dict>"
        let dictionary = try KeyedArchive(archive([mapped, named("NSDictionary")]))
        #expect(dictionary.value(of: 1) == nil && dictionary.root?.elements() == nil && dictionary.root?.pairs() == nil)
        let list = "<dict><key>$class</key>\(uid(2))<key>NS.objects</key><array>\(uid(1))\(uid(1))</array></dict>"
        #expect(try KeyedArchive(archive([list, named("NSArray")])).value(of: 1) is [Any])
    }

    @Test func numbersBeyondSignedOnesAreReadInBothFormats() throws {
        let constant = archive(comparison(with: "<integer>18446744073709551615</integer>", className: "NSNumber"))
        let binary = try PropertyListSerialization.data(
            fromPropertyList: PropertyListSerialization.propertyList(from: constant, format: nil), format: .binary, options: 0)
        for data in [constant, binary] {
            let read = try PredicateArchive.predicate(from: data).tree()
            expect(read, equals: .compare(.evaluatedObject, .equal, .constant(.decimal(Decimal(UInt64.max)))))
        }
    }

    @Test func theTextOfAnArchiveInXMLIsReadAsItStands() throws {
        func constant(_ string: String, head: String = "") throws -> PredicateTree {
            let text = String(decoding: archive(comparison(with: string, className: "NSString")), as: UTF8.self)
            return try PredicateArchive.predicate(from: Data(text.replacingOccurrences(of: "<plist", with: head + "<plist").utf8)).tree()
        }
        func equal(_ text: String) -> PredicateTree { .compare(.evaluatedObject, .equal, .constant(.string(text))) }
        let type = "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">"
        try expect(constant("<string> a\n<!-- no text -->b &#x41;&amp;<![CDATA[<c>]]></string>", head: type), equals: equal(" a\nb A&<c>"))
        try expect(constant("<string/>"), equals: equal(""))
        #expect(throws: InvalidPredicateError.self) { try constant("<string>&a;</string>") }
        #expect(throws: InvalidPredicateError.self) { try constant("<string>a</string>", head: "<!DOCTYPE plist [<!ENTITY a \"b\">]>") }
        #expect(throws: InvalidPredicateError.self) { try constant("<string>a<string>b</string></string>") }
    }

    // MARK: Archives by hand

    private func uid(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }

    private func named(_ name: String) -> String {
        "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string></array></dict>"
    }

    private func archive(_ objects: [String]) -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$top</key><dict><key>root</key>\(uid(1))</dict>
            <key>$objects</key><array><string>$null</string>\(objects.joined())</array></dict></plist>
            """.utf8)
    }

    /// `SELF ==` a constant, which is number 6, with its class as number 7.
    private func comparison(with constant: String, className: String) -> [String] {
        let comparison = "<key>NSLeftExpression</key>\(uid(8))<key>NSRightExpression</key>\(uid(5))<key>NSPredicateOperator</key>\(uid(3))"
        return [
            "<dict><key>$class</key>\(uid(2))\(comparison)</dict>", named("NSComparisonPredicate"),
            "<dict><key>$class</key>\(uid(4))<key>NSOperatorType</key><integer>4</integer></dict>", named("NSEqualityPredicateOperator"),
            "<dict><key>$class</key>\(uid(9))<key>NSExpressionType</key><integer>0</integer><key>NSConstantValue</key>\(uid(6))</dict>",
            constant, named(className), "<dict><key>$class</key>\(uid(9))<key>NSExpressionType</key><integer>1</integer></dict>",
            named("NSExpression"),
        ]
    }

    private func expectError(_ message: String, _ objects: [String]) throws {
        let error = try #require(throws: InvalidPredicateError.self) { try PredicateArchive.predicate(from: archive(objects)) }
        #expect(error.message.contains(message), "\(error)")
    }

    // MARK: Damage

    static let formats = [
        "a == 1", "a.b IN {1, 'x', nil} AND NOT c LIKE[cd] 'x*'", "SUBQUERY(a, $x, $x.b > 1).@count > 0",
        "TERNARY(a == 1, 2.5, b) == c[FIRST]",
        "a UNION {1} == b", "ANY a.b BETWEEN {1, 2.5} OR TRUEPREDICATE", "FETCH($r, $c, YES) == ($x := 5)", "CAST(a, 'NSDate') < now()",
    ]

    private static func inXML(_ data: Data) throws -> Data {
        try PropertyListSerialization.data(
            fromPropertyList: PropertyListSerialization.propertyList(from: data, format: nil), format: .xml, options: 0)
    }
}
