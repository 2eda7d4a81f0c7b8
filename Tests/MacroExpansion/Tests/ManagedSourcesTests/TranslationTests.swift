#if ManagedAccessors
import Testing

@testable import ManagedSources

struct TranslationTests {
    static func translate(
        _ source: String, path: String = "/project/Album.swift", others: [String] = []
    ) -> (source: String, problems: [SourceProblem]) {
        let file = SourceFile(path: path, text: source, module: "M")
        let rest = others.enumerated().map { SourceFile(path: "/project/Other\($0).swift", text: $1, module: "M") }
        return SourceTranslator(file, table: SymbolTable(files: [file] + rest, module: "M")).translation()
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

    @Test("Overrides in extensions of the same file are moved into the class, under their lines")
    func overrides() {
        let source = """
            @objc(Album) public class Album: NSManagedObject {
                var x = 1
            }

            public extension Album {
                /// Read.
                @objc override func awakeFromFetch() {
                    super.awakeFromFetch()
                    note(#keyPath(Album.title))
                }
                func other() {}
                override var description: String { "Album" }
            }
            """
        let translation = """
            #sourceLocation(file: "/project/Album.swift", line: 1)
            public class Album: NSManagedObject {
                var x = 1

            #sourceLocation(file: "/project/Album.swift", line: 7)
                public override func awakeFromFetch() {
                    super.awakeFromFetch()
                    note("title")
                }
            #sourceLocation(file: "/project/Album.swift", line: 12)
                public override var description: String { "Album" }
            #sourceLocation(file: "/project/Album.swift", line: 3)
            }

            public extension Album {
                /// Read.
            \u{20}\u{20}\u{20}\u{20}



                func other() {}
            \u{20}\u{20}\u{20}\u{20}
            }
            """
        let result = Self.translate(source)
        #expect(result.problems == [])
        #expect(result.source == translation)
        let problem = Self.translate("class A {}\nextension A {\n    override func f() { g(#selector(A.f)) }\n}").problems
        #expect(problem.map { "\($0.line):\($0.column)" } == ["3:27"])
    }

    @Test(
        "An override stays where its class is another file's, or depends on a condition",
        arguments: [
            "extension Album { override func f() {} }", "class Album {}\nextension Album where T: P { override func f() {} }",
            "#if A\nclass Album {}\n#endif\nextension Album { override func f() {} }",
        ])
    func unmovedOverrides(source: String) {
        #expect(Self.lines(source).joined(separator: "\n") == source)
    }

    @Test(
        "A managed object class with an initializer of its own gets the one that fetches use",
        arguments: [
            (
                "public class A: NSManagedObject { init(title: String) { super.init(entity: e, insertInto: nil) } }",
                "public class A: NSManagedObject { public required init(entity: NSEntityDescription, insertInto context: "
                    + "NSManagedObjectContext?) { super.init(entity: entity, insertInto: context) }; init(title: String) "
                    + "{ super.init(entity: e, insertInto: nil) } }"
            ),
            ("class A: NSManagedObject { convenience init(title: String) { self.init() } }", nil),
            ("class A: NSObject { init(title: String) { super.init() } }", nil),
            (
                "class A: NSManagedObject { @objc override init(entity: E, insertInto context: C?) { super.init(entity: entity, insertInto: context) } }",
                "class A: NSManagedObject { required init(entity: E, insertInto context: C?) { super.init(entity: entity, insertInto: context) } }"
            ),
            (
                "open class A: NSManagedObject { private override init(entity: E, insertInto c: C?) { } }",
                "open class A: NSManagedObject { public required init(entity: E, insertInto c: C?) { } }"
            ),
            (
                "class A: NSManagedObject { required override init(entity: E, insertInto c: C?) { } }",
                "class A: NSManagedObject { required init(entity: E, insertInto c: C?) { } }"
            ),
        ] as [(String, String?)])
    func requiredInitializer(source: String, translation: String?) {
        #expect(Self.lines(source) == [translation ?? source])
    }

    @Test("A class inherits from managed objects by way of classes in other files, and of those generated from a model")
    func inheritedInitializer() {
        let source = "class B: Space.A { init(x: Int) { super.init(entity: e, insertInto: nil) } }"
        #expect(Self.translate(source, others: ["enum Space { class A: NSManagedObject {} }"]).source.contains("required init"))
        #expect(!Self.translate(source, others: ["enum Space { class A: NSObject {} }"]).source.contains("required init"))
        let file = SourceFile(path: "B.swift", text: "class B: Made { init(x: Int) { super.init(x: x) } }", module: "M")
        let table = SymbolTable(files: [file], module: "M", generatedClasses: ["Made"])
        #expect(SourceTranslator(file, table: table).translation().source.contains("required init"))
    }

    @Test(
        "A cast of a fetch request becomes a conversion",
        arguments: [
            (
                "let r = request as! NSFetchRequest<NSFetchRequestResult>",
                "let r = NSFetchRequest<NSFetchRequestResult>.converted(from: request)!"
            ),
            ("return Self.fetchRequest() as! NSFetchRequest<Self>", "return NSFetchRequest<Self>.converted(from: Self.fetchRequest())!"),
            ("if let r = try? make() as? NSFetchRequest<T> {}", "if let r = try? NSFetchRequest<T>.converted(from: make()) {}"),
            ("let r = a ?? b as! NSFetchRequest<T>", "let r = a ?? NSFetchRequest<T>.converted(from: b)!"),
            ("f(a as Any as! CoreData.NSFetchRequest<T>, 1)", "f(CoreData.NSFetchRequest<T>.converted(from: a as Any)!, 1)"),
            ("let r = request as NSFetchRequest<T>", "let r = request as NSFetchRequest<T>"),
            ("let r = request as! NSPersistentStoreRequest", "let r = request as! NSPersistentStoreRequest"),
        ])
    func casts(source: String, translation: String) {
        #expect(Self.lines(source) == [translation])
    }

    @Test("A cast of a fetch request that is compiled as it is gives a warning with what to write")
    func castWarnings() {
        func warnings(_ text: String) -> [String] {
            FetchRequestCastFinder.warnings(in: SourceFile(path: "A.swift", text: text, module: "M")).map(\.description)
        }
        let found = warnings("func f() {\n    let r = g() as! NSFetchRequest<T>\n}\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("A.swift:2:17: warning: this cast stops the program unless") == true)
        #expect(found.first?.hasSuffix("Write NSFetchRequest<T>.converted(from: request)!") == true)
        #expect(warnings("let r = g() as? NSFetchRequest<T>").first?.contains("is nil unless") == true)
        func tests(_ text: String) -> [String] {
            FetchRequestTestFinder.warnings(in: SourceFile(path: "A.swift", text: text, module: "M")).map(\.description)
        }
        for source in [
            "let b = g() is NSFetchRequest<T>", "if case let r as NSFetchRequest<T> = g() {}",
            "switch g() { case is NSFetchRequest<T>: break; default: break }",
        ] {
            #expect(tests(source).count == 1, "\(source)")
            #expect(tests(source).first?.contains("Ask NSFetchRequest<T>.converted(from: request) != nil") == true)
        }
        for source in [
            "let r = request as NSFetchRequest<T>", "let b = g() is NSFetchRequest",
            "#if A\nlet b = g() is NSFetchRequest<T>\n#endif",
        ] {
            #expect(tests(source) == [], "\(source)")
        }
        #expect(warnings("#if canImport(ObjectiveC)\nlet r = g() as! NSFetchRequest<T>\n#endif") == [])
        #expect(warnings("class S { func execute(_ r: R, with c: C) { _ = r as! NSFetchRequest<NSFetchRequestResult> } }") == [])
    }
}
#endif
