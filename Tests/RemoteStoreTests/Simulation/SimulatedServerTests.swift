import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("The simulated server") struct SimulatedServerTests {
    private let clock = ManualClock()
    private let model = Shop.model()

    // Rows are decoded by models that are in use.
    init() { _ = NSPersistentStoreCoordinator(managedObjectModel: model) }

    private func server(_ saving: Resource.Saving = .init(maximumChanges: 10, isIdempotent: true), seed: UInt64 = 0) -> SimulatedServer {
        SimulatedServer(model, [Resource("Album", endpoints: [Endpoint("all")], saving: saving)], clock: clock, seed: seed)
    }

    private func titles(_ connection: SimulatedConnection) async throws -> Int {
        try await connection.answer(BackendRequest(entity: "Album", endpoint: "all", of: connection, model: model)).count
    }

    private func outcome(_ outcomes: [BackendChange.Key: BackendOutcome], _ key: Int = 0) -> String {
        switch outcomes[BackendChange.Key(key)] {
        case .saved?: "saved"
        case .conflict?: "conflict"
        case .refused?: "refused"
        case .unknown?: "unknown"
        case nil: "missing"
        }
    }

    @Test("A replica answers with what there was before its lag, and catches up")
    func replica() async throws {
        let server = server()
        server.options.replicaLag = .seconds(5)
        server.options.staleReads = 1
        let connection = server.connection("A")
        server.put("Album", 1, ["title": "Help!"])
        #expect(try await titles(connection) == 0)
        clock.advance(by: .seconds(3))
        server.put("Album", 2, ["title": "Debut"])
        #expect(try await titles(connection) == 0)
        clock.advance(by: .seconds(3))
        #expect(try await titles(connection) == 1)
        clock.advance(by: .seconds(3))
        #expect(try await titles(connection) == 2)
    }

    @Test("The identifier of a deleted resource is given to a new one, with a higher version", arguments: [true, false])
    func reuse(reuses: Bool) async throws {
        let server = server()
        server.options.reusesIdentifiers = reuses
        let connection = server.connection("A")
        server.put("Album", 1, ["title": "Help!"])
        server.remove("Album", 1)
        _ = try await connection.save([BackendChange(.insert, "Album", ["title": "Debut"])])
        expect((server.values("Album", 1) != nil), equals: reuses)
        expect(server.ids("Album").count, equals: 1)
    }

    @Test("A request that comes twice is applied once with idempotency keys, and twice without", arguments: [true, false])
    func doubled(isIdempotent: Bool) async throws {
        let server = server(.init(isIdempotent: isIdempotent))
        server.network.script { $0.isAnswer ? .delivered : .doubled }
        _ = try await server.connection("A").save([BackendChange(.insert, "Album", ["title": "Debut"])])
        expect(server.ids("Album").count, equals: (isIdempotent ? 1 : 2))
        expect(server.applied.count, equals: (isIdempotent ? 1 : 2))
    }

    @Test(
        "A lost request changes nothing, a lost answer hides what was done, and both are unknown to the client", arguments: [true, false])
    func lost(isAnswer: Bool) async throws {
        let server = server()
        let connection = server.connection("A")
        server.network.script { $0.isAnswer == isAnswer ? .lost : .delivered }
        await #expect(throws: UnknownOutcome.self) { try await connection.save([BackendChange(.insert, "Album", ["title": "Debut"])]) }
        expect(server.ids("Album").count, equals: (isAnswer ? 1 : 0))
        let error = await #expect(throws: NSError.self) { try await titles(connection) }
        expect(error?.code, equals: NSURLErrorNetworkConnectionLost)
    }

    @Test("A client that is cut off learns that nothing was sent; the others go on")
    func partition() async throws {
        let server = server()
        server.network.setConnected(false, "A")
        let error = await #expect(throws: NSError.self) {
            try await server.connection("A").save([BackendChange(.insert, "Album", ["title": "Debut"])])
        }
        #expect(error?.code == NSURLErrorNotConnectedToInternet && server.applied.isEmpty)
        _ = try await server.connection("B").save([BackendChange(.insert, "Album", ["title": "Debut"])])
        server.network.setConnected(true, "A")
        #expect(try await titles(server.connection("A")) == 1)
    }

    @Test("Messages that are held arrive in the order that a test chooses, and those of a client that has died do not come back")
    func held() async throws {
        let server = server()
        server.network.script { _ in .held }
        let (first, second) = (server.connection("A"), server.connection("B"))
        let slow = Task { try await first.save([BackendChange(.insert, "Album", id: 1, ["title": "A"])]) }
        let fast = Task { try await second.save([BackendChange(.insert, "Album", id: 1, ["title": "B"])]) }
        await server.network.untilHeld(2)
        let messages = server.network.messages
        expect(messages.map(\.client), equals: ["A", "B"])
        server.network.settle(messages[1], .delivered)
        while server.values("Album", 1) == nil { await Task.yield() }
        server.network.settle(messages[0], .delivered)
        await server.network.untilHeld(2)
        server.network.crash("B")
        await #expect(throws: UnknownOutcome.self) { try await fast.value }
        server.network.deliverAll()
        #expect(outcome(try await slow.value) == "refused")
        expect(server.values("Album", 1)?["title"], equals: "B")
        expect(server.applied.map(\.client), equals: ["B"])
    }

    @Test("Refused changes, conflicts and outcomes that are missing are told for each change of a call")
    func outcomes() async throws {
        let server = server()
        server.put("Album", 1, ["title": "Help!"])
        server.options.refusal = { $0.values["title"] == "no" ? ServiceFailure() : nil }
        let answers = try await server.connection("A").save([
            BackendChange(.insert, "Album", ["title": "no"], key: .init(0)),
            BackendChange(.update, "Album", id: 1, ["title": "?"], version: .number(99), key: .init(1)),
            BackendChange(.update, "Album", id: 1, ["title": "!"], version: .number(server.revision), key: .init(2)),
        ])
        expect((0...2).map { outcome(answers, $0) }, equals: ["refused", "conflict", "saved"])
        server.options.missingOutcomes = 1
        let changes = (0..<10).map { BackendChange(.insert, "Album", ["title": "many"], key: .init($0)) }
        let missing = try await server.connection("A").save(changes)
        #expect(missing.count < 10 && server.ids("Album").count == 11)
        // Sent again, each has its outcome, and none is made twice.
        server.options.missingOutcomes = 0
        #expect(try await server.connection("A").save(changes).count == 10)
        expect(server.ids("Album").count, equals: 11)
    }

    @Test("The feed tells of changes and deletions in pages, and expires; a capped answer does not say that it is one")
    func feed() async throws {
        let server = server()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addRemoteStore(server.connection("A"))
        server.options.changesPerAnswer = 1
        try await coordinator.mergeRemoteChanges(of: store)
        server.put("Album", 1, ["title": "Help!"])
        server.put("Album", 2, ["title": "Debut"])
        server.remove("Album", 1)
        let changes = try await coordinator.mergeRemoteChanges(of: store)
        #expect(!changes.isWhole)
        server.expireChangeTokens()
        #expect(try await coordinator.mergeRemoteChanges(of: store).isWhole)
        for id in 3...6 { server.put("Album", id, ["title": "Many"]) }
        server.options.cappedAnswers = 1
        #expect(try await titles(server.connection("A")) == 2)
    }
}
