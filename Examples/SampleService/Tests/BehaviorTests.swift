import Foundation
import SampleService
import Testing

@Suite("The planned behavior") struct BehaviorTests {
    private let service: SampleService
    private let search = "/api/band/3/search?name=Sideditch"
    private let top = "/api/palettes/top?format=json&numResults=2"

    init() async throws {
        service = try await SampleService.start()
    }

    @Test("Exactly the next requests fail, with the status that was planned") func failingRequests() async throws {
        service.failNext(2, status: 500)
        let failed = try await service.ask(search)
        #expect(failed.status == 500)
        #expect(try failed.object()["error"] as? Bool == true)
        #expect(try await service.ask(top).status == 500)
        #expect(try await service.ask(search).status == 200)
    }

    @Test("A failure planned for a path leaves other paths alone") func failuresByPath() async throws {
        service.failNext(path: "/api/palettes", status: 429)
        #expect(try await service.ask(search).status == 200)
        #expect(try await service.ask(top).status == 429)
        #expect(try await service.ask(top).status == 200)
    }

    @Test("Plans are used in the order they were made, one by each request") func plansInOrder() async throws {
        service.failNext(status: 503)
        service.answerMalformed()
        service.failNext(path: "/api/palettes", status: 404)
        #expect(try await service.ask(top).status == 503)
        let malformed = try await service.ask(top)
        #expect(malformed.status == 200)
        #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: malformed.body) }
        #expect(try await service.ask(top).status == 404)
        #expect(try await service.ask(top).status == 200)
    }

    @Test("A malformed answer is the first half of the right one and carries no tag") func malformedAnswer() async throws {
        let right = try await service.ask(top)
        service.answerMalformed(next: 1, path: "/api/palettes")
        let malformed = try await service.ask(top, headers: ["If-None-Match": try #require(right.entityTag)])
        #expect(malformed.status == 200)
        #expect(malformed.body == right.body.prefix(right.body.count / 2))
        #expect(malformed.entityTag == nil)
    }

    @Test("An answer waits for the delay that held when its request came, and no other does") func delayedAnswer() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: RecordedRequest.self)
        let service = try await SampleService.start { arrival.yield($0) }
        service.setDelay(.seconds(3000))
        let waiting = Task { try await service.ask(search) }
        for await _ in arrivals { break }
        service.setDelay(.zero)
        #expect(try await service.ask(search).status == 200)
        // The first is still without its answer: stopping the service leaves it with an error.
        await service.stop()
        await #expect(throws: (any Error).self) { try await waiting.value }
    }

    @Test("Resetting the behavior ends delay and plans") func resettingBehavior() async throws {
        service.setDelay(.seconds(3000))
        service.failNext(5)
        service.answerMalformed(next: 5)
        service.resetBehavior()
        let reply = try await service.ask(search)
        #expect(reply.status == 200)
        #expect(try reply.objects("results").count == 1)
    }

    @Test("A request that arrived keeps its answer while the data changes behind it") func answerOfTheArrival() async throws {
        let title = service.palettes[0].title
        service.onRequest = { [weak service] _ in
            guard let service else { return }
            try? service.updatePalette(id: service.palettes[0].id, title: "Too late")
        }
        #expect(try await service.ask(top).objects().first?["title"] as? String == title)
        #expect(try await service.ask(top).objects().first?["title"] as? String == "Too late")
    }
}
