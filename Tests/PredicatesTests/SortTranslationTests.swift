import Foundation
import Predicates
import Testing

/// Sort descriptors and names that come from Swift key paths.
@Suite struct SortTranslationTests {
    final class Band {
        var name: String
        init(_ name: String) { self.name = name }
    }

    struct Album: Equatable {
        var title: String
        var year: Int?
        var band: Band?
        var shoutedTitle: String { title.uppercased() }
        static func == (left: Album, right: Album) -> Bool { left.title == right.title }
    }

    struct Song: KeyPathNaming {
        var seconds = 0
        var minutes: Int { seconds / 60 }
        static func propertyPath(for keyPath: AnyKeyPath) -> [String]? { keyPath == \Song.minutes ? ["length", "minutes"] : nil }
    }

    private let albums = [
        Album(title: "b", year: 2000, band: Band("Z")), Album(title: "a", year: nil, band: nil),
        Album(title: "C", year: 1999, band: Band("A")),
    ]

    private func titles(_ descriptors: NSSortDescriptor...) throws -> [String] { try albums.sorted(using: descriptors).map(\.title) }

    @Test func storedPropertiesAreNamedByTheRuntime() throws {
        #expect(try KeyPathNames.path(of: \Album.title) == "title")
        #expect(try KeyPathNames.path(of: \Album.band?.name) == "band.name")
        #expect(try KeyPathNames.path(of: \Album.band!.name) == "band.name")
        #expect(try KeyPathNames.names(of: \Album.self) == [])
        #expect(try KeyPathNames.path(of: \Album.self) == "SELF")
    }

    @Test func aKeyPathWithoutANameIsAnErrorThatShowsIt() {
        for keyPath in [\Album.shoutedTitle, \Album.title.count, \[Int][2]] as [AnyKeyPath] {
            let error = #expect(throws: InvalidPredicateError.self) { try KeyPathNames.names(of: keyPath) }
            #expect(error?.kind == .unknownKeyPath)
            #expect(error?.message.contains("\(keyPath)") == true)
        }
    }

    @Test func aTypeCanNameItsKeyPaths() throws {
        #expect(try KeyPathNames.path(of: \Song.minutes) == "length.minutes")
        #expect(try KeyPathNames.path(of: \Song.seconds) == "seconds")
        #expect(NSSortDescriptor(keyPath: \Song.minutes, ascending: true).key == "length.minutes")
    }

    @Test func descriptorsSortByKeyPathsOfEveryKind() throws {
        #expect(try titles(NSSortDescriptor(keyPath: \Album.title, ascending: true)) == ["C", "a", "b"])
        #expect(try titles(NSSortDescriptor(keyPath: \Album.title, ascending: false)) == ["b", "a", "C"])
        #expect(try titles(NSSortDescriptor(keyPath: \Album.year, ascending: true)) == ["a", "C", "b"])
        #expect(try titles(NSSortDescriptor(keyPath: \Album.band?.name, ascending: false)) == ["b", "C", "a"])
        #expect(try titles(NSSortDescriptor(keyPath: \Album.shoutedTitle, ascending: true)) == ["a", "b", "C"])
        #expect(try titles(NSSortDescriptor(keyPath: \Album.title, ascending: true, textOrder: .caseInsensitive)) == ["a", "b", "C"])
    }

    @Test func descriptorsSayTheirKeyAndWhetherTheyCompareByThemselves() throws {
        let natural = NSSortDescriptor(keyPath: \Album.title, ascending: true)
        #expect(natural.key == "title")
        #expect(!natural.hasComparator)
        let optional = NSSortDescriptor(keyPath: \Album.year, ascending: false)
        #expect(optional.key == "year")
        #expect(!optional.hasComparator)
        let backwards: Comparator = { ($1 as! String) < ($0 as! String) ? .orderedAscending : .orderedDescending }
        let custom = NSSortDescriptor(keyPath: \Album.title, ascending: true, comparator: backwards)
        #expect(custom.key == "title")
        #expect(custom.hasComparator)
        #expect(try titles(custom) == ["b", "a", "C"])
        #expect(!NSSortDescriptor(keyPath: \Song.seconds, ascending: true).hasComparator)
        #expect(NSSortDescriptor(keyPath: \Album.shoutedTitle, ascending: true).key == nil)
        #expect((optional.reversedSortDescriptor as? NSSortDescriptor) == NSSortDescriptor(keyPath: \Album.year, ascending: true))
    }

    @Test func sortDescriptorsOfSwiftAreTranslated() throws {
        let title = NSSortDescriptor(SortDescriptor(\Album.title))
        #expect(title.key == "title")
        #expect(title.ascending)
        #expect(!title.hasComparator)
        #expect(title.textOrder == .binary)
        let lexical = NSSortDescriptor(SortDescriptor(\Album.title, comparator: .lexical, order: .reverse))
        #expect(!lexical.ascending)
        #expect(!lexical.hasComparator)
        #expect(
            try titles(lexical) == albums.sorted(using: SortDescriptor(\Album.title, comparator: .lexical, order: .reverse)).map(\.title))
        let turned = SortDescriptor(\Album.title, comparator: String.StandardComparator(.lexical, order: .reverse))
        #expect(try titles(NSSortDescriptor(turned)) == albums.sorted(using: turned).map(\.title))
        for descriptor in [SortDescriptor(\Album.year), SortDescriptor(\Album.year, order: .reverse)] {
            #expect(try titles(NSSortDescriptor(descriptor)) == albums.sorted(using: descriptor).map(\.title))
        }
    }
}
