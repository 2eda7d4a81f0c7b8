import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("A cache over Kinto: the network and credentials", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoNetworkTests {
    @Test("A credential that Kinto takes no longer is read again, once, and only the refused request is sent again") func expired()
        async throws
    {
        let passwords = Passwords(["old", "secret"])
        let here = try CachedMusic(authentication: .basic(user: "tests", password: .closure { passwords.next() }))
        #expect(try await here.albums() == [])
        #expect(here.wire.requests.map(\.status) == [401, 200], "\(here.wire.targets)")
        try here.insert("Album", ["title": "One", "year": 1])
        try await here.store.sendPending()
        #expect(Array(here.wire.requests.map(\.status).dropFirst(2)) == [201], "\(here.wire.targets)")
        #expect(passwords.count == 2)
    }

    @Test("Without a credential that Kinto takes what is saved waits, and what is cached is shown") func refused() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString).sqlite")
        defer { for suffix in ["", "-wal", "-shm", "-sender"] { try? FileManager.default.removeItem(atPath: file.path + suffix) } }
        let first = try CachedMusic(file: file)
        try first.insert("Album", ["title": "One", "year": 1])
        try await first.store.sendPending()
        #expect(try await first.albums() == ["One 1"])
        try first.coordinator.remove(first.store)
        let second = try CachedMusic(
            at: first.address, file: file, .cacheFirst(maximumAge: 0), authentication: .basic(user: "tests", password: .value("wrong")))
        #expect(try await second.albums() == ["One 1"])
        try second.insert("Album", ["title": "Two", "year": 2])
        try await second.store.sendPending()
        #expect(try await second.albums() == ["One 1", "Two 2"])
        #expect(try second.stored() == ["One 1"])
        let waiting = try #require(try second.store.pendingChanges().first)
        #expect(waiting.state == .pending || waiting.state == .failed, "\(waiting)")
        try second.store.retry(waiting.objectID)
        try second.coordinator.remove(second.store)
        let third = try CachedMusic(at: first.address, file: file)
        try await third.store.sendPending()
        #expect(try third.stored() == ["One 1", "Two 2"])
    }

    @Test("Secrets are in no file of the cache, no error, no URI and no pending change") func secrets() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = "user\(UUID().uuidString.prefix(8).lowercased())"
        let password = "pass-\(UUID().uuidString)"
        try Kinto.send(.put, "\(PythonServer.kinto.get().address)/v1/accounts/\(user)", #"{"data": {"password": "\#(password)"}}"#, .none)
        let said = Texts()
        let here = try CachedMusic(
            at: "\(PythonServer.kinto.get().address)/v1/buckets/default/collections", file: folder.appendingPathComponent("cache.sqlite"),
            authentication: .basic(user: user, password: .value(password))
        ) { $0.didFail = { said.add("\($0) \($0.localizedDescription)") } }
        let id = try here.insert("Album", ["title": "One", "year": 1])
        try await here.store.sendPending()
        #expect(try await here.albums() == ["One 1"])
        // A server that shows what it was sent.
        here.wire.set { request, _ in
            WebResponse(status: 400, body: Array("{\"message\": \"\(request.headers["Authorization"] ?? "") \(password)\"}".utf8))
        }
        do { _ = try await here.albums() } catch { said.add("\(error) \(error.localizedDescription)") }
        try here.update(id, ["year": 2])
        try await here.store.sendPending()
        for change in try here.store.pendingChanges() { said.add("\(change) \(change.error.map { "\($0)" } ?? "")") }
        said.add(id.uriRepresentation().absoluteString)
        #expect(said.all.count >= 3)
        let secrets = [password, Data("\(user):\(password)".utf8).base64EncodedString()]
        for secret in secrets { for text in said.all { #expect(!text.contains(secret), "\(text)") } }
        try here.coordinator.remove(here.store)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: file)
            for secret in secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)") }
        }
    }

    @Test("Two users have two caches, and each sees what is its own") func users() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try PythonServer.kinto.get().address
        func music(_ user: String) throws -> CachedMusic {
            try CachedMusic(
                at: "\(server)/v1/buckets/default/collections", file: folder.appendingPathComponent("cache.sqlite"),
                .cacheFirst(maximumAge: 600), authentication: .basic(user: user, password: .value("secret"))
            ) { $0.user = user }
        }
        let names = ["ada", "bob"].map { "\($0)\(UUID().uuidString.prefix(8).lowercased())" }
        for name in names { try Kinto.send(.put, "\(server)/v1/accounts/\(name)", #"{"data": {"password": "secret"}}"#, .none) }
        for name in names {
            let user = try music(name)
            try user.insert("Album", ["title": name, "year": 1])
            try await user.store.sendPending()
            try user.coordinator.remove(user.store)
        }
        for name in names {
            let user = try music(name)
            #expect(try await user.albums() == ["\(name) 1"])
            user.wire.cut()
            #expect(try await user.albums() == ["\(name) 1"])
        }
    }

    @Test("A server that is busy is asked again when it has said, and a change is made once; a read gives up with the last cause")
    func busy() async throws {
        var retries = RetryPolicy()
        retries.maximumTries = 3
        retries.firstDelay = 0.001
        let here = try CachedMusic(retries: retries)
        try here.insert("Album", ["title": "One", "year": 1])
        let tries = Texts()
        here.wire.set { request, pass in
            tries.add(request.label)
            if tries.all.count < 3 { return WebResponse(status: 429, headers: ["Retry-After": "0"]) }
            return try await pass(request)
        }
        try await here.store.sendPending()
        #expect(try here.store.pendingCount() == 0)
        #expect(tries.all.count == 3)
        #expect(try here.stored() == ["One 1"])
        here.wire.set { _, _ in WebResponse(status: 503, headers: ["Retry-After": "0"], body: Array(#"{"message": "at lunch"}"#.utf8)) }
        here.wire.clear()
        let error = await #expect(throws: (any Error).self) { try await here.albums() }
        #expect(here.wire.requests.count == 3, "\(here.wire.targets)")
        let text = (error as NSError?)?.localizedDescription ?? ""
        #expect(text.contains("503") && text.contains("at lunch"), "\(text)")
        // The cache answers where it may.
        #expect(try await here.albums(nil, .cacheFirst(maximumAge: 0)) == ["One 1"])
    }

    @Test("A change that the server is too busy for waits in the queue, and is made once", arguments: [503, 500])
    func waiting(status: Int) async throws {
        let here = try CachedMusic()
        let id = try here.insert("Album", ["title": "One", "year": 1])
        here.wire.set { request, pass in
            // What fails with 500 may have been done.
            if status == 500 { _ = try await pass(request) }
            return WebResponse(status: status, headers: ["Retry-After": "0"])
        }
        try await here.store.sendPending()
        #expect(try here.store.syncState(of: id) == .pending)
        here.wire.set(nil)
        try await here.store.sendPending()
        #expect(try here.store.pendingCount() == 0)
        #expect(try here.stored() == ["One 1"])
    }

    @Test("A fetch that is cancelled cancels its request") func cancelled() async throws {
        let here = try CachedMusic()
        let ended = Texts()
        here.wire.set { request, _ in
            do { try await Task.sleep(for: .seconds(600)) } catch {
                ended.add("cancelled")
                throw error
            }
            throw TransportError(.timedOut, request: request.label)
        }
        let task = Task { try await here.albums() }
        while here.wire.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        while ended.all.isEmpty { await Task.yield() }
        here.wire.set(nil)
        #expect(try await here.albums() == [])
    }

    @Test(
        "An answer that is damaged, cut, endless or late is an error that names the request, and takes nothing from what is cached",
        arguments: ["garbage", "half", "empty", "large", "late"])
    func damaged(_ kind: String) async throws {
        let here = try CachedMusic()
        for number in 0..<20 { try here.insert("Album", ["title": "\(number)", "year": number]) }
        try await here.store.sendPending()
        let before = try await here.albums()
        here.wire.set { request, pass in
            var plain = request
            plain.headers["If-None-Match"] = nil
            var response = try await pass(plain)
            switch kind {
            case "garbage": response.body = Array("<html>\u{0}".utf8)
            case "half": response.body = Array(response.body.prefix(response.body.count / 2))
            case "empty": response.body = []
            case "large": throw TransportError(.tooLarge, request: request.label)
            default: throw TransportError(.timedOut, request: request.label)
            }
            return response
        }
        let error = await #expect(throws: (any Error).self) { try await here.albums() }
        #expect((error as NSError?)?.localizedDescription.contains("album") == true || "\(error!)".contains("Album"), "\(error!)")
        if kind == "large" {
            // The service was reached, and another attempt does not help.
            await #expect(throws: (any Error).self) { try await here.albums(nil, .cacheFirst(maximumAge: 0)) }
        } else {
            #expect(try await here.albums(nil, .cacheFirst(maximumAge: 0)) == before)
        }
        here.wire.set(nil)
        #expect(try await here.albums() == before)
    }
}

/// Texts that are added on any thread.
// Unchecked: `lock` guards them.
private final class Texts: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}

/// Passwords, one after the other; the last one again and again.
// Unchecked: `lock` guards everything.
private final class Passwords: @unchecked Sendable {
    private let lock = NSLock()
    private let passwords: [String]
    private var asked = 0

    init(_ passwords: [String]) { self.passwords = passwords }
    var count: Int { lock.withLock { asked } }
    func next() -> String {
        lock.withLock {
            asked += 1
            return passwords[min(asked, passwords.count) - 1]
        }
    }
}
