import CoreData
import Foundation
import Platform
import PredicateCases
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Archives of transformable values that were damaged, or made to do harm: reading one is an error that names entity, attribute and row.
@Suite struct DamagedTransformableTests {
    private static func uid(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }

    private static func named(_ name: String) -> String {
        "<dict><key>$classname</key><string>\(name)</string><key>$classes</key><array><string>\(name)</string></array></dict>"
    }

    private static func object(_ classIndex: Int, _ fields: String = "") -> String {
        "<dict><key>$class</key>\(uid(classIndex))\(fields)</dict>"
    }

    private static func list(_ classIndex: Int, _ elements: [Int], key: String = "NS.objects") -> String {
        object(classIndex, "<key>\(key)</key><array>\(elements.map(uid).joined())</array>")
    }

    private static func archive(_ objects: [String]) -> Data {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$version</key><integer>100000</integer>
            <key>$top</key><dict><key>root</key>\(uid(1))</dict><key>$objects</key><array><string>$null</string>\(objects.joined())</array></dict></plist>
            """
        return Data(xml.utf8)
    }

    private static let damaged: [(name: String, data: Data)] = [
        ("an array that contains itself", archive([list(2, [1]), named("NSArray")])),
        ("a set that contains itself", archive([object(2, "<key>NS.object.0</key>\(uid(1))"), named("NSSet")])),
        ("a class beyond the end", archive([list(9, [])])),
        ("a class that is a string", archive([list(2, []), "<string>NSArray</string>"])),
        (
            "a dictionary with two keys and one value",
            archive([
                object(
                    2, "<key>NS.keys</key><array>\(uid(3))\(uid(4))</array><key>NS.objects</key><array>\(uid(3))</array>"),
                named("NSDictionary"),
                "<string>a</string>", "<string>b</string>",
            ])
        ),
        (
            "an array of numbers instead of references",
            archive([object(2, "<key>NS.objects</key><array><integer>1</integer></array>"), named("NSArray")])
        ),
        ("an array without elements", archive([object(2), named("NSArray")])),
        ("a date without a time", archive([object(2, "<key>NS.time</key><string>x</string>"), named("NSDate")])),
        (
            "a URL that is its own base",
            archive([object(2, "<key>NS.base</key>\(uid(1))<key>NS.relative</key>\(uid(3))"), named("NSURL"), "<string>a</string>"])
        ),
        ("an element that is not there", archive([list(2, [77]), named("NSArray")])),
        (
            "arrays in arrays, 5,000 levels",
            archive([list(5001, [2])] + (2..<5000).map { list(5001, [$0 + 1]) } + ["<string>x</string>", named("NSArray")])
        ),
        (
            "arrays that contain the next one ten times",
            archive((1..<40).map { list(41, Array(repeating: $0 + 1, count: 10)) } + ["<string>x</string>", named("NSArray")])
        ),
        (
            "equal sets in sets",
            archive((1..<60).map { list(61, [$0 + 1, $0 + 1]) } + ["<string>x</string>", named("NSSet")])
        ),
        (
            "a set of many sets with one hash",
            archive(
                [list(2, Array(4...6003)), named("NSSet"), named("NSSet")] + (0..<6000).map { list(3, [6004 + $0]) }
                    + (0..<6000).map { "<integer>\($0)</integer>" })
        ),
        (
            "a count beyond measure",
            archive([
                object(
                    2,
                    "<key>NS.count</key><integer>1</integer><key>NS.count0</key><integer>9000000000000000000</integer><key>NS.object0</key>\(uid(3))"
                ), named("NSCountedSet"), "<string>x</string>",
            ])
        ),
    ]

    @Test("A damaged archive is an error that names its place", arguments: [nil, "NSSecureUnarchiveFromData"])
    func errorsNameThePlace(transformer: String?) throws {
        for (name, data) in Self.damaged {
            let error = try #require(
                failure { _ = try ArchivedClassesTests.value(of: data, ArchivedClassesTests.model(transformer)) }, Comment(rawValue: name))
            #expect(error.localizedDescription.contains("Thing.value"), "\(name): \(error)")
            #expect(error.localizedDescription.contains("Z_PK 7 in ZTHING"), "\(name): \(error)")
            #expect(error.localizedDescription.contains("archive is damaged"), "\(name): \(error)")
        }
    }

    /// Archives of values of all types, and of program classes.
    private static func archives() throws -> [Data] {
        let values: [Any] = [
            ["a", 1, 2.5, true, Data([1]), Date(), UUID(), URL(string: "https://example.org")!, NSNull(), NSDecimalNumber(string: "1.5")]
                as [Any],
            ["a": ["b": ["c": [1, 2, 3]]]], Set(["x", "y"]), [Cover("a", maker: Maker("b"), anything: ["c"] as NSArray), Cover("d")],
        ]
        let allowed = ArchiveClasses(allowed: ArchiveClasses.values + [Cover.self])
        var archives = try values.map { try #require(try AttributeArchive.archive(of: $0, allowed: allowed)) }
        for value in [NSSet(array: ["a", "b"]), NSOrderedSet(array: ["a", 1]), NSCountedSet(array: ["a", "a", "b"])] {
            archives.append(try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false))
        }
        archives += try archives.map {
            try PropertyListSerialization.data(
                fromPropertyList: PropertyListSerialization.propertyList(from: $0, format: nil), format: .xml, options: 0)
        }
        return archives
    }

    @Test func archivesDamagedAtRandomAreErrorsOrValues() throws {
        let seed = TestSeed.current(for: "archivesDamagedAtRandomAreErrorsOrValues")
        var random = SeededGenerator(seed: seed)
        let archives = try Self.archives()
        let allowed = ArchiveClasses(allowed: ArchiveClasses.values + [Cover.self])
        var counts = (values: 0, damages: 0, refusals: 0)
        let runs = Intruder.runs.withLock { $0 }
        var count = 0
        for _ in TestRounds(seconds: 0.3, atLeast: 600) {
            count += 1
            var archive = try #require(archives.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { archive.damage(using: &random) }
            do {
                guard let value = try AttributeArchive.object(in: archive, allowed: allowed) else { continue }
                // What was read can be hashed, compared, printed and, mostly, written again.
                if let object = value as? NSObject { #expect(object.isEqual(object) && object.hash == object.hash, "seed \(seed)") }
                _ = try? AttributeArchive.archive(of: value, allowed: allowed)
                counts.values += 1
            } catch is AttributeArchive.Damage {
                counts.damages += 1
            } catch is ArchiveClassRefusal {
                counts.refusals += 1
            }
        }
        // A thirtieth at least is of either kind.
        #expect(
            counts.values > count / 30 && counts.damages > count / 30 && counts.refusals > 0,
            "COREDATA_TEST_SEED=\(seed): of \(count), \(counts)")
        expect(Intruder.runs.withLock { $0 }, equals: runs)
    }
}
