import CoreData
import TestSupport
import Testing

/// Files that are not models, or say what cannot be: errors that name file, line and element.
struct MalformedModelTests {
    /// The error of reading a model with `body` between its tags, which begin on line 1.
    private func error(_ body: String) -> String {
        let text = "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\n\(body)\n</model>"
        let error = failure { _ = try NSManagedObjectModel(modelContents: Data(text.utf8)) }
        guard let error else { return "no error" }
        #expect(error.domain == NSCocoaErrorDomain && error.code == 259)
        return error.localizedDescription
    }

    @Test(arguments: [
        ("<entity/>", "line 2, <entity>: The attribute “name” is missing."),
        ("<entity name=\"A\"/>\n<entity name=\"A\"/>", "line 3, entity “A”: There are two entities of this name."),
        ("<entity name=\"A\" parentEntity=\"B\"/>", "line 2, entity “A”: It inherits from “B”, which is not in the model."),
        (
            "<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>",
            "line 2, entity “A”: It inherits from itself"
        ),
        ("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Text\"/></entity>", "line 3, <attribute> “x”: “Text” is not a type"),
        (
            "<entity name=\"A\">\n\n<attribute name=\"x\" optional=\"MAYBE\" attributeType=\"String\"/></entity>",
            "line 4, <attribute> “x”: “optional” is YES or NO, not “MAYBE”."
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity>",
            "line 2, <attribute> “x”: There is no composite “C”."
        ),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity><composite name=\"C\">\n<attribute name=\"y\" attributeType=\"Composite\" composite=\"C\"/></composite>",
            "line 3, <attribute> “y”: The composite “C” is part of itself."
        ),
        (
            "<entity name=\"A\"><relationship name=\"r\" deletionRule=\"Explode\" destinationEntity=\"A\"/></entity>",
            "line 2, <relationship> “r”: “Explode” is not a delete rule."
        ),
        (
            "<entity name=\"A\"><relationship name=\"r\" maxCount=\"-1\" destinationEntity=\"A\"/></entity>",
            "line 2, <relationship> “r”: “maxCount” is a number, not “-1”."
        ),
        (
            "<entity name=\"A\"/><fetchRequest name=\"f\" entity=\"A\" predicateString=\"x ==\"/>",
            "line 2, <fetchRequest> “f”: “predicateString” does not parse."
        ),
        ("<fetchRequest name=\"f\" entity=\"A\" colour=\"red\"/>", "The attribute “colour” is not known here."),
        ("<configuration name=\"c\"><memberEntity name=\"A\"/></configuration>", "It has the entity “A”, which is not in the model."),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/><attribute name=\"x\" attributeType=\"String\"/></entity>",
            "There are two properties called “x”."
        ),
        ("<entity name=\"A\" name=\"B\"/>", "line 2, <model>: <entity> has the attribute “name” twice."),
        ("<entity name=\"A\">", "</model> appears where <entity> of line 2 ends."),
        ("<entity name=\"A\"/></model>\n<model>", "There is a second root element."),
        ("<entity name=A/>", "The value of “name” is not in quotes."),
        ("<entity name=\"&xxe;\"/>", "The reference “&xxe;” stands for nothing."),
        ("<entity name=\"&#0;\"/>", "The reference “&#0;” stands for nothing."),
        ("<entity name=\"a & b\"/>", "There is an “&” that begins no reference."),
        ("<entity name=\"A\"", "A name is missing."),
        ("<!-- no end", "The file ends within a comment."),
    ]) func whatIsMalformedIsAnErrorThatNamesLineAndElement(body: String, expected: String) {
        #expect(error(body).contains(expected), "\(error(body))")
    }

    @Test func aDocumentTypeIsRefusedSoThatNoEntityIsEverDeclared() {
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>
            <model>&b;&c;</model>
            """
        let error = failure { _ = try NSManagedObjectModel(modelContents: Data(text.utf8)) }
        expect(error?.localizedDescription.contains("line 2: A document type is not allowed in a model."), equals: true)
    }

    @Test func whatNestsBeyondAllMeasureIsAnError() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(error(deep).contains("Elements nest deeper than 64 levels."))
        let chain = (1...500).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }.joined() + "<entity name=\"E501\"/>"
        #expect(error(chain).contains("or over more than 100 entities"))
        // Composites of composites: each has ten of the next.
        let composites = (0..<12).map { level in
            "<composite name=\"C\(level)\">"
                + (0..<10).map { "<attribute name=\"x\($0)\" attributeType=\"Composite\" composite=\"C\(level + 1)\"/>" }.joined()
                + "</composite>"
        }.joined()
        let multiplied =
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C0\"/></entity>\(composites)<composite name=\"C12\"/>"
        #expect(error(multiplied).contains("Composites have more than 100,000 attributes."))
    }

    @Test func otherEncodingsAndOtherDocumentsAreErrors() {
        for data in [Data("<plist/>".utf8), Data(), Data([0xFF, 0xFE, 0x3C, 0x00]), Data("bplist00".utf8), Data("<model/>".utf8)] {
            expect(failure { _ = try NSManagedObjectModel(modelContents: data) }?.code, equals: 259)
            expect(failure { _ = try NSManagedObjectModel(compiledModel: data) }?.code, equals: 259)
        }
    }

    @Test func aPlaceWithoutAModelIsAnErrorThatNamesIt() throws {
        let scratch = try ScratchFolder("models")
        defer { scratch.remove() }
        let folder = scratch.url
        let bundle = folder.appendingPathComponent("Music.xcdatamodeld")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for url in [folder, bundle, folder.appendingPathComponent("Nothing.momd")] {
            let error = failure { _ = try NSManagedObjectModel(reading: url) }
            expect(error?.code, equals: 260)
            expect(error?.localizedDescription.contains(url.path), equals: true)
            #expect(NSManagedObjectModel(contentsOf: url) == nil)
        }
    }

    @Test(
        "A pipe in the place of a model or a mapping model is an error, and is not waited for",
        arguments: ["A.mom", "contents", "A.xcdatamodel/contents", "A.cdm", "A.omo"])
    func pipes(name: String) throws {
        let scratch = try ScratchFolder("pipes")
        defer { scratch.remove() }
        let url = scratch.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        expect(mkfifo(url.path, 0o600), equals: 0)
        let model = name.contains("/") ? url.deletingLastPathComponent() : url
        #expect(failure { _ = try NSManagedObjectModel(reading: model) } != nil)
        #expect(NSManagedObjectModel(contentsOf: model) == nil)
        #expect(failure { _ = try NSMappingModel(reading: url) } != nil)
    }

    /// Single bytes changed, runs taken out, doubled and cut off: whatever comes of it is a model or an error.
    @Test func damagedXMLIsAModelOrAnErrorAndNothingElse() {
        let seed = TestSeed.current(for: "damagedXMLIsAModelOrAnErrorAndNothingElse")
        var mutation = Mutation(seed: seed)
        let original = Array(ContentsTests.everything.utf8)
        var (count, models) = (0, 0)
        for round in TestRounds(seconds: 4.7, atLeast: 300) {
            count += 1
            let data = Data(mutation.damage(original))
            do {
                let model = try NSManagedObjectModel(modelContents: data)
                models += 1
                _ = model.check()
                // What was read can be written, or the error says what cannot.
                if let text = try? model.xcdatamodelContents() { _ = try? NSManagedObjectModel(modelContents: text) }
            } catch {
                expect((error as NSError).domain, equals: NSCocoaErrorDomain, "COREDATA_TEST_SEED=\(seed), round \(round)")
            }
        }
        print("\(count) damaged files: \(models) are models still.")
    }
}

/// Damages bytes at random.
struct Mutation {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func below(_ bound: Int) -> Int { random.below(bound) }

    mutating func damage(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0...below(4) {
            guard !bytes.isEmpty else { break }
            let place = below(bytes.count)
            let length = min(below(24) + 1, bytes.count - place)
            switch below(7) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes[place] ^= 1 << UInt8(below(8))
            case 2: bytes.removeSubrange(place..<place + length)
            case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: below(bytes.count))
            case 4: bytes.replaceSubrange(place..<place + length, with: (0..<length).map { _ in UInt8(below(256)) })
            case 5: bytes[place] = [0, 1, 0x0F, 0x7F, 0x80, 0xFF][below(6)]
            default: if below(8) == 0 { bytes.removeSubrange(place...) }
            }
        }
        return bytes
    }
}
