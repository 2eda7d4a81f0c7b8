import Foundation
import Predicates
import TestSupport
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
        try expect(KeyPathNames.path(of: \Album.title), equals: "title")
        try expect(KeyPathNames.path(of: \Album.band?.name), equals: "band.name")
        try expect(KeyPathNames.path(of: \Album.band!.name), equals: "band.name")
        try expect(KeyPathNames.names(of: \Album.self), equals: [])
        try expect(KeyPathNames.path(of: \Album.self), equals: "SELF")
    }

    @Test func aKeyPathWithoutANameIsAnErrorThatShowsIt() {
        for keyPath in [\Album.shoutedTitle, \Album.title.count, \[Int][2]] as [AnyKeyPath] {
            let error = #expect(throws: InvalidPredicateError.self) { try KeyPathNames.names(of: keyPath) }
            expect(error?.kind, equals: .unknownKeyPath)
            expect(error?.message.contains("\(keyPath)"), equals: true)
        }
    }

    @Test func aTypeCanNameItsKeyPaths() throws {
        try expect(KeyPathNames.path(of: \Song.minutes), equals: "length.minutes")
        try expect(KeyPathNames.path(of: \Song.seconds), equals: "seconds")
        expect(NSSortDescriptor(keyPath: \Song.minutes, ascending: true).key, equals: "length.minutes")
    }

    @Test func descriptorsSortByKeyPathsOfEveryKind() throws {
        try expect(titles(NSSortDescriptor(keyPath: \Album.title, ascending: true)), equals: ["C", "a", "b"])
        try expect(titles(NSSortDescriptor(keyPath: \Album.title, ascending: false)), equals: ["b", "a", "C"])
        try expect(titles(NSSortDescriptor(keyPath: \Album.year, ascending: true)), equals: ["a", "C", "b"])
        try expect(titles(NSSortDescriptor(keyPath: \Album.band?.name, ascending: false)), equals: ["b", "C", "a"])
        try expect(titles(NSSortDescriptor(keyPath: \Album.shoutedTitle, ascending: true)), equals: ["a", "b", "C"])
        try expect(titles(NSSortDescriptor(keyPath: \Album.title, ascending: true, textOrder: .caseInsensitive)), equals: ["a", "b", "C"])
    }

    @Test func descriptorsSayTheirKeyAndWhetherTheyCompareByThemselves() throws {
        let natural = NSSortDescriptor(keyPath: \Album.title, ascending: true)
        expect(natural.key, equals: "title")
        #expect(!natural.hasComparator)
        let optional = NSSortDescriptor(keyPath: \Album.year, ascending: false)
        expect(optional.key, equals: "year")
        #expect(!optional.hasComparator)
        let backwards: Comparator = { ($1 as! String) < ($0 as! String) ? .orderedAscending : .orderedDescending }
        let custom = NSSortDescriptor(keyPath: \Album.title, ascending: true, comparator: backwards)
        expect(custom.key, equals: "title")
        #expect(custom.hasComparator)
        try expect(titles(custom), equals: ["b", "a", "C"])
        #expect(!NSSortDescriptor(keyPath: \Song.seconds, ascending: true).hasComparator)
        #expect(NSSortDescriptor(keyPath: \Album.shoutedTitle, ascending: true).key == nil)
        expect((optional.reversedSortDescriptor as? NSSortDescriptor), equals: NSSortDescriptor(keyPath: \Album.year, ascending: true))
    }

    @Test func sortDescriptorsOfSwiftAreTranslated() throws {
        let title = NSSortDescriptor(SortDescriptor(\Album.title))
        expect(title.key, equals: "title")
        #expect(title.ascending)
        #expect(!title.hasComparator)
        expect(title.textOrder, equals: .binary)
        let lexical = NSSortDescriptor(SortDescriptor(\Album.title, comparator: .lexical, order: .reverse))
        #expect(!lexical.ascending)
        #expect(!lexical.hasComparator)
        try expect(
            titles(lexical), equals: albums.sorted(using: SortDescriptor(\Album.title, comparator: .lexical, order: .reverse)).map(\.title))
        let turned = SortDescriptor(\Album.title, comparator: String.StandardComparator(.lexical, order: .reverse))
        try expect(titles(NSSortDescriptor(turned)), equals: albums.sorted(using: turned).map(\.title))
        for descriptor in [SortDescriptor(\Album.year), SortDescriptor(\Album.year, order: .reverse)] {
            try expect(titles(NSSortDescriptor(descriptor)), equals: albums.sorted(using: descriptor).map(\.title))
        }
    }
}
