import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

// What the behaviours of remote stores ask of a cached store, over Kinto. Each has its test here or beside: writes and conflicts in
// KintoOutboxTests.swift, the network and credentials in KintoNetworkTests.swift, kills in KintoKillTests.swift. Over scripted backends they stand in
// Tests/RemoteStoreTests (Cache, Outbox, Results), and over a service with a fault-injecting transport in Tests/WebBackendTests/CachedServiceTests.swift.
@Suite("A cache over Kinto: reading", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoCacheTests {
    @Test("What others insert, change and delete comes with the feed of changes, tombstones too, also in the next run")
    func feed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cache.sqlite")
        let there = try CachedMusic()
        for (title, year) in [("One", 1), ("Two", 2), ("Three", 3)] { try there.insert("Album", ["title": title, "year": year]) }
        try await there.store.sendPending()

        let first = try CachedMusic(at: there.address, file: file, .immutable)
        #expect(try await first.albums() == ["One 1", "Three 3", "Two 2"])
        #expect(try await first.coordinator.mergeRemoteChanges(of: first.store).isWhole)
        try first.coordinator.remove(first.store)
        try there.update(await there.album("One"), ["year": 10])
        try there.delete(await there.album("Two"))
        try there.insert("Album", ["title": "Four", "year": 4])
        try await there.store.sendPending()

        let second = try CachedMusic(at: there.address, file: file, .immutable)
        await second.context.perform { second.context.retainsRegisteredObjects = true }
        #expect(try await second.albums().count == 3)
        let changes = try await second.coordinator.mergeRemoteChanges(of: second.store, into: [second.context])
        #expect(!changes.isWhole)
        let counts: [Int] = [changes.insertedObjectIDs.count, changes.updatedObjectIDs.count, changes.deletedObjectIDs.count]
        #expect(counts == [1, 1, 1])
        second.wire.clear()
        #expect(try await second.albums() == ["Four 4", "One 10", "Three 3"])
        #expect(try await second.albums("year > 3") == ["Four 4", "One 10"])
        #expect(second.wire.requests.isEmpty)
    }

    @Test("What is gone when a whole list is read again is deleted, in contexts too; what is new and changed is shown")
    func wholeList() async throws {
        let here = try CachedMusic()
        let other = try here.other()
        for title in ["One", "Two"] { try other.insert("Album", ["title": title, "year": 1]) }
        try await other.store.sendPending()
        #expect(try await here.albums() == ["One 1", "Two 1"])
        let gone = try await here.album("One")
        try other.delete(await other.album("One"))
        try other.update(await other.album("Two"), ["year": 2])
        try other.insert("Album", ["title": "Three", "year": 3])
        try await other.store.sendPending()
        #expect(try await here.albums() == ["Three 3", "Two 2"])
        here.context.performAndWait { #expect((try? here.context.existingObject(with: gone)) == nil) }
    }

    @Test("What has not changed is not sent again: Kinto answers 304, and nothing is written") func notModified() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func bytes() throws -> [String: Data] {
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return try Dictionary(
                uniqueKeysWithValues: files.filter { !$0.path.hasSuffix("-shm") }.map { ($0.lastPathComponent, try Data(contentsOf: $0)) })
        }
        let here = try CachedMusic(file: folder.appendingPathComponent("cache.sqlite"))
        for number in 0..<3 { try here.insert("Album", ["title": "\(number)", "year": number]) }
        try await here.store.sendPending()
        #expect(try await here.albums().count == 3)
        let before = try bytes()
        #expect(before["cache.sqlite"] != nil)
        here.wire.clear()
        for _ in 0..<3 { #expect(try await here.albums().count == 3) }
        #expect(here.wire.requests.map(\.status) == [304, 304, 304], "\(here.wire.targets)")
        #expect(try bytes() == before)
    }

    @Test("A list of several pages is whole, though records move while it is read; it comes once from the cache then")
    func pages() async throws {
        let here = try CachedMusic()
        let other = try here.other()
        try await other.context.perform {
            for number in 0..<230 {
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: other.context)
                album.setValue("\(number)", forKey: "title")
                album.setValue(0, forKey: "year")
            }
            try other.context.save()
        }
        try await other.store.sendPending()
        let moved = try await other.album("7")
        // Between the pages one record is changed, which makes it the newest, and one is new.
        here.wire.set { request, pass in
            if request.url.contains("_token") {
                try other.update(moved, ["year": 1])
                try other.insert("Label", ["name": "new"])
                try await other.store.sendPending()
            }
            return try await pass(request)
        }
        let found = try await here.albums()
        #expect(found.count == 230 && Set(found.map { $0.split(separator: " ")[0] }).count == 230)
        #expect(here.wire.requests.filter { $0.request.label.hasPrefix("Album") }.count == 3, "\(here.wire.targets)")
        here.wire.clear()
        #expect(try await here.albums("title BEGINSWITH '22'", .cacheFirst(maximumAge: 600)).count == 11)
        #expect(here.wire.requests.isEmpty)
    }

    @Test("A pull that loses the network goes on with its page") func interruptedPull() async throws {
        let here = try CachedMusic()
        let other = try here.other()
        try await other.context.perform {
            for number in 0..<230 {
                NSEntityDescription.insertNewObject(forEntityName: "Label", into: other.context).setValue("\(number)", forKey: "name")
            }
            try other.context.save()
        }
        try await other.store.sendPending()
        here.wire.set { request, pass in
            if request.url.contains("_token") { throw TransportError(.lost, request: request.label) }
            return try await pass(request)
        }
        let labels = NSFetchRequest<NSManagedObject>(entityName: "Label")
        await #expect(throws: (any Error).self) { try await here.store.pull(labels, in: here.context) }
        here.wire.set(nil)
        here.wire.clear()
        #expect(try await here.store.pull(labels, in: here.context) == 130)
        #expect(here.wire.requests.count == 2, "\(here.wire.targets)")
        let held = request("Label")
        held.cachePolicy = .cacheOnly
        #expect(try await here.context.fetchAsynchronously(held).count == 230)
    }

    @Test("Equal fetches at once are one request") func equalRequests() async throws {
        let here = try CachedMusic()
        try here.insert("Album", ["title": "One", "year": 1])
        try await here.store.sendPending()
        let gate = Gate()
        here.wire.clear()
        here.wire.set { request, pass in
            await gate.wait()
            return try await pass(request)
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = here.coordinator
                group.addTask {
                    let request = request("Album")
                    request.cachePolicy = .networkOnly
                    let objects = try await context.fetchAsynchronously(request)
                    return objects.count
                }
            }
            // All have begun by then, and the first has asked.
            while here.wire.requests.isEmpty { await Task.yield() }
            for _ in 0..<1000 { await Task.yield() }
            await gate.open()
            for try await count in group { #expect(count == 1) }
        }
        // Those that came after the answer ask again.
        #expect(here.wire.requests.count < 8, "\(here.wire.targets)")
    }
}

/// Something to wait for.
private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
