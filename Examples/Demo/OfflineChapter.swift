import ExampleSupport
import Foundation
import SampleService
import ToDoModel
import WebTransport

/// Shows the to-do client without its server: what it saves there waits, survives the end of the process, and is sent once the server is back.
///
/// The client is a process of its own, which is killed. Between it and the server is a network that can be cut.
struct OfflineChapter {
    let terminal: Terminal
    /// The address of a Kinto server; nil for a server in this process that speaks its protocol.
    var kinto: URL?

    func run() async throws -> Count {
        terminal.chapter("A to-do list without its server")
        terminal.text(
            """
            The client of Examples/ToDo is a process of its own. Its lists are on \(kinto.map { "the Kinto server at \($0)" } ?? "a server that speaks Kinto's protocol"),
            and in a file. Arrows are what passes the network between the two, as it passes.
            """)
        let server = kinto == nil ? try await SampleService.start() : nil
        let address = kinto ?? server!.baseURL
        let network = try await SampleService.start(upstream: address) { terminal.request($0, below: "/v1/buckets/default/collections") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = "demo-\(UUID().uuidString.prefix(8).lowercased())"
        try await makeAccount(user, at: address)
        func startClient() throws -> ToDoClient {
            try ToDoClient(server: network.baseURL, user: user, cache: folder.appendingPathComponent("todo.sqlite"))
        }

        var client = try startClient()
        try await ask(client, "sync", "add Buy milk @ Shop", "add Water the plants @ Home", "sync")

        terminal.code("the network is cut")
        await network.stop()
        try await ask(
            client, "add Sweep the stairs @ Home", "done Buy milk", "rename Water the plants @ Water all plants", "waiting", "sync")

        terminal.code("kill -9 \(client.identifier)")
        let status = await client.kill()
        terminal.note("The client is gone (signal \(status)). What it has saved is in the file.")
        client = try startClient()
        terminal.code("the client is started again")
        try await ask(client, "list")

        terminal.code("meanwhile, on another computer: add “Call Ada”, give “Buy milk” another title")
        let other = try ToDoStore(
            server: "\(address.absoluteString)/v1", user: user, password: .value(ToDoClient.password), cache: nil,
            transport: networkTransport())
        try await other.sync()
        try await other.add("Call Ada", to: "Home")
        _ = try await other.rename("Buy milk", to: "Buy oat milk")
        try await other.sync()

        terminal.code("the network is back")
        try await network.restart()
        let shown = try await ask(client, "sync", "list").last ?? []
        try await other.sync()
        let elsewhere = try await other.open()
        guard shown == elsewhere else {
            throw TransportError(.malformed, request: "todo list", detail: "\(shown) here, \(elsewhere) there")
        }
        terminal.note("The other computer shows the same. “Buy oat milk” is done: one has renamed it and the other has done it.")
        let requests = network.requestCount()
        _ = await client.kill()
        await network.stop()
        await server?.stop()
        return Count(store: "ToDoStore", objects: shown.count, faults: nil, requests: "\(requests)", cacheHits: "–")
    }

    /// Gives the client commands, and prints what it answers.
    @discardableResult
    private func ask(_ client: ToDoClient, _ commands: String...) async throws -> [[String]] {
        var answers: [[String]] = []
        for command in commands {
            terminal.code("todo \(command)")
            let answer = try await client.ask(command)
            for line in answer { if line.hasPrefix("✗ ") { terminal.error(String(line.dropFirst(2))) } else { terminal.row((line, 0)) } }
            if answer.isEmpty { terminal.note(command == "waiting" ? "Nothing waits." : "saved") }
            answers.append(answer)
        }
        return answers
    }

    private func makeAccount(_ user: String, at address: URL) async throws {
        let client = try WebClient(baseURL: address.absoluteString, transport: networkTransport())
        let response = try await client.send(
            WebRequest(
                .put, "\(address.absoluteString)/v1/accounts/\(user)", headers: ["Content-Type": "application/json"],
                body: Array(#"{"data": {"password": "\#(ToDoClient.password)"}}"#.utf8)))
        guard response.status < 300 else {
            throw TransportError(.malformed, request: "PUT /v1/accounts/\(user)", detail: "status \(response.status)")
        }
    }
}
