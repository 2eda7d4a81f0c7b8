import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("A cache over Kinto: writing", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoOutboxTests {
    @Test("What is saved without the network is shown, waits through another run, and arrives once, lists and references too")
    func offline() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinto-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("cache.sqlite")
        let first = try CachedMusic(file: file, .cacheOnly)
        try first.insert("Album", ["title": "Old", "year": 1])
        try first.insert("Album", ["title": "Gone", "year": 1])
        try await first.store.sendPending()
        first.wire.cut()
        try await first.context.perform {
            let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: first.context)
            band.setValue("Björk", forKey: "name")
            let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: first.context)
            label.setValue("One Little", forKey: "name")
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: first.context)
            album.setValuesForKeys(["title": "Debut", "year": 1993, "band": band, "labels": Set([label])])
            try first.context.save()
        }
        try first.update(await first.album("Old"), ["year": 2])
        try first.delete(await first.album("Gone"))
        try await first.store.sendPending()
        #expect(try first.stored() == ["Gone 1", "Old 1"])
        #expect(try await first.albums() == ["Debut 1993", "Old 2"])
        #expect(try !first.store.status().isOnline)
        try first.coordinator.remove(first.store)

        let second = try CachedMusic(at: first.address, file: file, .cacheOnly)
        #expect(try second.store.pendingCount() == 5)
        #expect(try await second.albums() == ["Debut 1993", "Old 2"])
        try await second.store.sendPending()
        #expect(try second.store.pendingChanges().isEmpty)
        #expect(try second.stored() == ["Debut 1993", "Old 2"])
        let other = try Music.kinto(at: second.address)
        try other.context.performAndWait {
            let album = try #require(try other.context.fetch(request("Album", "title == 'Debut'")).first)
            #expect((album.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String == "Björk")
            #expect((album.value(forKey: "labels") as? Set<NSManagedObject>)?.count == 1)
        }
    }

    @Test("An update sends only what was changed, with the version that it was made to") func onlyWhatChanged() async throws {
        let here = try CachedMusic()
        let id = try here.insert("Album", ["title": "One", "year": 1, "rating": 2.5])
        try await here.store.sendPending()
        here.wire.clear()
        try here.update(id, ["year": 2])
        try await here.store.sendPending()
        let sent = try #require(here.wire.requests.first?.request)
        #expect(here.wire.requests.count == 1 && sent.method == .patch && sent.headers["If-Match"] != nil)
        let body = try JSONSerialization.jsonObject(with: Data(sent.body ?? [])) as? [String: [String: Any]]
        #expect(body?["data"]?.keys.sorted() == ["year"])
        // What others have put into the record stays.
        let recordID = try #require(try Kinto.records("\(here.address)/albums/records").first?["id"] as? String)
        _ = try Kinto.send(.patch, "\(here.address)/albums/records/\(recordID)", #"{"data": {"note": {"of": "others"}}}"#)
        try here.update(id, ["title": "Two"])
        try await here.store.sendPending()
        let record = try #require(try Kinto.records("\(here.address)/albums/records").first)
        #expect((record["note"] as? [String: String]) == ["of": "others"] && record["title"] as? String == "Two")
    }

    @Test("A change whose answer is lost is made once, whatever it is", arguments: ["insert", "update", "delete"])
    func lostAnswer(_ kind: String) async throws {
        let here = try CachedMusic()
        let id = try here.insert("Album", ["title": "One", "year": 1])
        if kind != "insert" { try await here.store.sendPending() }
        if kind == "update" { try here.update(id, ["year": 2]) }
        if kind == "delete" { try here.delete(id) }
        here.wire.set { request, pass in
            _ = try await pass(request)
            throw TransportError(.lost, request: request.label)
        }
        try await here.store.sendPending()
        #expect(try here.store.pendingCount() == 1)
        here.wire.set(nil)
        if kind != "delete" {
            // It is edited while nobody knows what has become of it.
            try here.update(id, ["rating": 4.5])
        }
        for _ in 0..<3 { try await here.store.sendPending() }
        #expect(try here.store.pendingChanges().isEmpty)
        let expected = kind == "delete" ? [] : ["One \(kind == "update" ? 2 : 1)"]
        #expect(try here.stored() == expected)
        #expect(try await here.albums() == expected)
        if kind != "delete" { #expect(try Kinto.records("\(here.address)/albums/records").first?["rating"] as? Double == 4.5) }
    }

    @Test("Kinto's 412 is a conflict: what one side has changed is merged, what both have changed is settled by the rule")
    func conflicts() async throws {
        for (rule, expected) in [(ConflictResolution.preferMine, "Mine 5"), (.preferTheirs, "Theirs 5"), (.overwrite, "Mine 1")] {
            let here = try CachedMusic { $0.conflicts = rule }
            let id = try here.insert("Album", ["title": "One", "year": 1, "rating": 1.5])
            try await here.store.sendPending()
            let other = try here.other()
            try other.update(await other.album("One"), ["title": "Theirs", "year": 5])
            try await other.store.sendPending()
            try here.update(id, ["title": "Mine", "rating": 4.5])
            here.wire.clear()
            try await here.store.sendPending()
            #expect(here.wire.requests.contains { $0.status == 412 }, "\(here.wire.targets)")
            #expect(try here.store.pendingCount() == 0)
            #expect(try here.stored() == [expected], "\(rule)")
            #expect(try await here.albums(nil, .cacheOnly) == [expected])
        }
        let here = try CachedMusic()
        let id = try here.insert("Album", ["title": "One", "year": 1])
        try await here.store.sendPending()
        let other = try here.other()
        try other.update(await other.album("One"), ["title": "Theirs"])
        try await other.store.sendPending()
        try here.update(id, ["title": "Mine"])
        try await here.store.sendPending()
        #expect(try here.store.syncState(of: id) == .conflicting)
        #expect(try await here.albums(nil, .cacheOnly) == ["Mine 1"])
        try here.store.drop(id)
        #expect(try await here.albums(nil, .cacheOnly) == ["Theirs 1"])
    }

    @Test("Of a batch of which Kinto refuses some the others are saved, and the refused ones are kept with the reason")
    func partOfABatch() async throws {
        let here = try CachedMusic()
        var ids: [NSManagedObjectID] = []
        for number in 0..<10 { ids.append(try here.insert("Album", ["title": "\(number)", "year": 1])) }
        try await here.store.sendPending()
        let other = try here.other()
        for number in [2, 5, 7] { try other.update(await other.album("\(number)"), ["year": 9]) }
        try await other.store.sendPending()
        for id in ids { try here.update(id, ["year": 3]) }
        here.wire.clear()
        try await here.store.sendPending()
        #expect(here.wire.requests.filter { $0.request.method == .post }.count == 1, "\(here.wire.targets)")
        #expect(try here.store.pendingChanges().map(\.state) == [.conflicting, .conflicting, .conflicting])
        #expect(try here.stored() == (0..<10).map { "\($0) \([2, 5, 7].contains($0) ? 9 : 3)" })
        for id in [ids[2], ids[5]] { try here.store.retry(id) }
        try here.store.drop(ids[7])
        try await here.store.sendPending()
        #expect(try here.store.pendingCount() == 0)
        #expect(try here.stored() == (0..<10).map { "\($0) \($0 == 7 ? 9 : 3)" })
    }

    @Test("What others have deleted, and is changed here, follows the rule", arguments: [true, false])
    func deleted(isMine: Bool) async throws {
        let here = try CachedMusic { $0.conflicts = isMine ? .preferMine : .preferTheirs }
        let id = try here.insert("Album", ["title": "One", "year": 1])
        try await here.store.sendPending()
        let other = try here.other()
        try other.delete(await other.album("One"))
        try await other.store.sendPending()
        try here.update(id, ["year": 2])
        for _ in 0..<2 { try await here.store.sendPending() }
        #expect(try here.store.pendingCount() == 0)
        #expect(try here.stored() == (isMine ? ["One 2"] : []))
        #expect(try await here.albums() == (isMine ? ["One 2"] : []))
    }

    @Test("An identifier that Kinto assigns is the object's, whose ID stays") func assigned() async throws {
        let here = try CachedMusic(identity: .assignedByService)
        let id = try here.insert("Album", ["title": "One", "year": 1])
        #expect(try here.store.resourceID(for: id) == nil)
        try await here.store.sendPending()
        let assigned = try #require(try Kinto.records("\(here.address)/albums/records").first?["id"] as? String)
        #expect(try here.store.resourceID(for: id) == .string(assigned))
        #expect(try await here.album("One") == id)
    }

    @Test("A save that waits for Kinto gets the outcome of each object") func acknowledged() async throws {
        let here = try CachedMusic { $0.sendsAutomatically = true }
        await here.context.perform {
            for title in ["One", "Two"] {
                NSEntityDescription.insertNewObject(forEntityName: "Album", into: here.context).setValue(title, forKey: "title")
            }
        }
        let saved = try await here.context.save(until: .acknowledged)
        #expect(saved.count == 2)
        for outcome in saved.values { if case .accepted = outcome { continue } else { Issue.record("\(outcome)") } }
        #expect(try here.stored() == ["One nil", "Two nil"])
    }
}
