#if ManagedAccessors
import Testing

@testable import ManagedSources

struct AccessorTests {
    static func accessors(
        _ source: String, others: [String] = [], dependencies: [SourceFile] = [], generated: Set<String> = []
    ) -> (source: String, problems: [SourceProblem]) {
        let file = SourceFile(path: "/project/Album.swift", text: source, module: "M")
        let rest = others.enumerated().map { SourceFile(path: "/project/Other\($0).swift", text: $1, module: "M") }
        let table =
            dependencies.isEmpty
            ? SymbolTable(files: [file] + rest, module: "M", generatedClasses: generated)
            : SymbolTable(files: [file] + rest, module: "M", others: dependencies)
        return AccessorWriter(table: table).accessors(for: file)
    }

    @Test("A property becomes a constant, a getter and a setter, with the imports of its file")
    func property() {
        let result = Self.accessors(
            """
            public import CoreData
            import Foundation
            public class Album: NSManagedObject {
                @NSManaged public var title: String?
            }
            """)
        #expect(result.problems == [])
        #expect(
            result.source == """
                // The accessors of Album.swift. Written by the ManagedAccessors plugin.
                #if !canImport(ObjectiveC)
                internal import CoreData
                import Foundation

                extension Album {
                    private static let _managed_title = ManagedAccess.property("title", as: String?.self)
                    @_silgen_name("$s1M5AlbumC5titleSSSgvg") @usableFromInline final func _managed_get_title() -> String? { self[Self._managed_title] }
                    @_silgen_name("$s1M5AlbumC5titleSSSgvs") @usableFromInline final func _managed_set_title(_ value: consuming String?) { self[Self._managed_title] = value }
                }
                #endif

                """)
    }

    @Test(
        "Who may use an accessor is the narrowest of the property, its class and what that lies in",
        arguments: [
            ("public class A { @NSManaged public var x: Int }", "@usableFromInline "),
            ("open class A { @NSManaged open var x: Int }", "@usableFromInline "),
            ("public class A { @NSManaged var x: Int }", ""), ("class A { @NSManaged public var x: Int }", ""),
            ("enum S { public class A { @NSManaged public var x: Int } }", ""),
            ("package class A { @NSManaged public var x: Int }", "package "),
            ("public class A {}\npublic extension A { @NSManaged var x: Int }", "@usableFromInline "),
        ])
    func access(source: String, attribute: String) {
        #expect(Self.accessors(source).source.contains("vg\") \(attribute)final func _managed_get_x"))
    }

    @Test("Conditions around a declaration are around its accessors too")
    func conditions() {
        let source = Self.accessors(
            """
            class A: NSManagedObject {
                #if os(Linux) || DEBUG
                @NSManaged var x: Int
                #elseif EXTRA
                @NSManaged var x: String
                #else
                @NSManaged var x: Bool
                #endif
            }
            """
        ).source
        #expect(source.contains("#if (os(Linux) || DEBUG)\nextension A"))
        #expect(source.contains("#if !(os(Linux) || DEBUG) && (EXTRA)\nextension A"))
        #expect(source.contains("#if !(os(Linux) || DEBUG) && !(EXTRA)\nextension A"))
    }

    @Test("A type around a nested class is written in full where its name would not be seen")
    func qualified() {
        let source = Self.accessors("enum Space { enum Kind: Int { case a }\n class A: NSManagedObject { @NSManaged var kinds: [Kind]? } }")
            .source
        #expect(source.contains("extension Space.A {"))
        #expect(source.contains("as: [Space.Kind]?.self"))
    }

    @Test("A class that the data model lets be generated is known without a source")
    func generated() {
        let source = "class A: NSManagedObject { @NSManaged var track: Track? }"
        #expect(Self.accessors(source, generated: ["Track"]).source.contains("$s1M1AC5trackAA5TrackCSgvg"))
        let contents = """
            <entity name="Track" representedClassName="Track" syncable="YES" codeGenerationType="class">
            <entity name="Album" representedClassName=".Album" codeGenerationType="category"/>
            <entity name="Tag" representedClassName=".TagMO" codeGenerationType="class">
            """
        #expect(ModelClasses.names(inContents: contents) == ["Track", "TagMO"])
    }

    @Test(
        "A declaration that no accessor can be written for is an error at its place, with the alternative",
        arguments: [
            ("class A { @NSManaged var x: Unknown }", 29, "declares “Unknown”"), ("class A { @NSManaged var x: (Int, Int) }", 29, "tuple"),
            ("class A { @NSManaged var x: () -> Int }", 29, "closure"), ("class A { @NSManaged var x: any P & Q }", 29, "compositions"),
            ("class A { @NSManaged var x: Set }", 29, "takes 1 type arguments"), ("class A<T> { @NSManaged var x: T }", 29, "generic"),
            ("private class A { @NSManaged var x: Int }", 34, "cannot be extended in another file"),
            ("class A { @NSManaged var grüße: Int }", 26, "not in ASCII"),
            ("class A { private enum K { case a }; @NSManaged private var x: K }", 64, "only its own file can name it"),
            ("extension Gone { @NSManaged var x: Int }", 33, "declares “Gone”"),
        ])
    func problems(source: String, column: Int, message: String) {
        let problems = Self.accessors("\n" + source).problems
        #expect(problems.map { "\($0.path):\($0.line):\($0.column)" } == ["/project/Album.swift:2:\(column)"])
        #expect(problems.first?.message.contains(message) == true, "\(problems)")
        #expect(problems.first?.message.contains("@NSManaged") == true)
        #expect(problems.first?.message.contains("folder that the target excludes") == true)
    }

    @Test("A name that two modules declare has to be written with its module")
    func ambiguous() {
        let others = ["One", "Two"].map { SourceFile(path: "\($0).swift", text: "public class Track {}", module: $0) }
        let plain = Self.accessors("import One\nimport Two\nclass A { @NSManaged var x: Track? }", dependencies: others)
        #expect(plain.problems.first?.message.contains("One.Track (One.swift), Two.Track (Two.swift)") == true)
        let written = Self.accessors("import One\nimport Two\nclass A { @NSManaged var x: Two.Track? }", dependencies: others)
        #expect(written.source.contains("$s1M1AC1x3Two5TrackCSgvg"))
        let single = Self.accessors("import One\nclass A { @NSManaged var x: Track? }", dependencies: others)
        #expect(single.source.contains("$s1M1AC1x3One5TrackCSgvg"))
    }

    @Test("A type of the module comes before one that everybody knows")
    func shadowing() {
        let result = Self.accessors("class A { @NSManaged var x: Date }", others: ["struct Date {}"])
        #expect(result.source.contains("$s1M1AC1xAA4DateVvg"))
    }

    @Test("A type that everyone knows is not looked for in modules that the file does not import")
    func unrelatedModules() {
        let others = [SourceFile(path: "One.swift", text: "public struct Date {}", module: "One")]
        let plain = Self.accessors("class A { @NSManaged var x: Date }", dependencies: others)
        #expect(plain.source.contains("$s1M1AC1x20FoundationEssentials4DateVvg"))
        let imported = Self.accessors("import One\nclass A { @NSManaged var x: Date }", dependencies: others)
        #expect(imported.source.contains("$s1M1AC1x3One4DateVvg"))
    }

    @Test(
        "An import is public where accessors show a type of the module to others, or one that it hands on",
        arguments: [
            ("public import CoreData", "public var x: Int", "internal import CoreData"),
            ("public import CoreData", "public var x: Date", "public import CoreData"),
            ("public import CoreData", "var x: Date", "internal import CoreData"),
            ("public import CoreData", "public var x: TimeInterval", "public import CoreData"),
            (
                "public import CoreData\npublic import Foundation", "public var x: Date",
                "internal import CoreData\npublic import Foundation"
            ),
            ("public import CoreData\nimport Foundation", "public var x: Date", "public import CoreData\nimport Foundation"),
            ("import CoreData", "public var x: Date", "import CoreData"),
            ("public import One", "public var x: Short", "public import One"),
        ])
    func imports(imports: String, property: String, written: String) {
        let others = [SourceFile(path: "One.swift", text: "public typealias Short = Int", module: "One")]
        let result = Self.accessors("\(imports)\npublic class A { @NSManaged \(property) }", dependencies: others)
        #expect(result.problems == [])
        #expect(result.source.contains("#if !canImport(ObjectiveC)\n\(written)\n"))
    }

    @Test("A type nested in a superclass is found in a subclass")
    func inherited() {
        let result = Self.accessors("class B: A { @NSManaged var x: Kind }", others: ["class A { enum Kind: Int { case a } }"])
        #expect(result.source.contains("$s1M1BC1xAA1AC4KindOvg"))
    }

    @Test("Declarations in functions, comments and strings are not declarations of the file")
    func elsewhere() {
        let source = "func f() { class L { @NSManaged var x: Int } }\n// @NSManaged var y: Int\nlet s = \"@NSManaged var z: Int\""
        let result = Self.accessors(source)
        #expect(result.problems == [])
        #expect(!result.source.contains("extension"))
    }

    @Test(
        "An import gets an access level only where no file of the target imports the module without one",
        arguments: [
            ("", "import CoreData", "import CoreData"), ("", "internal import CoreData", "internal import CoreData"),
            ("import class CoreData.NSManagedObject", "", "import class CoreData.NSManagedObject\nimport CoreData"),
            ("public import CoreData", "import CoreData", "import CoreData"),
            ("public import CoreData", "public import CoreData", "internal import CoreData"),
        ])
    func plainImports(imports: String, others: String, written: String) {
        let result = Self.accessors("\(imports)\nclass A { @NSManaged var x: Int }", others: [others])
        #expect(result.source.contains("#if !canImport(ObjectiveC)\n\(written)\n"), "\(result.source)")
    }

    @Test(
        "A name that Foundation has too gets an alias, as visible as the declarations that show it",
        arguments: [
            (
                ["import CoreData\nlet e = NSExpression(forKeyPath: k)"],
                "import CoreData\n\ntypealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["public import CoreData\npublic func f(_ e: [NSExpression]) {}"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["internal import CoreData\npublic func f() { let p: NSComparisonPredicate? = nil }"],
                "internal import CoreData\n\ntypealias NSComparisonPredicate = CoreData.NSComparisonPredicate\n"
            ),
            (
                ["public import CoreData\n@inlinable public func f() { _ = NSExpression(forKeyPath: k) }"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["public import CoreData\npublic func f(_ e: Any = NSExpression(forKeyPath: k)) {}"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["public import CoreData\npublic var e: Any { @inlinable get { g { NSExpression(forKeyPath: k) } } set {} }"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["public import CoreData\n@usableFromInline func f(_ e: NSExpression) {}"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["public import CoreData\n@frozen public struct S { var e: Any = NSExpression(forKeyPath: k) }"],
                "public import CoreData\n\npublic typealias NSExpression = CoreData.NSExpression\n"
            ),
            (
                ["import CoreData\npublic class A { public var e: Any = NSExpression(forKeyPath: k); func f() { _ = NSExpression() } }"],
                "import CoreData\n\ntypealias NSExpression = CoreData.NSExpression\n"
            ),
            (["typealias NSExpression = Predicates.NSExpression", "let e: NSExpression? = nil"], nil), (["let x = 1"], nil),
        ] as [([String], String?)])
    func aliases(sources: [String], written: String?) {
        let files = sources.enumerated().map { SourceFile(path: "\($0).swift", text: $1, module: "M") }
        let source = NameAliases.source(for: files, SymbolTable(files: files, module: "M"), exporter: "CoreData")
        let head = "// Names that Foundation has too. Written by the ManagedAccessors plugin.\n"
        #expect(source == head + (written.map { "#if !canImport(ObjectiveC)\n\($0)#endif\n" } ?? ""))
    }
}
#endif
