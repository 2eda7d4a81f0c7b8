import Testing

@testable import CoreDataMacroPlugin

/// What the macros say about declarations that make no model, where, and what the fix-its make of them.
struct DiagnosticTests {
    /// A line in a class, what is said about it, and what the fix-its make of it.
    struct Case: CustomTestStringConvertible {
        let line: String
        let place: String
        let says: String
        let fixes: [String: String]
        var testDescription: String { line }

        init(_ line: String, at place: String, _ says: String, _ fixes: [String: String] = [:]) {
            self.line = line
            self.place = place
            self.says = says
            self.fixes = fixes
        }
    }

    private static func source(_ line: String) -> String { "@ManagedObject final class Album: NSManagedObject {\n    \(line)\n}\n" }

    static let cases: [Case] = [
        Case(
            "let title: String = \"\"", at: "let", "make it a var, or mark it @Ignored",
            ["make it a var": "var title: String = \"\"", "mark it @Ignored": "@Ignored let title: String = \"\""]),
        Case("var title = \"\"", at: "title", "needs its type written out", ["write “: String”": "var title: String = \"\""]),
        Case("var plays = 0", at: "plays", "needs its type written out", ["write “: Int”": "var plays: Int = 0"]),
        Case("var mood = Mood()", at: "mood", "needs its type written out"),
        Case(
            "var title: String", at: "title", "is not optional and has no default",
            [
                "add the default \"\"": "var title: String = \"\"", "make it optional": "var title: String?",
                "mark it @Attribute(.required)": "@Attribute(.required) var title: String",
            ]),
        Case(
            "@Attribute(.unique) var plays: Int", at: "plays", "is not optional and has no default",
            ["add the default 0": "@Attribute(.unique) var plays: Int = 0", "make it optional": "@Attribute(.unique) var plays: Int?"]),
        Case("var added: Date = Date()", at: "Date()", "computed once and shared by all objects"),
        Case("var code: UUID = UUID()", at: "UUID()", "computed once and shared by all objects"),
        Case("var added: Date = .now", at: ".now", "set it in awakeFromInsert()"),
        Case("var count: UInt8 = 0", at: "UInt8", "write Int16", ["write Int16": "var count: Int16 = 0"]),
        Case("var name: NSString?", at: "NSString", "write String", ["write String": "var name: String?"]),
        Case(
            "var tags: [String] = []", at: "[String]", "@Relationship if it holds managed objects, @Attribute(.codable)",
            [
                "mark it @Attribute(.codable)": "@Attribute(.codable) var tags: [String] = []",
                "mark it @Attribute(.transformable(by: …))":
                    "@Attribute(.transformable(by: <#name of a transformer#>)) var tags: [String] = []",
            ]),
        Case("var texts: [String: String]?", at: "[String: String]", "is not a type of an attribute"),
        Case("var mood: Any?", at: "Any", "@Attribute(.transformable(by: …))"),
        Case("var action: (() -> Void)?", at: "() -> Void", "mark it @Ignored"),
        Case("var mood: (any Mood)?", at: "any Mood", "@Transient(.type(.undefined))"),
        Case("var tracks: NSSet?", at: "NSSet", "Set<Track>"),
        Case(
            "@Attribute var title: String { \"\" }", at: "@Attribute", "has a getter of its own",
            ["remove @Attribute": "var title: String { \"\" }"]),
        Case("var title: String = \"\" { didSet {} }", at: "{ didSet {} }", "cannot have willSet and didSet"),
        Case("@NSManaged var title: String?", at: "@NSManaged var title: String?", "take it away"),
        Case("var a: Int = 0, b: Int = 0", at: "var a: Int = 0, b: Int = 0", "by itself"),
        Case("@Attribute @Transient var title: String?", at: "@Transient", "only once"),
        Case("var tracks: Set<Track>?", at: "Set<Track>?", "cannot be nil", ["write Set<Track>": "var tracks: Set<Track>"]),
        Case("@Relationship var tracks: [Track]?", at: "[Track]?", "cannot be nil", ["write [Track]": "@Relationship var tracks: [Track]"]),
        Case("var tracks: Set<Track> = [one]", at: "[one]", "no default but []"),
        Case("@Relationship var band: Band? = Band()", at: "Band()", "can have no default"),
        Case(
            "@Attribute var tracks: Set<Track>", at: "Set<Track>", "is a relationship by its type",
            ["write @Relationship": "@Relationship var tracks: Set<Track>"]),
        Case("@Relationship var title: String?", at: "String", "to which no relationship leads"),
        Case("@Relationship var titles: [String]", at: "[String]", "to which no relationship leads"),
        Case("@Relationship var tracks: NSOrderedSet", at: "NSOrderedSet", "write [Track]"),
        Case(
            "@Relationship(deleteRule: .casacde) var tracks: Set<Track>", at: ".casacde", "There is no delete rule “casacde”",
            ["write .cascade": "@Relationship(deleteRule: .cascade) var tracks: Set<Track>"]),
        Case("@Relationship(inverse: \\.album) var tracks: Set<Track>", at: "\\.album", "begins with the class at the other end"),
        Case("@Relationship(inverse: \\Track.album.band) var tracks: Set<Track>", at: "\\Track.album.band", "of one step"),
        Case(
            "@Relationship(inverse: \\Band.albums) var tracks: Set<Track>", at: "Band",
            "belongs to “Band”, and the relationship leads to “Track”"),
        Case("@FetchedProperty(\"a == 1\") var similar: Album?", at: "Album", "write [Album]"),
        Case("var description: String?", at: "description", "say name: \"description\""),
        Case("var isDeleted: Bool = false", at: "isDeleted", "Every managed object has a member"),
        Case("@Attribute(.required, .optional) var title: String", at: ".optional", "contradict each other"),
        Case("@Attribute(.length(1...3)) var plays: Int = 0", at: ".length(1...3)", "is for text"),
        Case("@Attribute(.range(1...3)) var title: String?", at: ".range(1...3)", "write .length"),
        Case("@Attribute(.externalStorage) var title: String?", at: ".externalStorage", "is for Data"),
        Case("init() {}", at: "init", "repeat it as required"),
    ]

