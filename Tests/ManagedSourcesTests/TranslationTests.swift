#if ManagedAccessors
import Testing

@testable import ManagedSources

struct TranslationTests {
    static func translate(_ source: String, path: String = "/project/Album.swift") -> (source: String, problems: [SourceProblem]) {
        SourceTranslator(SourceFile(path: path, text: source, module: "M")).translation()
    }

    /// The lines after the directive that names the original.
    static func lines(_ source: String) -> [String] {
        translate(source).source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(String.init)
    }

    @Test("The first line names the original, so that messages and the debugger show it")
    func location() {
        let source = Self.translate("let x = 1\n", path: "/a \"b\"/c\\d.swift").source
        #expect(source == "#sourceLocation(file: \"/a \\\"b\\\"/c\\\\d.swift\", line: 1)\nlet x = 1\n")
    }

    @Test(
        "Attributes that only Objective-C has are dropped",
        arguments: [
            (
                "@objc(CDAlbum) class Album {}",
                "class Album {}; public final class ObjectiveCName_CDAlbum: ObjectiveCName { "
                    + "public override class var namedClass: AnyClass { Album.self } }"
            ),
            ("@objc(Album) public class Album {}", "public class Album {}"), ("@objcMembers class Album {}", "class Album {}"),
            ("@objc enum Kind: Int32 { case a }", "enum Kind: Int32 { case a }"),
            ("class A { @objc dynamic var x: Int { 1 } }", "class A { var x: Int { 1 } }"),
            ("class A { @nonobjc class func f() {} }", "class A { class func f() {} }"),
            ("class A { @MainActor @objc func f() {} }", "class A { @MainActor func f() {} }"),
            ("@objc extension A { func f() {} }", "extension A { func f() {} }"),
            ("@objc private final class A {}", "private final class A {}"),
        ])
    func attributes(source: String, translation: String) {
        #expect(Self.lines(source) == [translation])
    }

    @Test("A nested class is found by its Objective-C name too")
    func nestedName() {
        let lines = Self.lines("enum Space { @objc(SPTrack) class Track {} }")
        #expect(
            lines == [
                "enum Space { class Track {} }; public final class ObjectiveCName_SPTrack: ObjectiveCName { "
                    + "public override class var namedClass: AnyClass { Space.Track.self } }"
            ])
    }

    @Test("Every line keeps its number, whatever is taken out")
    func lineNumbers() {
        let source = """
            @objc(
                CDAlbum
            )
            class Album {
                @objc
                @NSManaged
                public var title: String
                // a comment
                func line() -> Int { #line }
            }
            """
        let lines = Self.lines(source)
        #expect(lines.count == 10)
        #expect(lines[6].contains("get { self[Self._managed_title] }"))
        #expect(lines[7] == "    // a comment")
        #expect(lines[8] == "    func line() -> Int { #line }")
    }

    @Test(
        "A key path of Objective-C is the string that it stands for",
        arguments: [
            ("#keyPath(Album.title)", "\"title\""), ("#keyPath(Album.artist.name)", "\"artist.name\""), ("#keyPath(title)", "\"title\""),
            ("#keyPath(Module.Album.artist)", "\"artist\""), ("#keyPath(Album.artist?.name)", "\"artist.name\""),
            ("#keyPath(self.title)", "\"title\""), ("#keyPath(Album.Info.`class`)", "\"class\""),
        ])
    func keyPath(source: String, translation: String) {
        #expect(Self.lines("let key = \(source)") == ["let key = \(translation)"])
    }

    @Test("An error names the place and the remedy of code that cannot be translated")
    func problems() {
        let selector = Self.translate("\nlet s = #selector(Album.play)").problems
        #expect(selector.map { "\($0.path):\($0.line):\($0.column)" } == ["/project/Album.swift:2:9"])
        #expect(selector.first?.message.contains("#if canImport(ObjectiveC)") == true)
        let path = Self.translate("let k = #keyPath(Album.Title)").problems
        #expect(path.first?.message.contains("Write the key as a string") == true)
        let method = Self.translate("class A { @NSManaged func play(_ x: Int) }").problems
        #expect(method.first?.message.contains("addToTracks(_:)") == true)
    }

    @Test("A selector between #if and #endif is the compiler's affair")
    func conditionalSelector() {
        let source = "#if canImport(ObjectiveC)\nlet s = #selector(Album.play)\n#endif"
        #expect(Self.translate(source).problems == [])
        #expect(Self.lines(source) == source.split(separator: "\n").map(String.init))
    }

    @Test("Several properties of one declaration become several, with the modifiers of all")
    func severalProperties() {
        let line = Self.lines("class A { @NSManaged public private(set) var a, b: Int }")[0]
        #expect(line.hasPrefix("class A { public private(set) var `a`: Int { get"))
        #expect(line.contains("; public private(set) var `b`: Int { get"))
    }

    @Test("Text that is not ASCII keeps its position")
    func unicode() {
        #expect(Self.lines("/* ü€😀 */ @objc class Größe {}") == ["/* ü€😀 */ class Größe {}"])
    }
}
#endif
