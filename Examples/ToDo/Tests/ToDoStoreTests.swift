import CoreData
import ExampleSupport
import Foundation
import RemoteStore
import SampleService
import TestSupport
import Testing
import ToDoModel
import WebTransport

@Suite("The to-do client") struct ToDoStoreTests {
    /// A server, the network before it, and a place for files.
    private struct World {
        let server: SampleService
        let network: SampleService
        let folder: ScratchFolder

        init() async throws {
            server = try await SampleService.start()
            network = try await SampleService.start(upstream: server.baseURL)
            folder = try ScratchFolder("todo")
        }

        /// A program that keeps its lists in the folder; without a file, another computer, whose network is never cut.
        func client(_ user: String = "me", hasFile: Bool = true, over transport: any Transport = networkTransport()) throws -> ToDoStore {
            try ToDoStore(
                server: (hasFile ? network : server).baseURL.absoluteString + "/v1", user: user, password: .value("top-secret-word"),
                cache: hasFile ? folder.file("todo.sqlite") : nil, transport: transport)
        }

        func end() async {
            await network.stop()
            await server.stop()
            folder.remove()
        }
    }

    @Test("What is done without the server is shown, is there in the next run, and reaches the server when it is back") func offline()
        async throws
    {
        let world = try await World()
        let first = try world.client()
        try await first.add("Buy milk", to: "Shop")
        try await first.add("Old", to: "Attic")
        #expect(try await first.sync() == 0)

        await world.network.stop()
        try await first.add("Sweep", to: "Home")
        #expect(try await first.finish("Buy milk") == 1)
        #expect(try await first.remove("Attic"))
        #expect(try await first.open() == ["Sweep (Home) – waits for the server"])
        await #expect(throws: (any Error).self) { try await first.sync() }
        #expect(
            try await first.waiting().sorted() == [
                "delete Item a deleted one – waits for the server", "delete List a deleted one – waits for the server",
                "insert Item “Sweep” – waits for the server", "insert List “Home” – waits for the server",
                "update Item “Buy milk” (isDone) – waits for the server",
            ])

        try first.close()
        let second = try world.client()
        #expect(try await second.open() == ["Sweep (Home) – waits for the server"])
        try await world.network.restart()
        #expect(try await second.sync() == 0)
        #expect(try await second.open() == ["Sweep (Home)"])
        #expect(try await second.waiting() == [])
        let other = try world.client(hasFile: false)
        try await other.sync()
        #expect(try await other.open() == ["Sweep (Home)"])
        await world.end()
    }

    @Test("What two have changed of one item is merged, and of one title the one that is sent last counts") func merged() async throws {
        let world = try await World()
        let (here, there) = (try world.client(), try world.client(hasFile: false))
        for title in ["Milk", "Plants"] { try await here.add(title, to: "List") }
        try await here.sync()
        try await there.sync()

        _ = try await here.finish("Milk")
        _ = try await here.rename("Plants", to: "All plants")
        _ = try await there.rename("Milk", to: "Oat milk")
        _ = try await there.rename("Plants", to: "The cactus")
        try await there.sync()
        #expect(try await here.sync() == 0)
        try await there.sync()
        for client in [here, there] { #expect(try await client.open() == ["All plants (List)"]) }
        await world.end()
    }

    @Test("An item whose answer was lost is saved once") func lostAnswer() async throws {
        let world = try await World()
        var rates = FaultInjectingTransport.Rates()
        let transport = FaultInjectingTransport(networkTransport(), seed: 1, rates: rates)
        let client = try world.client(over: transport)
        try await client.add("First", to: "List")
        try await client.sync()
        rates.dropAfter = 1
        transport.rates = rates
        try await client.add("Second", to: "List")
        await #expect(throws: (any Error).self) { try await client.sync() }
        #expect(try client.store.pendingCount() == 1)
        transport.rates = .init()
        #expect(try await client.sync() == 0)
        let other = try world.client(hasFile: false)
        try await other.sync()
        #expect(try await other.open() == ["First (List)", "Second (List)"])
        await world.end()
    }

    @Test("Each user has a file of its own, and the password is in none") func users() async throws {
        let world = try await World()
        let (ada, bob) = (try world.client("ada"), try world.client("bob"))
        try await ada.add("Ada's", to: "List")
        try await ada.sync()
        try await bob.sync()
        #expect(try await ada.open() == ["Ada's (List)"])
        #expect(try await bob.open() == [])
        let files = try FileManager.default.contentsOfDirectory(at: world.folder.url, includingPropertiesForKeys: nil)
        #expect(Set(files.map { $0.lastPathComponent.prefix(8) }).isSuperset(of: ["todo-ada", "todo-bob"]))
        for file in files {
            let bytes = try Data(contentsOf: file)
            for secret in ["top-secret-word", Data("ada:top-secret-word".utf8).base64EncodedString()] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
            }
        }
        await world.end()
    }
}

extension ToDoStore {
    /// Ends the use of the file, as the end of a program does.
    fileprivate func close() throws { try context.persistentStoreCoordinator?.remove(store) }
}
