import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration

@Suite struct MappingFileTests {
    /// A file between the two versions of the library, in the form that Xcode writes.
    static func file(_ edit: (String) -> String = { $0 }) -> String {
        let expression = try? PredicateArchive.data(of: CoreData.NSExpression(format: "$source.price * 100")).base64EncodedString()
        return edit(
            """
            <?xml version="1.0" standalone="no"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database>
                <databaseInfo><version>134481920</version><metadata><plist version="1.0"><dict/></plist></metadata></databaseInfo>
                <object type="XDDEVMAPPINGMODEL" id="z1">
                    <attribute name="sourcemodelpath" type="string">Library.xcdatamodeld/Library.xcdatamodel</attribute>
                    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z3 z2 z4"></relationship>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z2">
                    <attribute name="sourcename" type="string">Author</attribute>
                    <attribute name="destinationname" type="string">Writer</attribute>
                    <attribute name="mappingnumber" type="int16">1</attribute>
                    <attribute name="autogenerateexpression" type="bool">1</attribute>
                    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z5"></relationship>
                    <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z6"></relationship>
                </object>
                <object type="XDDEVATTRIBUTEMAPPING" id="z5"><attribute name="name" type="string">name</attribute></object>
                <object type="XDDEVRELATIONSHIPMAPPING" id="z6">
                    <attribute name="name" type="string">books</attribute><attribute name="autogenerateexpression" type="bool">1</attribute>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z3">
                    <attribute name="sourcename" type="string">Book</attribute>
                    <attribute name="destinationname" type="string">Book</attribute>
                    <attribute name="mappingnumber" type="int16">2</attribute>
                    <attribute name="sourcefilterpredicatestring" type="string">price \\u3c00 2</attribute>
                    <attribute name="autogenerateexpression" type="bool">1</attribute>
                    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z7 z8"></relationship>
                    <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z9 z10"></relationship>
                </object>
                <object type="XDDEVATTRIBUTEMAPPING" id="z7"><attribute name="name" type="string">title</attribute></object>
                <object type="XDDEVATTRIBUTEMAPPING" id="z8">
                    <attribute name="name" type="string">cents</attribute>
                    <attribute name="valueexpressiondata" type="binary">\(expression ?? "")</attribute>
                </object>
                <object type="XDDEVRELATIONSHIPMAPPING" id="z9"><attribute name="name" type="string">author</attribute></object>
                <object type="XDDEVRELATIONSHIPMAPPING" id="z10">
                    <attribute name="name" type="string">chapters</attribute>
                    <attribute name="sourcekeypath" type="string">$source.chapters</attribute>
                    <attribute name="sourcemappingname" type="string">ChapterToChapter</attribute>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z4">
                    <attribute name="sourcename" type="string">Chapter</attribute>
                    <attribute name="destinationname" type="string">Chapter</attribute>
                    <attribute name="mappingnumber" type="int16">3</attribute>
                    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z11"></relationship>
                </object>
                <object type="XDDEVATTRIBUTEMAPPING" id="z11"><attribute name="name" type="string">heading</attribute></object>
                <object type="XDDEVENTITYMAPPING" id="z12"><attribute name="sourcename" type="string">Orphan</attribute></object>
            </database>
            """)
    }

    private static func read(_ text: String) throws -> NSMappingModel {
        try MappingModelFile.read(Data(text.utf8), file: "Library.xcmappingmodel")
    }

    @Test("A file is read in the order of its numbers; orphans are left out, and expressions follow from the models")
    func reading() throws {
        let mapping = try Self.read(Self.file())
        expect(mapping.entityMappings.map { $0.name }, equals: ["AuthorToWriter", "BookToBook", "ChapterToChapter"])
        let used = mapping.resolved(from: LibraryVersions.old(), to: LibraryVersions.new())
        func text(_ entity: Int, _ property: Int) -> String? {
            used.entityMappings[entity].propertyMappings[property].valueExpression?.description
        }
        expect(text(0, 0), equals: CoreData.NSExpression(format: "$source.name").description)
        expect(text(0, 1), equals: LibraryVersions.mapping().entityMappings[0].relationshipMappings?[0].valueExpression?.description)
        expect(text(1, 1), equals: CoreData.NSExpression(format: "$source.price * 100").description)
        expect(text(1, 3), equals: LibraryVersions.mapping().entityMappings[1].relationshipMappings?[1].valueExpression?.description)
    }

    @Test("A file in a folder migrates a store, with the filter of its source objects")
    func migrating() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let url = folder.url.appendingPathComponent("Library.xcmappingmodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Chapters of books that are left out would have none.
        let text = Self.file { $0.replacingOccurrences(of: "z3 z2 z4", with: "z3 z2") }
            .replacingOccurrences(of: " z10\"", with: "\"")
        try text.write(to: url.appendingPathComponent("xcmapping.xml"), atomically: true, encoding: .utf8)
        try NSMigrationManager.library().migrate(folder, NSMappingModel(contentsOf: url))
        try expect(
            LibraryVersions.lines(at: folder.new),
            equals: [
                "Book 0.0 Author 0 50 - ", "Book 0.1 Author 0 150 - ", "Book 1.0 Author 1 50 - ", "Book 1.1 Author 1 150 - ",
            ])
    }

