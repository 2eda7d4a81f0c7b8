import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Writes that survive") struct OutboxTests {
    @Test("A save is shown at once, sent afterwards, and the object keeps its ID when the backend assigns an identifier") func online()
        async throws
    {
        let world = try OutboxWorld()
        let id = try world.insert("Album", ["title": "Help!", "year": 1965])
        #expect(!id.isTemporaryID && world.backend.saves.isEmpty)
        try expect(world.text(id), equals: "Help!")
        try expect(world.store.pendingCount(), equals: 1)
        try expect(world.store.syncState(of: id), equals: .pending)
        #expect(try world.store.resourceID(for: id) == nil)
        try await world.store.sendPending()
        let resource = try #require(try world.store.resourceID(for: id))
        #expect(world.backend.ids("Album") == [resource] && world.backend.values("Album", resource)?["title"] == "Help!")
        try expect(world.store.pendingCount(), equals: 0)
        try expect(world.store.syncState(of: id), equals: .fresh)
        try expect(world.fetch("Album"), equals: [id])
        try expect(world.store.objectID(for: resource, entityName: "Album"), equals: id)
        // The next change has the version that the object has now.
        try world.update(id, ["year": 1966])
        try await world.store.sendPending()
        try expect(world.only()["year"], equals: 1966)
        expect(world.backend.saves.last?.first?.changedProperties, equals: ["year"])
    }

    @Test("A save offline survives a kill, and is sent by the next run, in the order of what depends on what") func restart() async throws {
        let world = try OutboxWorld()
        world.goOffline()
        var album = try world.insert("Album", ["title": "Help!"])
        let beatles = try world.insert("Band", ["name": "Beatles"])
        try world.update(album, ["band": beatles])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 2)
        try world.restart()
        album = try world.same(album)
        try expect(world.text(album), equals: "Help!")
        try expect(world.shown(album, "band") as? NSManagedObjectID, equals: world.same(beatles))
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        let band = try #require(world.backend.ids("Band").first)
        try expect(world.only()["band"], equals: .one(.init(band)))
        #expect(world.backend.ids("Album").count == 1 && world.backend.ids("Band").count == 1)
    }

    @Test("Edits of an unsent new object fold into it; its deletion vanishes with it") func folding() async throws {
        let world = try OutboxWorld()
        let id = try world.insert("Album", ["title": "Hlep!"])
        try world.update(id, ["title": "Help!", "year": 1965])
        let other = try world.insert("Album", ["title": "Gone"])
        try world.delete(other)
        try expect(world.store.pendingCount(), equals: 1)
        #expect(!world.isShown(other))
        try await world.store.sendPending()
        expect(world.backend.saves.joined().map(\.kind), equals: [.insert])
        try expect(world.only(), equals: ["title": "Help!", "year": 1965])
    }

    @Test("Objects that refer to each other are all sent, the references that lead back afterwards") func cycles() async throws {
        let world = try OutboxWorld()
        let band = try world.insert("Band", ["name": "Beatles"])
        let album = try world.insert("Album", ["title": "Help!", "band": band])
        let tags = Set(try ["a", "b"].map { try world.insert("Tag", ["label": $0]) })
        try world.update(album, ["tags": tags])
        let track = try world.insert("Track", ["title": "Yesterday", "album": album])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        let values = try world.only()
        guard case .many(let members)? = values["tags"] else { return #expect(Bool(false), "\(values)") }
        expect(Set(members.map(\.id)), equals: Set(world.backend.ids("Tag")))
        try expect(world.only("Track")["album"], equals: .one(.init(world.backend.ids("Album")[0])))
        #expect(
            try world.shown(album, "tags") as? Set<NSManagedObjectID> == tags && world.shown(track, "album") as? NSManagedObjectID == album)
    }

    @Test("An object that was made here and acknowledged can be deleted offline, though its lists were never read")
    func deletedOffline() async throws {
        let world = try OutboxWorld()
        let album = try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        try world.restart()
        world.goOffline()
        let same = try world.same(album)
        try world.delete(same)
        #expect(!world.isShown(same))
        world.goOnline()
        try await world.store.sendPending()
        #expect(world.backend.ids("Album").isEmpty)
    }

    @Test(
        "A change whose answer was lost is saved once, whatever is edited meanwhile, also over a restart",
        arguments: ["assigned", "uuid", "title"], [true, false])
    func lostAnswers(identity: String, isIdempotent: Bool) async throws {
        let identities: [String: Resource.Saving.Identity] = [
            "assigned": .assignedByBackend, "uuid": .newUUID, "title": .attribute("title"),
        ]
        if identity == "assigned", !isIdempotent { return }
        for loss in [ScriptedBackend.Behaviour.loseAnswer(OutboxWorld.lost), .loseRequest(OutboxWorld.lost)] {
            for restarts in [false, true] {
                let world = try OutboxWorld(.init(identity: identities[identity]!, isIdempotent: isIdempotent))
                world.backend.scriptSaves { _ in loss }
                var id = try world.insert("Album", ["title": "Help!", "year": 1964])
                try await world.store.sendPending()
                if restarts {
                    try world.restart()
                    id = try world.same(id)
                }
                try world.update(id, ["year": 1965])
                world.goOnline()
                try await world.store.sendPending()
                try await world.store.sendPending()
                try expect(world.only()["year"], equals: 1965, "\(world.backend.saves)")
                try expect(world.store.pendingCount(), equals: 0)
                // An update whose answer is lost, too.
                world.backend.scriptSaves { _ in loss }
                try world.update(id, ["notes": "great"])
                try await world.store.sendPending()
                world.goOnline()
                try world.update(id, ["notes": "greater"])
                try await world.store.sendPending()
                try await world.store.sendPending()
                try expect(world.only()["notes"], equals: "greater", "\(world.pending)")
                try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
                // And a deletion.
                world.backend.scriptSaves { _ in loss }
                try world.delete(id)
                try await world.store.sendPending()
                world.goOnline()
                try await world.store.sendPending()
                #expect(world.backend.ids("Album").isEmpty)
                try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
            }
        }
    }

    @Test("A new object whose fate cannot be found out is asked about, never simply sent again", arguments: [true, false])
    func unknown(arrived: Bool) async throws {
        let world = try OutboxWorld(.init())
        world.backend.scriptSaves { _ in arrived ? .loseAnswer(OutboxWorld.lost) : .loseRequest(OutboxWorld.lost) }
        var id = try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        world.goOnline()
        try await world.store.sendPending()
        try world.restart()
        id = try world.same(id)
        try await world.store.sendPending()
        expect(world.backend.saves.count, equals: 1)
        try expect(world.store.syncState(of: id), equals: .unknown)
        #expect(try world.store.error(of: id) != nil)
        if arrived {
            // It is there: the application drops its own.
            try expect(world.store.drop(id), equals: [id])
            #expect(!world.isShown(id))
        } else {
            #expect(try world.store.retry(id))
            try await world.store.sendPending()
        }
        try expect(world.only()["title"], equals: "Help!")
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test("Of ten changes of one call, three are refused and one is missing in the answer: the others settle, and the queue moves on")
    func bulk() async throws {
        let world = try OutboxWorld(.init(maximumChanges: 10, isIdempotent: true))
        world.backend.scriptOutcomes { $0.values["year"]?.int64 ?? 0 >= 8 ? .refused(ServiceFailure("no")) : nil }
        let ids = try (1...10).map { try world.insert("Album", ["title": "\($0)", "year": $0]) }
        try await world.store.sendPending()
        #expect(world.backend.saves.count == 1 && world.backend.ids("Album").count == 7)
        try expect(world.store.pendingChanges().map(\.state), equals: [.failed, .failed, .failed])
        try expect(world.store.syncState(of: ids[9]), equals: .failed)
        #expect(try world.store.error(of: ids[9]) != nil)
        try expect(world.store.status().setAsideCount, equals: 3)
        try world.insert("Album", ["title": "next", "year": 1])
        try await world.store.sendPending()
        expect(world.backend.ids("Album").count, equals: 8)
        // Edited, retried, dropped.
        try world.update(ids[7], ["year": 1])
        world.backend.scriptOutcomes { _ in nil }
        try world.store.retry(ids[8])
        try world.store.drop(ids[9])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        #expect(world.backend.ids("Album").count == 10 && !world.isShown(ids[9]))
    }

    @Test("A page from the backend skips as many objects as are shown before it, pending ones too") func pageWithPending() throws {
        let world = try OutboxWorld()
        for (id, title) in [(1, "b"), (2, "d")] { world.backend.put("Album", id, ["title": .init(title)]) }
        for title in ["a", "c", "e"] { try world.insert("Album", ["title": title]) }
        let request = fetchRequest("Album", by: ["title"])
        request.cachePolicy = .networkOnly
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        try expect(world.context.texts(request, "title"), equals: ["b", "c", "d"])
        request.fetchLimit = 0
        try expect(world.context.texts(request, "title"), equals: ["b", "c", "d", "e"])
    }

    @Test("A missing outcome is unknown, never success") func missing() async throws {
        let world = try OutboxWorld(.init(maximumChanges: 10))
        world.backend.scriptSaves { _ in .half }
        let ids = try (1...4).map { try world.insert("Album", ["title": "\($0)"]) }
        try await world.store.sendPending()
        try expect(ids.map { try world.store.syncState(of: $0) }, equals: [.fresh, .fresh, .unknown, .unknown])
        expect(world.backend.ids("Album").count, equals: 2)
    }

    @Test("What depends on a change that is set aside waits for it; what does not is sent") func dependents() async throws {
        let world = try OutboxWorld()
        world.backend.scriptOutcomes { $0.entity == "Band" ? .refused(ServiceFailure()) : nil }
        let band = try world.insert("Band", ["name": "?"])
        let album = try world.insert("Album", ["title": "Help!", "band": band])
        let other = try world.insert("Album", ["title": "Solo"])
        try await world.store.sendPending()
        try expect([band, album, other].map { try world.store.syncState(of: $0) }, equals: [.failed, .pending, .fresh])
        // Without the band the album is sent without it.
        try world.store.drop(band)
        try await world.store.sendPending()
        expect(world.backend.ids("Album").count, equals: 2)
        try expect(world.store.pendingCount(), equals: 0)
        #expect(try world.shown(album, "band") == nil)
    }
}
