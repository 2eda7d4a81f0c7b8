import Foundation
import SampleService
import Testing

@Suite("The invented data") struct DataSetTests {
    private let albums = SampleService.bands.flatMap(\.albums)
    private let tracks = SampleService.bands.flatMap(\.albums).flatMap(\.tracks)

    @Test("There are 5 bands, 9 albums and 37 tracks, each with an identifier of its own") func sizes() {
        #expect(SampleService.bands.count == 5)
        #expect(albums.count == 9)
        #expect(tracks.count == 37)
        #expect(Set(SampleService.bands.map(\.id)).count == 5)
        #expect(Set(albums.map(\.id)).count == 9)
        #expect(Set(tracks.map(\.id)).count == 37)
    }

    @Test("Identifiers fit into 32 bits without a sign, but not all with one") func identifierSizes() {
        let all = SampleService.bands.map(\.id) + albums.map(\.id) + tracks.map(\.id)
        #expect(all.allSatisfy { UInt32(exactly: $0) != nil })
        #expect(!all.allSatisfy { Int32(exactly: $0) != nil })
    }

    @Test("Bands and albums are in the order of their identifiers, which is not the order of release") func order() throws {
        #expect(SampleService.bands.map(\.id) == SampleService.bands.map(\.id).sorted())
        for band in SampleService.bands { #expect(band.albums.map(\.id) == band.albums.map(\.id).sorted()) }
        let rueRoyale = try #require(SampleService.bands.first { $0.id == 4_246_760_315 })
        #expect(rueRoyale.albums.map(\.releaseDate) != rueRoyale.albums.map(\.releaseDate).sorted())
    }

    @Test("Release dates are midnights in UTC") func releaseDates() {
        #expect(albums.allSatisfy { $0.releaseDate.isMultiple(of: 86_400) })
    }

    @Test("Each service begins with the same 60 palettes, no two with the same title") func palettes() async throws {
        let first = try await SampleService.start().palettes
        let second = try await SampleService.start().palettes
        #expect(first == second)
        #expect(first.count == 60)
        #expect(Set(first.map(\.title)).count == 60)
        #expect(first.map(\.id) != first.map(\.id).sorted())
        #expect(first.map(\.voteCount) == first.map(\.voteCount).sorted(by: >))
    }
}
