import CoreData
import Foundation
import TestSupport
import Testing

@testable import ArchiveStores
@_spi(Stores) @testable import ObjectGraph

/// Files that are not as they should be.
@Suite struct DamagedFileTests {
    private static let beginning = """
        <?xml version="1.0"?>
        <database><databaseInfo><version>134481920</version><UUID>U</UUID><nextObjectID>105</nextObjectID><metadata></metadata></databaseInfo>

        """

    private func open(_ bytes: Data, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        let folder = try Folder()
        let url = folder.file("a.xml")
        try bytes.write(to: url)
        let context = try Library.open(.xml, url, options: options)
        try context.run { _ in }
        return context
    }

    @Test func whatIsWrongIsAnErrorWithLineAndColumn() throws {
        let cases: [(String, Int, Int, String)] = [
            (
                "<object type=\"SHELF\" id=\"z102\">\n  <attribute name=\"nam\" type=\"string\">x</attribute></object></database>", 4, 20,
                "no attribute “nam”"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\">\n<attribute name=\"pagecount\" type=\"int16\">40000</attribute></object></database>", 4,
                42, "32767"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><attribute name=\"loans\" type=\"int64\">1x</attribute></object></database>", 3, 68,
                "whole number"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><attribute name=\"weight\" type=\"double\">0x10</attribute></object></database>", 3, 70,
                "a number"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><attribute name=\"title\" type=\"int16\">1</attribute></object></database>", 3, 61,
                "int16"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><attribute name=\"cover\" type=\"binary\">QU*B</attribute></object></database>", 3, 71,
                "Base64"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><attribute name=\"bought\" type=\"date\">inf</attribute></object></database>", 3, 68,
                "seconds"
            ),
            ("<object type=\"CAR\" id=\"z102\"></object></database>", 3, 15, "no entity “CAR”"),
            ("<object type=\"BOOK\" id=\"102\"></object></database>", 3, 25, "“z”"),
            (
                "<object type=\"BOOK\" id=\"z102\"></object>\n<object type=\"BOOK\" id=\"z102\"></object></database>", 4, 25,
                "Another object"
            ),
            (
                "<object type=\"BOOK\" id=\"z102\"><relationship name=\"shelf\" destination=\"SHELF\" idrefs=\"z102\"></relationship></object></database>",
                3, 86, "leads to"
            ),
            (
                "<object type=\"SHELF\" id=\"z102\"><relationship name=\"books\" idrefs=\"z102\"></relationship></object></database>", 3,
                67, "leads to"
            ),
            ("<object type=\"SHELF\" id=\"z102\"><attribute name=\"name\">a &what; b</attribute></object></database>", 3, 57, "&what;"),
            (
                "<object type=\"SHELF\" id=\"z102\"><attribute name=\"name\">\\u00d8</attribute></object></database>", 3, 55,
                "half of a character"
            ),
            ("<object type=\"SHELF\" id=\"z102\"><attribute name=\"name\">a</attribute>", 3, 1, "not ended"),
            ("<object type=\"SHELF\" id=\"z102\"></object>", 3, 41, "not ended"),
            ("</database><x/>", 3, 12, "follow"),
        ]
        for (text, line, column, reason) in cases {
            let error = #expect(throws: NSError.self) { try self.open(Data((Self.beginning + text).utf8)) }
            expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
            expect(error?.userInfo["line"] as? Int, equals: line, "\(text): \(error?.localizedDescription ?? "")")
            expect(error?.userInfo["column"] as? Int, equals: column, "\(text): \(error?.localizedDescription ?? "")")
            expect(error?.localizedDescription.contains(reason), equals: true, "\(error?.localizedDescription ?? "")")
        }
    }

    @Test func metadataThatWouldStopFoundationsDecoderAreErrors() throws {
        let deep = String(repeating: "<array>", count: 200_000) + String(repeating: "</array>", count: 200_000)
        let reference = "<dict><key>CF$UID</key><integer>1</integer></dict>"
        for list in [deep, reference, "<string>a</string>", "<dict><key>a</key></dict>", "<dict>"] {
            let metadata = "<plist version=\"1.0\"><dict><key>k</key>\(list)</dict></plist>"
            let whole = list == "<string>a</string>" ? "<plist version=\"1.0\">\(list)</plist>" : metadata
            let text = Self.beginning.replacingOccurrences(of: "<metadata>", with: "<metadata>\(whole)")
            let error = #expect(throws: NSError.self) { try self.open(Data((text + "</database>").utf8)) }
            expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        }
    }

