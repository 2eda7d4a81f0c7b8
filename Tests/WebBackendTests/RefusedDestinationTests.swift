import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("One resource among those that others refer to") struct RefusedDestinationTests {
    /// What is answered for it.
    enum Answer: CaseIterable {
        case forbidden, failed, busy, malformed, page, lost, other

        func response(_ request: WebRequest) throws -> WebResponse {
            switch self {
            case .forbidden: .json(#"{"message": "private"}"#, status: 403)
            case .failed: .json("{}", status: 500)
            case .busy: .json("{}", status: 429, headers: ["Retry-After": "60"])
            case .malformed: .json(#"{"id": 3, "name": "#)
            case .page: WebResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>Sorry</html>".utf8))
            case .lost: throw TransportError(.lost, request: request.label)
            case .other: .json(#"{"id": 8, "name": "another"}"#)
            }
        }
    }

    private func context(_ service: ScriptedService, isCached: Bool) throws -> NSManagedObjectContext {
        let described = WebService(base, style: .plain, resources: [WebResource("Album"), WebResource("Band")])
        guard isCached else { return try described.context(service) }
        let model = Music.model()
        var options = WebClient.Options()
        options.retries = .never
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addCachedStore(
            WebBackend(described, model: model, transport: service, options: options), at: nil,
            options: CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 3600)))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("that cannot be read hides none of the others, and costs one request", arguments: Answer.allCases, [false, true])
    func one(_ answer: Answer, isCached: Bool) async throws {
        let service = ScriptedService { request in
            if request.path == "/albums" {
                return .json("[" + (1...6).map { #"{"id": \#($0), "title": "\#($0)", "band": \#($0)}"# }.joined(separator: ",") + "]")
            }
            if request.path == "/bands/3" { return try answer.response(request) }
            return .json(#"{"id": \#(request.path.dropFirst(7)), "name": "band \#(request.path.dropFirst(7))"}"#)
        }
        let context = try context(service, isCached: isCached)
        try await context.perform {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            let bands = albums.compactMap { $0.value(forKey: "band") as? NSManagedObject }
            expect(bands.map { $0.text("name") }, equals: ["band 1", "band 2", nil, "band 4", "band 5", "band 6"])
            expect(service.targets.count { $0.hasPrefix("GET /bands/") }, equals: 6, "\(service.targets)")
            expect(bands.map { $0.faultError == nil }, equals: [true, true, false, true, true, true])
            // It is told where it can be, once, and not asked for again.
            #expect(throws: (any Error).self) { try bands[2].fulfillFault() }
            try expect(context.count(for: fetch("Album")), equals: 6)
            #expect(throws: (any Error).self) { try context.save() }
            try context.save()
            expect(service.targets.count { $0 == "GET /bands/3" }, equals: 1, "\(service.targets)")
        }
    }
}
