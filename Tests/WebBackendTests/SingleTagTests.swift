import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service with one thing, whose tag a read of it alone tells, and no list does.
private final class TaggedThing: Transport {
    private struct State {
        var n: Int64 = 1
        var revision = 1
        var changes = 0
    }
    private let state = Mutex(State())
    var n: Int64 { state.withLock { $0.n } }
    var changes: Int { state.withLock { $0.changes } }
    /// Does what another client does.
    func put(_ n: Int64) { state.withLock { ($0.n, $0.revision) = (n, $0.revision + 1) } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            func thing() -> WebResponse {
                WebResponse(
                    status: 200, headers: ["ETag": "\"\(state.revision)\""],
                    body: Array(#"{"id": 1, "n": \#(state.n), "title": "one"}"#.utf8))
            }
            if request.method == .get, request.path == "/things" { return .json(#"[{"id": 1, "n": \#(state.n), "title": "one"}]"#) }
            if request.method == .get { return thing() }
            guard request.headers["If-Match"] == "\"\(state.revision)\"" else { return .json("{}", status: 412) }
            state.changes += 1
            state.n = request.json?.object?["n"]?.integer ?? state.n
            state.revision += 1
            return thing()
        }
    }
}

@Suite("Tags that only reads of one resource tell") struct SingleTagTests {
    private static func program(_ service: TaggedThing) throws -> NSPersistentStoreCoordinator {
        var style = ServiceStyle.plain
        style.version = .eTag
        style.saving = SavingStyle(precondition: .ifMatch)
        var options = WebClient.Options()
        options.retries = .never
        let backend = try WebBackend(
            WebService(base, style: style, resources: [WebResource("Thing")]), model: Thing.model(), transport: service, options: options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Thing.model())
        try coordinator.addRemoteStore(backend)
        return coordinator
    }

    private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("A conflict is reported at each save, until the object is refreshed")
    func conflictStays() throws {
        let service = TaggedThing()
        let context = Self.context(try Self.program(service))
        try context.performAndWait {
            let thing = try #require(try context.fetch(fetch("Thing")).first)
            thing.setValue(11, forKey: "n")
            service.put(555)
            for _ in 0..<3 {
                let error = #expect(throws: NSError.self) { try context.save() }
                expect(error?.code, equals: NSManagedObjectMergeError)
            }
            expect(service.n, equals: 555)
            context.refresh(thing, mergeChanges: true)
            try context.save()
            expect(service.n, equals: 11)
            thing.setValue(12, forKey: "n")
            try context.save()
            expect(service.n, equals: 12)
        }
    }

    @Test("What another context has read alone since is no sign that the object is as it was", arguments: [false, true])
    func othersRead(isChanged: Bool) throws {
        let service = TaggedThing()
        let coordinator = try Self.program(service)
        let (first, second) = (Self.context(coordinator), Self.context(coordinator))
        let id = try first.performAndWait {
            let thing = try #require(try first.fetch(fetch("Thing")).first)
            thing.setValue(11, forKey: "n")
            return thing.objectID
        }
        if isChanged { service.put(555) }
        second.performAndWait { second.refresh(second.object(with: id), mergeChanges: true) }
        try first.performAndWait {
            if isChanged {
                let error = #expect(throws: NSError.self) { try first.save() }
                expect(error?.code, equals: NSManagedObjectMergeError)
            } else {
                try first.save()
            }
        }
        expect(service.n, equals: isChanged ? 555 : 11)
    }
}
