import Foundation
import SampleService
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The endpoints that speak Kinto's protocol") struct RecordEndpointsTests {
    /// An answer: status, headers, and the JSON of the body.
    private struct Reply {
        let status: Int
        let headers: [String: String]
        let json: [String: Any]
        var ids: [String] { (json["data"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String } }
    }

    private func send(
        _ method: String, _ path: String, to service: SampleService, _ headers: [String: String] = [:], body: String? = nil,
        user: String? = "me"
    ) async throws -> Reply {
        var request = URLRequest(url: try #require(URL(string: path.hasPrefix("http") ? path : service.baseURL.absoluteString + path)))
        request.httpMethod = method
        request.cachePolicy = .reloadIgnoringLocalCacheData
        if let user { request.setValue("Basic \(Data("\(user):x".utf8).base64EncodedString())", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        let fields = http.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
        return Reply(
            status: http.statusCode, headers: Dictionary(fields) { first, _ in first },
            json: (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:])
    }

    private let items = "/v1/buckets/default/collections/items/records"

    @Test("A change of another version is refused with what is there, and one of this version is made") func preconditions() async throws {
        let service = try await SampleService.start()
        let made = try await send("PUT", "\(items)/a", to: service, ["If-None-Match": "*"], body: #"{"data": {"title": "Milk"}}"#)
        let tag = try #require(made.headers["etag"])
        #expect(made.status == 201)
        let again = try await send("PUT", "\(items)/a", to: service, ["If-None-Match": "*"], body: #"{"data": {"title": "No"}}"#)
        #expect(again.status == 412)
        let existing = (again.json["details"] as? [String: Any])?["existing"] as? [String: Any]
        #expect(existing?["title"] as? String == "Milk")
        let old = try await send("PATCH", "\(items)/a", to: service, ["If-Match": "\"1\""], body: #"{"data": {"title": "No"}}"#)
        #expect(old.status == 412)
        let done = try await send("PATCH", "\(items)/a", to: service, ["If-Match": tag], body: #"{"data": {"isDone": true}}"#)
        let data = done.json["data"] as? [String: Any]
        #expect(done.status == 200 && data?["title"] as? String == "Milk" && data?["isDone"] as? Bool == true)
        #expect(try await send("DELETE", "\(items)/a", to: service, ["If-Match": tag]).status == 412)
        #expect(try await send("DELETE", "\(items)/a", to: service).status == 200)
        #expect(try await send("GET", "\(items)/a", to: service).status == 404)
        await service.stop()
    }

    @Test("A list comes in pages, filtered and sorted, is not sent twice, and tells what has changed since, deletions too")
    func lists() async throws {
        let service = try await SampleService.start()
        let requests = (0..<5).map { #"{"method": "PUT", "path": "\#(items)/\#($0)", "body": {"data": {"n": \#($0), "list": "a"}}}"# }
        let batch = try await send("POST", "/v1/batch", to: service, body: #"{"requests": [\#(requests.joined(separator: ","))]}"#)
        #expect((batch.json["responses"] as? [[String: Any]])?.map { $0["status"] as? Int } == Array(repeating: 201, count: 5))

        var page = try await send("GET", "\(items)?_sort=-n&_limit=2&lt_n=4&list=%22a%22", to: service)
        #expect(page.ids == ["3", "2"] && page.headers["total-records"] == "4")
        page = try await send("GET", try #require(page.headers["next-page"]), to: service)
        #expect(page.ids == ["1", "0"] && page.headers["next-page"] == nil)

        let all = try await send("GET", items, to: service)
        let tag = try #require(all.headers["etag"])
        #expect(try await send("GET", items, to: service, ["If-None-Match": tag]).status == 304)
        _ = try await send("DELETE", "\(items)/3", to: service)
        _ = try await send("PATCH", "\(items)/4", to: service, body: #"{"data": {"n": 40}}"#)
        let since = try await send("GET", "\(items)?_since=\(tag.replacing("\"", with: "%22"))", to: service)
        #expect(since.ids == ["4", "3"])
        #expect((since.json["data"] as? [[String: Any]])?.last?["deleted"] as? Bool == true)
        await service.stop()
    }

    @Test("Users have records of their own, and nobody has any without saying who it is") func users() async throws {
        let service = try await SampleService.start()
        _ = try await send("POST", items, to: service, body: #"{"data": {"title": "Milk"}}"#)
        #expect(try await send("GET", items, to: service).ids.count == 1)
        #expect(try await send("GET", items, to: service, user: "other").ids.isEmpty)
        #expect(try await send("GET", items, to: service, user: nil).status == 401)
        await service.stop()
    }

    @Test("A service in between passes requests on, until it is cut") func network() async throws {
        let server = try await SampleService.start()
        let network = try await SampleService.start(upstream: server.baseURL)
        _ = try await send("POST", items, to: network, body: #"{"data": {"title": "Milk"}}"#)
        #expect(try await send("GET", items, to: network).ids == (try await send("GET", items, to: server).ids))
        #expect(network.requestCount() == 2)
        await network.stop()
        await #expect(throws: URLError.self) { try await send("GET", items, to: network) }
        await server.stop()
    }
}
