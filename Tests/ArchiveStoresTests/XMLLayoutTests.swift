import CoreData
import Foundation
import Platform
import TestSupport
import Testing

@testable import ArchiveStores

/// The form of XML stores.
@Suite struct XMLLayoutTests {
    @Test func aStoreIsWrittenAsApplesFrameworkWritesIt() throws {
        let folder = try Folder()
        let url = folder.file("Library.xml")
        let context = try Library.open(.xml, url)
        try context.run { (context: NSManagedObjectContext) throws in
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            let metadata: [String: Any] = [
                NSStoreUUIDKey: store.identifier ?? "", NSStoreTypeKey: NSXMLStoreType, "note": "a < b", "list": [1, true, 2.5] as [Any],
                "nested": ["data": Data([1, 2, 3])],
            ]
            context.persistentStoreCoordinator?.setMetadata(metadata, for: store)
            let shelf = context.add("Shelf", ["name": "A & B \\ <c>\u{1}\u{0}\r\n\u{FFFF}é"])
            try context.save()
            context.add(
                "RareBook",
                [
                    "title": "T", "pageCount": 12, "copies": -3, "loans": Int64.max, "isLent": true, "weight": 0.1, "rating": Float(0.25),
                    "price": Decimal(string: "12345678901234567890.0123")!, "bought": Date(timeIntervalSinceReferenceDate: 445_103_622.25),
                    "cover": Data(repeating: 0x41, count: 60), "identifier": UUID(uuidString: "2055C8C1-55C8-47EF-8317-041F18C91B2D")!,
                    "link": URL(string: "https://example.org/?a=1&b")!, "year": 1605, "shelf": shelf,
                ])
            try context.save()
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        let uuid = try #require(text.firstMatch(of: /<UUID>(.*)<\/UUID>/)?.1)
        let wanted = """
            <?xml version="1.0" standalone="no"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(uuid)</UUID>
                    <nextObjectID>103</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>list</key>
                                <array>
                                    <integer>1</integer>
                                    <true/>
                                    <real>2.5</real>
                                </array>
                                <key>nested</key>
                                <dict>
                                    <key>data</key>
                                    <data>
            \t\tAQID
            \t\t</data>
                                </dict>
                                <key>note</key>
                                <string>a &lt; b</string>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>
                <object type="SHELF" id="z102">
                    <attribute name="name" type="string">A \\u2600 B \\\\ \\u3c00c\\u3e00\\u0100\\u0000\\u0d00
            \\uffffé</attribute>
                    <relationship name="books" type="0/0" destination="BOOK" idrefs="z103"></relationship>
                </object>
                <object type="RAREBOOK" id="z103">
                    <attribute name="year" type="int32">1605</attribute>
                    <attribute name="weight" type="double">0.10000000000000000555</attribute>
                    <attribute name="title" type="string">T</attribute>
                    <attribute name="rating" type="float">0.25000000000000000000</attribute>
                    <attribute name="price" type="decimal">12345678901234567890.0123</attribute>
                    <attribute name="pagecount" type="int16">12</attribute>
                    <attribute name="loans" type="int64">9223372036854775807</attribute>
                    <attribute name="link" type="string">https://example.org/?a=1\\u2600b</attribute>
                    <attribute name="islent" type="bool">1</attribute>
                    <attribute name="identifier" type="string">2055C8C1-55C8-47EF-8317-041F18C91B2D</attribute>
                    <attribute name="cover" type="binary">\(String(repeating: "QUFB", count: 19))
            QUFB
            </attribute>
                    <attribute name="copies" type="int32">-3</attribute>
                    <attribute name="bought" type="date">445103622.25000000000000000000</attribute>
                    <relationship name="shelf" type="0/1" destination="SHELF" idrefs="z102"></relationship>
                </object>
            </database>
            """
        expect(text, equals: wanted)
        let again = try Library.open(.xml, url)
        try again.run { (context: NSManagedObjectContext) throws in
            let shelf = try #require(try context.all("Shelf").first)
            let name = try #require(shelf.value(forKey: "name") as? String)
            expect(Array(name.unicodeScalars), equals: Array("A & B \\ <c>\u{1}\u{0}\r\n\u{FFFF}é".unicodeScalars))
            let book = try #require(try context.all("RareBook").first)
            expect(book.value(forKey: "link") as? URL, equals: URL(string: "https://example.org/?a=1&b"))
            expect(book.value(forKey: "cover") as? Data, equals: Data(repeating: 0x41, count: 60))
            expect(context.persistentStoreCoordinator?.persistentStores.first?.metadata["note"] as? String, equals: "a < b")
        }
    }

    @Test func numbersHaveTwentyDecimalsAndComeBackBitForBit() throws {
        let seed = TestSeed.current(for: "numbersHaveTwentyDecimals")
        var generator = SeededGenerator(seed: seed)
        let folder = try Folder()
        var numbers: [Double] = [
            0, -0.0, 1, -1, 0.5, 0.99999999999999989, 1e-300, .leastNonzeroMagnitude, 1.7976931348623157e308, 1e22, 1e39, 123_456_789.123,
            .infinity, 0.00390625,
            0.00390624999, 0x1p62, 0x1.fffffffffffffp61,
        ]
        let file = ArchiveFile(folder.file("numbers"))
        for _ in TestRounds(seconds: 6, atLeast: 200) {
            let any = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
            if any.isFinite { numbers.append(any) }
            numbers.append(Double.random(in: -1e9...1e9, using: &generator))
            numbers.append(Double.random(in: -1...1, using: &generator))
            for number in numbers {
                _ = try file.replaceUnsynced { try XMLStoreNumbers.write(number, to: $0) }
                let text = try #require(try file.read()).bytes
                let read = text.withUnsafeBytes { XMLStoreNumbers.double($0) }
                expect(read?.bitPattern, equals: number.bitPattern, "seed \(seed): \(number) as \(String(decoding: text, as: UTF8.self))")
                let magnitude = number.magnitude
                if magnitude == 0 || magnitude >= 0x1p-8, magnitude < 1e18 {
                    expect(String(decoding: text, as: UTF8.self), equals: String(format: "%.20f", number), "seed \(seed)")
                }
            }
            numbers.removeAll()
        }
    }

    @Test func namesThatDifferInTheirCaseOnlyAreWrittenAsTheyAre() throws {
        let entity = NSEntityDescription(name: "Thing")
        let other = NSEntityDescription(name: "THING")
        entity.properties = [NSAttributeDescription(name: "a", type: .string), NSAttributeDescription(name: "A", type: .string)]
        other.properties = [NSAttributeDescription(name: "b", type: .string)]
        func model() -> NSManagedObjectModel {
            NSManagedObjectModel(entities: [entity.copy() as! NSEntityDescription, other.copy() as! NSEntityDescription])
        }
        let folder = try Folder()
        try Library.open(.xml, folder.file("a.xml"), model()).run { (context: NSManagedObjectContext) throws in
            context.add("Thing", ["a": "small", "A": "large"])
            context.add("THING", ["b": "other"])
            try context.save()
        }
        try Library.open(.xml, folder.file("a.xml"), model()).run { (context: NSManagedObjectContext) throws in
            let thing = try #require(try context.all("Thing").first)
            expect(thing.value(forKey: "a") as? String, equals: "small")
            expect(thing.value(forKey: "A") as? String, equals: "large")
            try expect(context.all("THING").count, equals: 1)
        }
    }
}

extension ArchiveFile {
    /// Writes the file in place.
    func replaceUnsynced(_ body: (ArchiveOutput) throws -> Void) throws {
        let output = try ArchiveOutput(OpenFile(writing: path, existing: .emptied))
        try body(output)
        try output.flush()
    }
}