    @Test func filesThatPeopleHaveEditedAreRead() throws {
        let text =
            Self.beginning + """
                <!-- mine --><object id='z200' type='BOOK'><attribute name="title">a &amp; &#65;<!-- x --><![CDATA[<b>]]>\r\nc \\ \\n</attribute>
                <attribute name="isLent" type="bool"> true </attribute><attribute name="weight" type="double">NaN</attribute>
                <attribute name="rating" type="float">1e-3</attribute><attribute name="bought" type="date">0</attribute></object>
                <object type="SHELF" id="z103"><relationship name="books" idrefs=" z200  z201 "/></object>
                <object type="RAREBOOK" id="z201"/></database>

                """
        func check(_ context: NSManagedObjectContext) throws {
            try context.run { (context: NSManagedObjectContext) throws in
                let shelf = try #require(try context.all("Shelf").first)
                expect((shelf.value(forKey: "books") as? Set<NSManagedObject>)?.count, equals: 2)
                let book = try #require(try context.all("Book").first { $0.entity.name == "Book" })
                expect(book.value(forKey: "title") as? String, equals: "a & A<b>\nc \\ \\n")
                expect(book.value(forKey: "isLent") as? Bool, equals: true)
                #expect(book.value(forKey: "weight") == nil)
                expect(book.value(forKey: "rating") as? Float, equals: 0.001)
                expect(book.value(forKey: "bought") as? Date, equals: Date(timeIntervalSinceReferenceDate: 0))
            }
        }
        try check(try open(Data(text.utf8)))
        try check(try open(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)))
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian] {
            try check(try open(try #require(text.data(using: encoding))))
        }
        let latin = text.replacingOccurrences(of: "?>\n<database>", with: " encoding=\"ISO-8859-1\"?>\n<database>").replacingOccurrences(
            of: "mine", with: "é")
        try check(try open(try #require(latin.data(using: .isoLatin1))))
        #expect(throws: NSError.self) { try self.open(Data("<?xml version=\"1.0\" encoding=\"EBCDIC\"?>".utf8)) }
    }

    @Test func aSaveKeepsWhatItDoesNotChange() throws {
        let folder = try Folder()
        let url = folder.file("a.xml")
        let text =
            Self.beginning + """
                  <!-- a comment --><object id='z200' type='BOOK'><attribute name="title">a</attribute></object>
                <object id='z104' type='BOOK'><attribute name="title">b</attribute></object><!-- end --></database>

                """
        try Data(text.utf8).write(to: url)
        try Library.open(.xml, url).run { (context: NSManagedObjectContext) throws in
            let books = try context.all("Book", by: "title")
            books[1].setValue("c", forKey: "title")
            try context.save()
            let after = try String(contentsOf: url, encoding: .utf8)
            #expect(after.contains("  <!-- a comment --><object id='z200' type='BOOK'><attribute name=\"title\">a</attribute></object>"))
            #expect(after.hasSuffix("<!-- end --></database>\n"))
            #expect(after.contains(">c</attribute>") && !after.contains(">b<"))
            context.delete(books[0])
            context.add("Shelf", ["name": "s"])
            try context.save()
        }
        try Library.open(.xml, url).run { (context: NSManagedObjectContext) throws in
            try expect(context.all("Book").count, equals: 1)
            try expect(context.all("Shelf").map { $0.objectID.uriRepresentation().lastPathComponent }, equals: ["p201"])
        }
        // A file in another encoding is written in UTF-8.
        try #require(text.data(using: .utf16)).write(to: url)
        try Library.open(.xml, url).run { (context: NSManagedObjectContext) throws in
            try context.all("Book", by: "title")[1].setValue("é", forKey: "title")
            try context.save()
        }
        #expect(try String(contentsOf: url, encoding: .utf8).hasPrefix("<?xml version=\"1.0\" standalone=\"no\"?>"))
        try Library.open(.xml, url).run { (context: NSManagedObjectContext) throws in
            try expect(context.all("Book", by: "title").compactMap { $0.value(forKey: "title") as? String }, equals: ["a", "é"])
        }
    }

    @Test func aBinaryStoreOfApplesFrameworkIsAClearError() throws {
        let folder = try Folder()
        let url = folder.file("a.binary")
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ["NSStoreType": "Binary"] as NSDictionary, requiringSecureCoding: false)
        for bytes in [
            archive, Data("core data something".utf8),
            try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0),
        ] {
            try bytes.write(to: url)
            let error = #expect(throws: NSError.self) { try Library.open(.binary, url) }
            expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
            expect(error?.localizedDescription.contains("Apple"), equals: true)
            try expect(Data(contentsOf: url), equals: bytes)
        }
    }

    @Test(arguments: ArchiveKind.allCases) func alteredFilesAreReadOrAreErrors(_ kind: ArchiveKind) throws {
        let seed = TestSeed.current(for: "alteredFilesAreReadOrAreErrors(\(kind))")
        var generator = SeededGenerator(seed: seed)
        let folder = try Folder()
        let url = folder.file("store")
        let model = Library.model()
        try Library.open(kind, url, model).run { (context: NSManagedObjectContext) throws in
            let shelf = context.add("Shelf", ["name": "a & b \u{1}"])
            for index in 0..<3 {
                context.add(
                    index == 0 ? "RareBook" : "Book",
                    [
                        "title": "t\(index)", "pageCount": index, "weight": 1.5, "price": Decimal(1), "bought": Date(),
                        "cover": Data([1, 2, 3]),
                        "identifier": UUID(), "link": URL(string: "https://example.org")!, "words": ["x"] as NSArray, "shelf": shelf,
                    ])
            }
            try context.save()
        }
        let original = [UInt8](try Data(contentsOf: url))
        var (read, refused) = (0, 0)
        let tokens = ["<", ">", "\"", "&", "\\u", "z102", "</object>", "<object ", "]]>", "-1", "\0", "idrefs=", "<!--", "bplist00"].map {
            Array($0.utf8)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try #require(
            try coordinator.addPersistentStore(ofType: kind.rawValue, configurationName: nil, at: url) as? ArchiveStore)
        for _ in TestRounds(seconds: 1, atLeast: 50) {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator)))
                case 3: bytes.insert(contentsOf: tokens.randomElement(using: &generator)!, at: place)
                case 4:
                    bytes.insert(
                        contentsOf: bytes[place..<min(bytes.count, place + 60)], at: Int.random(in: 0...bytes.count, using: &generator))
                default: bytes.removeSubrange(place...)
                }
            }
            // As if another program had written them into the file.
            do {
                try store.readContents(bytes).rows.forEachRow { row in
                    for property in try #require(row.objectID).entity.properties {
                        if let attribute = property as? NSAttributeDescription { _ = row.value(of: attribute) }
                    }
                }
                read += 1
            } catch {
                refused += 1
            }
        }
        print("alteredFilesAreReadOrAreErrors(\(kind)): \(read) read, \(refused) refused")
        #expect(refused > 0, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test(arguments: ArchiveKind.allCases) func theObjectsOfAlteredFilesAreWalkedOrAreErrors(_ kind: ArchiveKind) throws {
        let seed = TestSeed.current(for: "theObjectsOfAlteredFilesAreWalkedOrAreErrors(\(kind))")
        var generator = SeededGenerator(seed: seed)
        let folder = try Folder()
        let url = folder.file("store")
        let model = Library.model()
        try Library.open(kind, url, model).run { (context: NSManagedObjectContext) throws in
            let shelves = (0..<2).map { context.add("Shelf", ["name": "s\($0)"]) }
            for index in 0..<6 { context.add("Book", ["title": "t\(index)", "shelf": shelves[index % 2]]) }
            try context.save()
        }
        let original = [UInt8](try Data(contentsOf: url))
        var walked = 0
        for _ in TestRounds(seconds: 1, atLeast: 100) {
            var bytes = original
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            // One number instead of another, mostly: an object that is named twice, or by the wrong owner.
            bytes[place] ^= 1 << UInt8.random(in: 0..<3, using: &generator)
            let altered = folder.file(UUID().uuidString)
            try Data(bytes).write(to: altered)
            do {
                try Library.open(kind, altered, model).run { (context: NSManagedObjectContext) throws in
                    for name in ["Shelf", "Book"] {
                        for object in try context.all(name) {
                            for relationship in object.entity.relationshipsByName.values {
                                let value = object.value(forKey: relationship.name)
                                _ = (value as? Set<NSManagedObject>)?.map(\.objectID)
                                _ = (value as? NSOrderedSet)?.array
                            }
                            for attribute in object.entity.attributesByName.keys { _ = object.value(forKey: attribute) }
                        }
                    }
                }
                walked += 1
            } catch {}
            try FileManager.default.removeItem(at: altered)
        }
        #expect(walked > 0, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test func aListThatNamesAnObjectTwiceHasItOnce() throws {
        let text =
            Self.beginning + """
                <object id='z200' type='BOOK'/><object id='z201' type='BOOK'/>
                <object type="SHELF" id="z103"><relationship name="books" idrefs="z200 z201 z200"/></object></database>

                """
        try open(Data(text.utf8)).run { (context: NSManagedObjectContext) throws in
            let shelf = try #require(try context.all("Shelf").first)
            expect((shelf.value(forKey: "books") as? Set<NSManagedObject>)?.count, equals: 2)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
            request.predicate = NSPredicate(format: "books.@count == 2")
            try expect(context.count(for: request), equals: 1)
        }
    }
}
