import Foundation
import SampleService
import Testing

@Suite("The reading room's endpoints") struct ReadingRoomTests {
    private let service: SampleService

    init() async throws { service = try await SampleService.start() }

    @Test(
        "Books are filtered, sorted and divided into pages of four",
        arguments: [
            ("", 9, [1, 2, 3, 4]), ("?offset=8", 9, [9]), ("?limit=2&offset=2", 9, [3, 4]), ("?limit=100", 9, [1, 2, 3, 4]),
            ("?author_id=1", 4, [1, 2, 4, 8]), ("?min_year=1980&max_year=1991", 3, [4, 5, 6]), ("?title=The&sort=-year", 4, [9, 7, 4, 1]),
            ("?sort=title&limit=2", 9, [3, 8]),
        ])
    func books(query: String, total: Int, ids: [Int]) async throws {
        let answer = try await service.ask("/room/books\(query)")
        #expect(try answer.object()["total"] as? Int == total)
        #expect(try answer.objects("items").values("id") == ids)
    }

    @Test("Authors are found by name, and what there is not is status 404") func authors() async throws {
        #expect(try await service.ask("/room/authors?name=Jonas%20Kell").objects("items").values("id") == [2])
        #expect(try await service.ask("/room/authors/3").object()["name"] as? String == "Mirja Tuule")
        for target in ["/room/authors/9", "/room/books/99", "/room/books/x"] { #expect(try await service.ask(target).status == 404) }
        #expect(try await service.ask("/room/books?offset=x").status == 400)
    }

    @Test("Books are added, changed and removed; what is wrong is named by its field") func saving() async throws {
        let added = try await service.ask("/room/books", method: "POST", body: #"{"title": "Mud", "year": 2020, "author_id": 2}"#)
        #expect(added.status == 201)
        #expect(try added.object()["id"] as? Int == 10)
        let changed = try await service.ask("/room/books/10", method: "PATCH", body: #"{"is_lent": true}"#)
        #expect(try changed.object()["title"] as? String == "Mud")
        #expect(try await service.ask("/room/books/10").object()["is_lent"] as? Bool == true)
        let refused = try await service.ask("/room/books/10", method: "PATCH", body: #"{"title": ""}"#)
        #expect(refused.status == 422)
        #expect(try refused.objects("errors").values("field") == ["title"])
        #expect(try await service.ask("/room/books/10", method: "DELETE").status == 204)
        #expect(try await service.ask("/room/books/10").status == 404)
        #expect(try await service.ask("/room/authors/1", method: "DELETE").status == 405)
        #expect(service.requests.first?.body == #"{"title": "Mud", "year": 2020, "author_id": 2}"#)
    }
}
