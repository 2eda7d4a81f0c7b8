import Foundation
import SampleService
import Testing

@Suite("The recorded requests") struct RecordedRequestsTests {
    private let service: SampleService

    init() async throws {
        service = try await SampleService.start()
    }

    @Test("Each request is recorded with method, path, decoded query and status, in order") func recording() async throws {
        service.failNext(path: "/api/album", status: 502)
        _ = try await service.ask("/api/band/3/search?name=Rue+Royale%2CTuule%20Kell&key=a%26b")
        _ = try await service.ask("/api/album/2/info?album_id=7", method: "DELETE")

        let requests = service.requests
        #expect(requests.map(\.order) == [1, 2])
        #expect(requests.map(\.method) == ["GET", "DELETE"])
        #expect(requests.map(\.path) == ["/api/band/3/search", "/api/album/2/info"])
        #expect(requests.map(\.status) == [200, 502])
        #expect(requests[0].query == ["name": "Rue Royale,Tuule Kell", "key": "a&b"])
        #expect(requests[1].description == "2. DELETE /api/album/2/info?album_id=7 → 502")
    }

    @Test("Requests are counted by the beginning of their path, and forgotten on demand") func counting() async throws {
        _ = try await service.ask("/api/band/3/info?band_id=1")
        _ = try await service.ask("/api/band/3/discography?band_id=1")
        _ = try await service.ask("/api/palettes/top")
        #expect(service.requestCount() == 3)
        #expect(service.requestCount(path: "/api/band") == 2)
        #expect(service.requestCount(path: "/api/track") == 0)

        service.resetRequests()
        #expect(service.requests.isEmpty)
        _ = try await service.ask("/api/palettes/top")
        #expect(service.requests.map(\.order) == [1])
    }

    @Test("The callback hears of each request once") func callback() async throws {
        let (requests, request) = AsyncStream.makeStream(of: RecordedRequest.self)
        let service = try await SampleService.start { request.yield($0) }
        _ = try await service.ask("/api/palettes/top")
        service.onRequest = nil
        _ = try await service.ask("/api/palettes/top")
        request.finish()

        var heard: [RecordedRequest] = []
        for await request in requests { heard.append(request) }
        #expect(heard == [service.requests[0]])
        await service.stop()
    }

    @Test("Requests at the same time are all answered and recorded with orders of their own") func concurrentRequests() async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<24 { group.addTask { try await service.ask("/api/palettes/top?format=json").status } }
            for number in 0..<24 {
                service.addPalette(SamplePalette(id: number, title: "Added meanwhile", rank: 200))
                service.setDelay(.milliseconds(number % 2))
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 24))
        #expect(service.requests.map(\.order) == Array(1...24))
    }
}
