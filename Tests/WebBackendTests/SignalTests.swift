import CoreData
import Foundation
import JSONReading
import RemoteStore
import RemoteStoreTesting
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A cache that follows the events of a service.
@Suite("Events of a service bring what has changed") struct SignalTests {
    /// A service of albums that tells what has changed since a version, and sends events.
    private final class LiveService: StreamingTransport {
        private struct State {
            var titles: [Int: (title: String, version: Int)] = [:]
            var version = 0
            var asked: [String] = []
            var connections: [AsyncThrowingStream<[UInt8], any Error>.Continuation] = []
        }
        private let state = Mutex(State())
        private let begun = AsyncStream.makeStream(of: Int.self)

        /// The paths that were asked for.
        var asked: [String] { state.withLock { $0.asked } }

        func change(_ id: Int, _ title: String) {
            state.withLock { state in
                state.version += 1
                state.titles[id] = (title, state.version)
            }
        }

        func untilConnected(_ number: Int) async { for await count in begun.stream where count >= number { return } }

        func tell(_ text: String) { _ = state.withLock { $0.connections.last }?.yield(Array(text.utf8)) }
        func end() { state.withLock { $0.connections.last }?.finish() }

        func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse { answer(request) }

        func answer(_ request: WebRequest) -> WebResponse {
            state.withLock { state in
                state.asked.append(request.target)
                let since = request.query("since").flatMap(Int.init) ?? -1
                let albums = state.titles.filter { $0.value.version > since }.sorted { $0.key < $1.key }
                let items = albums.map { JSONValue.object(["id": .integer(Int64($0.key)), "title": .string($0.value.title)]) }
                return .json(JSONValue.array(items).description, headers: ["ETag": "\(state.version)"])
            }
        }

        func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
            let (pieces, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self, throwing: (any Error).self)
            let count = state.withLock { state in
                state.asked.append(request.target)
                state.connections.append(continuation)
                return state.connections.count
            }
            begun.continuation.yield(count)
            return WebStream(status: 200, headers: ["Content-Type": "text/event-stream"], pieces: pieces)
        }
    }

    private static let model: NSManagedObjectModel = {
        let album = NSEntityDescription(name: "Album")
        album.properties = [NSAttributeDescription(name: "title", type: .string)]
        return NSManagedObjectModel(entities: [album])
    }()

    private static func service(_ signals: ChangeSignalStyle?) -> WebService {
        var style = ServiceStyle.plain
        style.changeFeed = .since(parameter: "since", token: .header("ETag"), deleted: "deleted")
        style.changeSignals = signals
        return WebService(base, style: style, resources: [WebResource("Album")])
    }

    private struct Program {
        let store: CachedStore
        let context: NSManagedObjectContext
        let clock = ManualClock()
        let errors = Mutexed<[String]>([])

        init(_ transport: some Transport, _ signals: ChangeSignalStyle?) throws {
            var options = CachedStoreOptions(defaultPolicy: .immutable, clock: clock)
            options.didFail = { [errors] error in errors.withValue { $0.append("\(error)") } }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SignalTests.model)
            store = try coordinator.addCachedStore(
                WebBackend(SignalTests.service(signals), model: SignalTests.model, transport: transport), at: nil, options: options)
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.automaticallyMergesChangesFromParent = true
        }

        func titles() async throws -> [String] {
            let found = try await context.fetchAsynchronously(fetch("Album"))
            return await context.perform { found.compactMap { $0.text("title") }.sorted() }
        }

        func untilShown(_ titles: [String]) async throws { while try await self.titles() != titles { await Task.yield() } }
    }

    @Test(
        "An event brings what has changed at once; nothing is asked between events, and other events are none of it",
        .timeLimit(.minutes(30)))
    func events() async throws {
        let service = LiveService()
        service.change(1, "Help!")
        let program = try Program(service, .serverSentEvents(path: "live?kind=albums", names: ["changed"]))
        #expect(try await program.titles() == ["Help!"])
        program.store.followChanges(every: .seconds(3600))
        await service.untilConnected(1)
        service.change(1, "Help")
        service.tell("event: changed\ndata: {}\n\n")
        try await program.untilShown(["Help"])
        let before = service.asked.count
        service.tell(": still here\n\nevent: other\ndata: {}\n\n")
        service.change(2, "Revolver")
        service.tell("event: changed\ndata:")
        service.tell(" {}\n\n")
        try await program.untilShown(["Help", "Revolver"])
        #expect(service.asked.contains("GET /live?kind=albums"))
        // The fetches of the test are answered by the cache.
        #expect(service.asked.count <= before + 3, "\(service.asked)")
        expect(program.errors.withValue { $0 }, equals: [])
        try program.context.persistentStoreCoordinator?.remove(program.store)
    }

    @Test("What has changed while there was no connection comes with the next one", .timeLimit(.minutes(30)))
    func reconnecting() async throws {
        let service = LiveService()
        service.change(1, "Help!")
        let program = try Program(service, .serverSentEvents(path: "live"))
        #expect(try await program.titles() == ["Help!"])
        program.store.followChanges(every: .seconds(60))
        await service.untilConnected(1)
        service.end()
        await program.clock.untilSleeping()
        service.change(1, "Help")
        program.clock.advance(by: .seconds(60))
        try await program.untilShown(["Help"])
        try program.context.persistentStoreCoordinator?.remove(program.store)
    }

    @Test("A service without signals is asked from time to time, and one whose signals cannot be had as well, which is told")
    func polling() async throws {
        for signals in [nil, ChangeSignalStyle.serverSentEvents(path: "live")] {
            let live = LiveService()
            live.change(1, "Help!")
            // A transport that does not hand over pieces.
            let program = try Program(ScriptedService { live.answer($0) }, signals)
            #expect(try await program.titles() == ["Help!"])
            program.store.followChanges(every: .seconds(60))
            await program.clock.untilSleeping()
            live.change(1, "Help")
            program.clock.advance(by: .seconds(60))
            try await program.untilShown(["Help"])
            expect(program.errors.withValue { $0.isEmpty }, equals: (signals == nil))
            try program.context.persistentStoreCoordinator?.remove(program.store)
        }
    }

    @Test("Signals without a feed, and addresses elsewhere, are refused when the description is read")
    func checked() {
        var style = ServiceStyle.plain
        style.changeSignals = .serverSentEvents(path: "live")
        let alone = WebService(base, style: style, resources: [WebResource("Album")])
        for service in [alone, Self.service(.serverSentEvents(path: "https://user:secret@elsewhere.example.com/live"))] {
            do {
                _ = try WebBackend(service, model: Self.model, transport: LiveService())
                Issue.record("The description was taken")
            } catch {
                #expect((error as NSError).code == 134080 && "\(error)".contains("changeSignals") && !"\(error)".contains("secret"))
            }
        }
    }
}
