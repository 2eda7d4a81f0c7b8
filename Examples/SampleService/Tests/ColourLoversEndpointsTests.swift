import Foundation
import SampleService
import Testing

@Suite("The COLOURlovers endpoints") struct ColourLoversEndpointsTests {
    private let service: SampleService

    init() async throws {
        service = try await SampleService.start()
    }

    @Test("The top palettes come best rank first, with the members COLOURlovers sends") func topPalettes() async throws {
        let palettes = try await service.ask("/api/palettes/top?format=json&numResults=60&showPaletteWidths=1").objects()
        #expect(palettes.values("rank") == Array(1...60))
        #expect(palettes.values("id") == service.palettes.map(\.id))
        for palette in palettes {
            #expect(
                palette.names == [
                    "apiUrl", "badgeUrl", "colorWidths", "colors", "dateCreated", "description", "id", "imageUrl", "numComments",
                    "numHearts", "numViews", "numVotes", "rank", "title", "url", "userName",
                ])
            let colors = try #require(palette["colors"] as? [String])
            let widths = try #require(palette["colorWidths"] as? [Double])
            #expect(colors.allSatisfy { $0.wholeMatch(of: /[0-9A-F]{6}/) != nil })
            #expect(widths.count == colors.count)
            let whole: Double = widths.reduce(0, +)
            #expect((0.999_999...1.000_001).contains(whole))
        }
    }

    @Test("A page is the results from the offset on, and 20 unless told otherwise") func pages() async throws {
        let all = service.palettes.map(\.id)
        let page = try await service.ask("/api/palettes/top?format=json&numResults=30&resultOffset=25").objects()
        let last = try await service.ask("/api/palettes/top?format=json&numResults=30&resultOffset=55").objects()
        let beyond = try await service.ask("/api/palettes/top?format=json&resultOffset=60").objects()
        let unsaid = try await service.ask("/api/palettes/top?format=json").objects()
        #expect(page.values("id") == Array(all[25..<55]))
        #expect(last.values("id") == Array(all[55...]))
        #expect(beyond.isEmpty)
        #expect(unsaid.values("id") == Array(all[..<20]))
    }

    @Test("A page never holds more than 100 palettes") func largestPage() async throws {
        for number in 1...60 { service.addPalette(SamplePalette(id: number, title: "Added \(number)", rank: 100 + number)) }
        #expect(try await service.ask("/api/palettes/top?format=json&numResults=500").objects().count == 100)
    }

    @Test("Widths come only when they are asked for") func widthsOnRequest() async throws {
        let palettes = try await service.ask("/api/palettes/top?format=json&numResults=1").objects()
        #expect(palettes.count == 1)
        #expect(palettes[0]["colorWidths"] == nil)
    }

    @Test("A palette by identifier is a list of one, an unknown one an empty list") func paletteByIdentifier() async throws {
        let expected = service.palettes[7]
        let found = try await service.ask("/api/palette/\(expected.id)?format=json").objects()
        #expect(found.values("title") == [expected.title])
        #expect(found.values("userName") == [expected.userName])
        #expect(try await service.ask("/api/palette/1?format=json").objects().isEmpty)
    }

    @Test(
        "Another format, or a page that is not a number, is an error",
        arguments: ["format=xml", "format=json&numResults=many", "format=json&resultOffset=-1"])
    func wrongQuestions(query: String) async throws {
        #expect(try await service.ask("/api/palettes/top?\(query)").status == 400)
    }

    @Test("An answer the client still has is not sent again until it changes") func unchangedAnswers() async throws {
        let target = "/api/palettes/top?format=json&numResults=5"
        let first = try await service.ask(target)
        let tag = try #require(first.entityTag)

        let second = try await service.ask(target, headers: ["If-None-Match": "\"other\", W/\(tag)"])
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        #expect(second.entityTag == tag)

        try service.updatePalette(id: service.palettes[4].id, title: "Renamed")
        let third = try await service.ask(target, headers: ["If-None-Match": tag])
        #expect(third.status == 200)
        #expect(third.entityTag != tag)
        #expect(service.requests.map(\.status) == [200, 304, 200])
    }

    @Test("Renaming, adding and removing palettes shows in the next answer") func editingPalettes() async throws {
        let before = service.palettes
        try service.updatePalette(id: before[0].id, title: "Dämmerung")
        try service.removePalette(id: before[1].id)
        service.addPalette(SamplePalette(id: 5, title: "Newcomer", colors: ["FF0000", "00FF00"], rank: 2))

        let after = try await service.ask("/api/palettes/top?format=json&numResults=3&showPaletteWidths=1").objects()
        #expect(after.values("title") == ["Dämmerung", "Newcomer", before[2].title])
        #expect(after[1]["colorWidths"] as? [Double] == [0.5, 0.5])
    }

    @Test("Changing or removing an unknown palette throws and changes nothing") func unknownPalette() async throws {
        let before = service.palettes
        #expect(throws: SampleServiceError.unknownPalette(id: 1)) { try service.updatePalette(id: 1, title: "Nobody") }
        #expect(throws: SampleServiceError.unknownPalette(id: 1)) { try service.removePalette(id: 1) }
        #expect(service.palettes == before)
    }
}