    @Test(arguments: cases) func aLineThatMakesNoModelIsAnErrorWithAPlaceAndARemedy(_ test: Case) throws {
        let examined = try Examined(Self.source(test.line))
        #expect(examined.diagnostics.count == 1)
        #expect(examined.messages.first?.contains(test.says) == true, "\(examined.messages)")
        #expect(examined.places.first == test.place)
        #expect(Set(test.fixes.keys).isSubset(of: examined.fixes), "\(examined.fixes)")
        for (fix, line) in test.fixes {
            let fixed = try examined.fixed(by: fix)
            #expect(fixed == Self.source(line))
        }
    }

    @Test(arguments: cases.flatMap { test in test.fixes.map { ($0.key, $0.value) } }) func aFixMendsTheLine(_ fix: (String, String)) throws
    {
        #expect(try Examined(Self.source(fix.1)).messages.filter { !$0.contains("computed once") }.isEmpty)
    }

    @Test(arguments: [
        "var title: String = \"\"", "var title: String?", "static var count = 0", "lazy var text = \"\"", "@Ignored var cache = [1]",
        "var twice: Int { 2 }", "@Relationship(.required) var band: Band", "var tracks: Set<Track> = []", "var genre: Genre = .rock",
        "@Attribute(.codable) var tags: [String] = []", "@Transient(.type(.undefined)) var delegate: Any?", "func play() {}",
        "@Attribute(.derived(from: \"tracks.@count\")) var trackCount: Int", "class var shared: Int { 1 }", "var link: URL!",
        "@Attribute(name: \"description\") var text: String?", "convenience init(_ title: String) {}",
        "required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {}",
    ]) func nothingIsSaidAboutWhatIsRight(_ line: String) throws {
        #expect(try Examined(Self.source(line)).messages.isEmpty)
    }

    @Test func aClassMustInheritFromNSManagedObject() throws {
        let alone = try Examined("@ManagedObject final class Album {}")
        #expect(alone.messages == ["“Album” must inherit from NSManagedObject, or from a class that is marked @ManagedObject."])
        #expect(try alone.fixed(by: "inherit from NSManagedObject") == "@ManagedObject final class Album: NSManagedObject {}")
        let conforming = try Examined("@ManagedObject final class Album: Identifiable {}")
        #expect(
            try conforming.fixed(by: "inherit from NSManagedObject") == "@ManagedObject final class Album: NSManagedObject, Identifiable {}"
        )
        #expect(try Examined("@ManagedObject final class Album: Work {}").messages.isEmpty)
    }

    @Test func structuresAndGenericClassesAreNoEntities() throws {
        #expect(try Examined("@ManagedObject struct Album {}").messages.first?.contains("this is not a class") == true)
        #expect(try Examined("@ManagedObject class Album<T>: NSManagedObject {}").messages.first?.contains("one class") == true)
    }

    @Test func anAbstractEntityIsNoFinalClass() throws {
        let examined = try Examined("@ManagedObject(.abstract) final class Work: NSManagedObject {}")
        #expect(examined.messages.first?.contains("can have no subclasses") == true)
        #expect(try examined.fixed(by: "remove final") == "@ManagedObject(.abstract) class Work: NSManagedObject {}")
    }

    @Test func namesInConstraintsAndIndexesAreChecked() throws {
        let source =
            "@ManagedObject(.unique(\"titel\"), .index(.descending(\"title\"))) final class Album: NSManagedObject { var title: String? }"
        let examined = try Examined(source)
        #expect(examined.messages == ["There is no property “titel”: the class has title."])
        #expect(try examined.fixed(by: "write “title”") == source.replacingOccurrences("titel", "title"))
        // What the class above has is known when the model is made.
        #expect(try Examined("@ManagedObject(.unique(\"name\")) final class Album: Work { var title: String? }").messages.isEmpty)
    }

    @Test func aNameStandsForOneProperty() throws {
        let examined = try Examined(
            "@ManagedObject final class Album: NSManagedObject { var title: String?; @Attribute(name: \"title\") var other: String? }")
        #expect(examined.messages == ["There are two properties “title” in the model."])
    }

    @Test func anElementOfACompositeCanBeMissing() throws {
        #expect(
            try Examined("@Composite struct Place { var latitude: Double }").messages.first?.contains("must be optional or have a default")
                == true)
        #expect(try Examined("@Composite struct Place { var latitude: Double = 0; var name: String? }").messages.isEmpty)
    }
}

extension String {
    fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
