#if ManagedAccessors
import Testing

@testable import ManagedSources

/// The symbols of one property, in the spelling that the compiler was seen to ask for.
struct SymbolTests {
    static let other = """
        public protocol Pr {}
        open class Album: NSManagedObject {
            public struct Info { public enum Deep: Int { case a } }
            public final class Album: NSManagedObject {}
        }
        public enum Space { public class Track: NSManagedObject {} }
        """

    static func getters(_ source: String, module: String = "M", file: String = "a.swift") throws -> [String] {
        let file = SourceFile(path: "/x/\(file)", text: source, module: module)
        let dependency = SourceFile(path: "Other.swift", text: other, module: "Other")
        let table = SymbolTable(files: [file], module: module, others: [dependency])
        return try AccessorWriter(table: table).symbols(for: file).filter { !$0.hasSuffix("vs") }
    }

    @Test(
        "A property's getter has the symbol that the compiler asks for",
        arguments: [
            ("a1: Any", "$s1M1PC2a1ypvg"), ("a2: Any?", "$s1M1PC2a2ypSgvg"), ("a3: AnyObject?", "$s1M1PC2a3yXlSgvg"),
            ("a4: any Pr", "$s1M1PC2a45Other2Pr_pvg"), ("a6: (any NSCoding)?", "$s1M1PC2a610Foundation8NSCoding_pSgvg"),
            ("a7: [String: Any]", "$s1M1PC2a7SDySSypGvg"), ("a8: [AnyHashable: Any]?", "$s1M1PC2a8SDys11AnyHashableVypGSgvg"),
            ("a9: Set<AnyHashable>", "$s1M1PC2a9Shys11AnyHashableVGvg"), ("b1: Short?", "$s1M1PC2b15Other5AlbumC4InfoVSgvg"),
            ("b2: Album.Info.Deep", "$s1M1PC2b25Other5AlbumC4InfoV4DeepOvg"), ("b3: Box<Int>.In", "$s1M1PC2b3AA3BoxV2InVySi_Gvg"),
            ("b4: Box<[Int]>", "$s1M1PC2b4AA3BoxVySaySiGGvg"), ("b5: Pair<Album, Album>", "$s1M1PC2b5AA4PairVy5Other5AlbumCAIGvg"),
            ("b6: Kind", "$s1M1PC2b6AC4KindOvg"), ("b7: [Kind: Kind]", "$s1M1PC2b7SDyAC4KindOAFGvg"),
            ("b8: TimeInterval", "$s1M1PC2b8Sdvg"),
            ("c1: CGRect", "$s1M1PC2c110Foundation6CGRectVvg"), ("c2: NSRange", "$s1M1PC2c210Foundation8_NSRangeVvg"),
            ("c5: any Hashable", "$s1M1PC2c5SH_pvg"), ("c6: any Error", "$s1M1PC2c6s5Error_pvg"), ("d4: Int!", "$s1M1PC2d4SiSgvg"),
            ("`class`: Int", "$s1M1PC5classSivg"),
        ])
    func property(declaration: String, symbol: String) throws {
        let source = """
            import Other
            typealias Short = Album.Info
            struct Box<T> { struct In {} }
            struct Pair<A, B> {}
            class P: NSManagedObject {
                enum Kind: Int { case a }
                @NSManaged var \(declaration)
            }
            """
        #expect(try Self.getters(source) == [symbol])
    }

    @Test("Members of extensions of another module's classes carry both modules")
    func extensionsElsewhere() throws {
        let source = """
            import Other
            extension Album {
                @NSManaged var mine: String
                @NSManaged var albumTitle: Album?
                @NSManaged var tr: Space.Track?
                class Local: NSManagedObject { @NSManaged var z: Int }
                enum K: Int { case a }
            }
            extension Space { class Art: NSManagedObject { @NSManaged var kk: Other.Album.K } }
            """
        let getters = try Self.getters(source)
        #expect(
            getters == [
                "$s5Other5AlbumC1ME4mineSSvg", "$s5Other5AlbumC1ME10albumTitleAcBCSgvg", "$s5Other5AlbumC1ME2trAA5SpaceO5TrackCSgvg",
                "$s5Other5AlbumC1ME5LocalC1zSivg", "$s5Other5SpaceO1ME3ArtC2kkAA5AlbumCADE1KOvg",
            ])
    }

    @Test(
        "A method has the symbol that the compiler asks for",
        arguments: [
            ("add1(_ a: Int, _ b: Int)", "$s1M1PC4add1yySi_SitF"), ("add2(a: Int, b: Int)", "$s1M1PC4add21a1bySi_SitF"),
            ("add3(_ a: Int, _ b: Int) -> Bool", "$s1M1PC4add3ySbSi_SitF"), ("add4() -> [Int]", "$s1M1PC4add4SaySiGyF"),
            ("add5(a: Int)", "$s1M1PC4add51aySi_tF"), ("add6(_ a: Set<P>)", "$s1M1PC4add6yyShyACGF"),
            ("insertIntoTracks(_ value: P, at idx: Int)", "$s1M1PC16insertIntoTracks_2atyAC_SitF"),
        ])
    func method(declaration: String, symbol: String) throws {
        #expect(try Self.getters("class P: NSManagedObject { @NSManaged func \(declaration) }") == [symbol])
    }

    @Test("A private member's symbol tells its file")
    func privateMember() throws {
        let symbols = try Self.getters("class Plain: NSManagedObject { @NSManaged private var secret: String? }")
        #expect(symbols == ["$s1M5PlainC6secret33_2A7498D4606CCC8B86CCF92D28534D8FLLSSSgvg"])
    }
}
#endif