    @Test("A mapping model fits two models by names, and by version hashes where it has any")
    func fitting() throws {
        let (old, new) = (LibraryVersions.old(), LibraryVersions.new())
        // Nothing is said of the new entity.
        new.entities.removeAll { $0.name == "Genre" }
        new.entitiesByName["Book"]?.properties.removeAll { $0.name == "genre" }
        let mapping = try Self.read(Self.file())
        #expect(MappingModelLocator.fits(mapping, old, new))
        #expect(!MappingModelLocator.fits(mapping, new, old))
        #expect(!MappingModelLocator.fits(mapping, old, old))
        mapping.entityMappings[0].sourceEntityVersionHash = old.entitiesByName["Author"]?.versionHash
        #expect(MappingModelLocator.fits(mapping, old, new))
        mapping.entityMappings[0].sourceEntityVersionHash = Data([1, 2, 3])
        #expect(!MappingModelLocator.fits(mapping, old, new))
    }

    @Test("A damaged file is an error that names the file, the line and what is wrong there")
    func damage() throws {
        let cases: [(String, String, String)] = [
            ("</database>", "", "ends within <database>"),
            ("id=\"z2\"", "id=\"z3\"", "two objects “z3”"),
            ("idrefs=\"z3 z2 z4\"", "idrefs=\"z3 z99\"", "“z99”, which is not in the file"),
            ("idrefs=\"z3 z2 z4\"", "idrefs=\"z3 z5\"", "“z5” is no XDDEVENTITYMAPPING"),
            ("idrefs=\"z3 z2 z4\"", "idrefs=\"z3 z3\"", "“z3” twice"),
            ("XDDEVMAPPINGMODEL\" id", "XDDEVOTHER\" id", "no object of the type XDDEVMAPPINGMODEL"),
            ("<attribute name=\"name\" type=\"string\">books</attribute>", "", "has no name"),
            ("price \\u3c00 2", "price \\u3c00", "does not parse"),
            ("valueexpressiondata\" type=\"binary\">", "valueexpressiondata\" type=\"binary\">AAAA", "expression cannot be read"),
            ("<database>\n", "<archive>\n", "begins with <database>"),
            ("CoreData.dtd\">", "CoreData.dtd\" [<!ENTITY a \"b\">]>", "document type"),
        ]
        for (from, to, wanted) in cases {
            let text = Self.file { $0.replacingOccurrences(of: from, with: to) }
            let error = migrationFailure { _ = try Self.read(text) }
            expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue, "\(wanted)")
            expect(error?.localizedDescription.contains("Library.xcmappingmodel"), equals: true, "\(wanted)")
            expect(error?.localizedDescription.contains(wanted), equals: true, "\(wanted): \(error?.localizedDescription ?? "no error")")
        }
    }

    @Test("No file stops the program, whatever its bytes")
    func hostileFiles() throws {
        let seed = TestSeed.current(for: "MappingFileTests.hostileFiles")
        var random = SeededGenerator(seed: seed)
        func next(_ bound: Int) -> Int { random.below(bound) }
        let whole = Array(Self.file().utf8)
        let (old, new) = (LibraryVersions.old(), LibraryVersions.new())
        var read = 0
        for _ in TestRounds(seconds: 0.3, atLeast: 100) {
            var bytes = whole
            for _ in 0...next(4) {
                let place = next(bytes.count)
                switch next(4) {
                case 0: bytes[place] = UInt8(next(256))
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + next(200)))
                case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + next(300))], at: next(bytes.count))
                default: bytes.insert(contentsOf: Array("z\(next(14)) ".utf8), at: place)
                }
                if bytes.isEmpty { bytes = whole }
            }
            do {
                let mapping = try MappingModelFile.read(Data(bytes), file: nil)
                read += 1
                _ = MappingModelLocator.fits(mapping, old, new)
            } catch let error as NSError { expect(error.domain, equals: NSCocoaErrorDomain, "COREDATA_TEST_SEED=\(seed)") }
        }
        #expect(read > 0, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test("A compiled mapping model is not read, and the error says what to give instead")
    func compiled() throws {
        let error = migrationFailure { _ = try NSMappingModel(reading: URL(fileURLWithPath: "/tmp/Library.cdm")) }
        expect(error?.localizedRecoverySuggestion?.contains(".xcmappingmodel"), equals: true)
        #expect(NSMappingModel(contentsOf: URL(fileURLWithPath: "/tmp/Library.cdm")) == nil)
        #expect(NSMappingModel(contentsOf: nil) == nil)
        let missing = migrationFailure { _ = try NSMappingModel(reading: URL(fileURLWithPath: "/nowhere/Library.xcmappingmodel")) }
        expect(missing?.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
    }
}
