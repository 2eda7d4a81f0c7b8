import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Changes of others, and changes that are given up") struct OutboxConflictTests {
    /// A world with one album that the backend has, and its ID.
    private func world(
        _ saving: Resource.Saving = .init(isIdempotent: true), _ versions: ScriptedBackend.Versions = .numbers,
        _ conflicts: ConflictResolution = .setAside
    ) throws -> (world: OutboxWorld, id: NSManagedObjectID) {
        let world = try OutboxWorld(saving, versions: versions, conflicts: conflicts)
        world.backend.put("Album", 1, ["title": "Help!", "year": 1965, "notes": "base"])
        let id = try #require(try world.fetch("Album").first)
        return (world, id)
    }

    private func versions(_ saving: Resource.Saving) -> [ScriptedBackend.Versions] {
        saving.conflicts == .backend ? [.numbers, .tags] : [.none]
    }

    private static let savings: [Resource.Saving] = [
        .init(isIdempotent: true), .init(), .init(conflicts: .byReading, isIdempotent: true),
    ]

    @Test("What only one side has changed is merged, whoever notices it", arguments: [0, 1, 2]) func merged(number: Int) async throws {
        let saving = Self.savings[number]
        for versions in versions(saving) {
            let (world, id) = try world(saving, versions)
            try world.update(id, ["year": 1966])
            world.backend.change("Album", 1, ["notes": "theirs"])
            try await world.store.sendPending()
            expect(world.backend.values("Album", 1), equals: ["title": "Help!", "year": 1966, "notes": "theirs"])
            try expect(world.text(id, "notes"), equals: "theirs")
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        }
    }

    @Test("What both have changed is set aside: nothing is lost, and the application decides", arguments: [0, 1, 2])
    func setAside(number: Int) async throws {
        let saving = Self.savings[number]
        for (versions, drops) in versions(saving).flatMap({ [($0, false), ($0, true)] }) {
            let (world, id) = try world(saving, versions)
            try world.update(id, ["year": 1966, "notes": "mine"])
            world.backend.change("Album", 1, ["notes": "theirs"])
            try await world.store.sendPending()
            try expect(world.store.syncState(of: id), equals: .conflicting)
            try expect(world.text(id, "notes"), equals: "mine")
            expect(world.backend.values("Album", 1)?["notes"], equals: "theirs")
            try world.restart()
            let same = try world.same(id)
            if drops { try world.store.drop(same) } else { try world.store.retry(same) }
            try await world.store.sendPending()
            try expect(world.text(same, "notes"), equals: (drops ? "theirs" : "mine"))
            expect(world.backend.values("Album", 1)?["year"], equals: (drops ? 1965 : 1966))
            expect(world.backend.values("Album", 1)?["notes"], equals: (drops ? "theirs" : "mine"))
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        }
    }

    @Test("A refresh under a pending edit replaces only what is confirmed, and the edit is not sent over what others have changed")
    func refreshed() async throws {
        let (world, id) = try world()
        try world.update(id, ["notes": "mine"])
        world.backend.change("Album", 1, ["year": 1, "title": "theirs"])
        try world.fetch("Album")
        try expect(world.text(id, "notes"), equals: "mine")
        try expect(world.text(id), equals: "theirs")
        world.backend.change("Album", 1, ["notes": "theirs"])
        try world.fetch("Album")
        try expect(world.text(id, "notes"), equals: "mine")
        try expect(world.store.syncState(of: id), equals: .conflicting)
        try await world.store.sendPending()
        #expect(world.backend.saves.isEmpty)
    }

    @Test("Rules of conflicts: mine, theirs, all back, and the application's own with base, mine and theirs") func rules() async throws {
        let own = ConflictResolution.resolver { conflict in
            guard conflict.base["notes"] == "base", conflict.mine?["notes"] == "mine", conflict.theirs?["notes"] == "theirs",
                conflict.contested == ["notes"]
            else { return .setAside }
            return .merged(["notes": "both"])
        }
        let expected: [(ConflictResolution, notes: String, year: Int64)] = [
            (.preferMine, "mine", 1966), (.preferTheirs, "theirs", 1966), (.overwrite, "mine", 1966), (.rollback, "theirs", 1965),
            (.init(.mergeByPropertyObjectTrump), "mine", 1966), (.init(.mergeByPropertyStoreTrump), "theirs", 1966), (own, "both", 1966),
        ]
        for (rule, notes, year) in expected {
            let (world, id) = try world(.init(isIdempotent: true), .numbers, rule)
            try world.update(id, ["year": 1966, "notes": "mine"])
            world.backend.change("Album", 1, ["notes": "theirs"])
            try await world.store.sendPending()
            try await world.store.sendPending()
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
            expect(world.backend.values("Album", 1)?["notes"], equals: .init(notes))
            expect(world.backend.values("Album", 1)?["year"], equals: .init(year))
            try expect(world.text(id, "notes"), equals: notes)
        }
    }

    @Test(
        "Where the object here wins as a whole, the backend gets each attribute as it is here, as a store without a cache sends it",
        arguments: [0, 1, 2])
    func overwritten(number: Int) async throws {
        let saving = Self.savings[number]
        for versions in versions(saving) {
            for tellsValues in [true, false] {
                let (world, id) = try world(saving, versions, .overwrite)
                world.backend.put("Band", 2, ["name": "Byrds"])
                let text = try #require(try world.text(id))
                try world.update(id, ["year": 1966])
                world.backend.change("Album", 1, ["title": "theirs", "notes": "theirs", "band": .one(2)])
                if !tellsValues {
                    let isFirst = Guarded(true)
                    world.backend.scriptOutcomes { _ in
                        isFirst.withValue { isFirst in
                            defer { isFirst = false }
                            return isFirst && saving.conflicts == .backend ? .conflict(current: nil) : nil
                        }
                    }
                }
                for _ in 0..<3 { try await world.store.sendPending() }
                try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
                let values = world.backend.values("Album", 1)
                expect([values?["title"], values?["notes"], values?["year"]], equals: [.init(text), "base", 1966])
                expect(values?["band"], equals: .one(2))
                try expect(world.text(id, "notes"), equals: "base")
                #expect(try world.shown(id, "band") != nil)
                // What a read has brought before is a part of the object.
                world.backend.change("Album", 1, ["notes": "read"])
                try world.fetch("Album")
                try world.update(id, ["year": 1967])
                try await world.store.sendPending()
                expect(world.backend.values("Album", 1)?["notes"], equals: "read")
            }
        }
    }

    @Test("An edit of what others have deleted, and a deletion of what others have edited, follow the rule") func deletions() async throws {
        for rule in [ConflictResolution.setAside, .preferMine, .preferTheirs] {
            let (world, id) = try world(.init(isIdempotent: true), .numbers, rule)
            try world.update(id, ["notes": "mine"])
            world.backend.remove("Album", 1)
            try await world.store.sendPending()
            switch rule {
            case .preferMine:
                try expect(world.only()["notes"], equals: "mine")
                try expect(world.text(id, "notes"), equals: "mine")
            case .preferTheirs:
                #expect(world.backend.ids("Album").isEmpty)
                #expect(!world.isShown(id))
            default:
                try expect(world.store.syncState(of: id), equals: .conflicting)
                try expect(world.text(id, "notes"), equals: "mine")
                try world.store.drop(id)
                #expect(!world.isShown(id))
            }
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")

            let (other, gone) = try self.world(.init(isIdempotent: true), .numbers, rule)
            try other.delete(gone)
            other.backend.change("Album", 1, ["notes": "theirs"])
            try await other.store.sendPending()
            switch rule {
            case .preferMine: #expect(other.backend.ids("Album").isEmpty)
            case .preferTheirs: try expect(other.text(gone, "notes"), equals: "theirs")
            default:
                try expect(other.store.pendingChanges().map(\.state), equals: [.conflicting])
                try other.store.drop(gone)
                try expect(other.text(gone, "notes"), equals: "theirs")
            }
            try expect(other.store.pendingCount(), equals: 0, "\(other.pending)")
        }
    }

    @Test("Lists that both have changed are merged: what one side has added or removed is added or removed") func mergedLists() async throws
    {
        let world = try OutboxWorld()
        for number in 1...4 { world.backend.put("Tag", number, ["label": .init("\(number)")]) }
        world.backend.put("Album", 1, ["title": "Help!", "tags": .many([1, 2])])
        let tags = try world.fetch("Tag").sorted { $0.uriRepresentation().path < $1.uriRepresentation().path }
        let album = try #require(try world.fetch("Album").first)
        let byID = try Dictionary(uniqueKeysWithValues: tags.map { (try #require(try world.store.resourceID(for: $0)), $0) })
        try expect(world.shown(album, "tags") as? Set<NSManagedObjectID>, equals: [byID[1]!, byID[2]!])
        // Here 3 comes and 1 goes, there 4 comes and 2 goes.
        try world.update(album, ["tags": Set([byID[2]!, byID[3]!])])
        world.backend.change("Album", 1, ["tags": .many([1, 4])])
        try await world.store.sendPending()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        guard case .many(let members)? = world.backend.values("Album", 1)?["tags"] else { return #expect(Bool(false)) }
        expect(Set(members.map(\.id)), equals: [3, 4])
        try expect(world.shown(album, "tags") as? Set<NSManagedObjectID>, equals: [byID[3]!, byID[4]!])
    }

    // MARK: Giving up

    @Test("Giving up a deletion shows the object again, with the relationships that it cut and the objects that went with it")
    func droppedDeletion() async throws {
        let world = try OutboxWorld()
        let band = try world.insert("Band", ["name": "Beatles"])
        let album = try world.insert("Album", ["title": "Help!", "band": band])
        let track = try world.insert("Track", ["title": "Yesterday", "album": album])
        let tag = try world.insert("Tag", ["label": "a"])
        try world.update(album, ["tags": Set([tag])])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        world.backend.scriptOutcomes { $0.kind == .delete ? .refused(ServiceFailure("no")) : nil }
        // Tracks go with their album.
        try world.delete(album)
        #expect(!world.isShown(album))
        #expect(!world.isShown(track))
        try await world.store.sendPending()
        #expect(!world.isShown(album))
        let dropped = try world.store.drop(album)
        expect(Set(dropped), equals: [album, track])
        try expect(world.text(album), equals: "Help!")
        try expect(world.shown(album, "band") as? NSManagedObjectID, equals: band)
        try expect(world.shown(track, "album") as? NSManagedObjectID, equals: album)
        try expect(world.shown(album, "tags") as? Set<NSManagedObjectID>, equals: [tag])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        expect(world.backend.ids("Album").count, equals: 1)
    }

    @Test("Giving up a deletion joins again what referred to the object") func rejoined() async throws {
        let world = try OutboxWorld()
        let band = try world.insert("Band", ["name": "Beatles"])
        let album = try world.insert("Album", ["title": "Help!", "band": band])
        try await world.store.sendPending()
        try world.delete(band)
        #expect(try world.shown(album, "band") == nil)
        try world.store.drop(band)
        try expect(world.shown(album, "band") as? NSManagedObjectID, equals: band)
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    @Test("Giving up an edit shows what is confirmed, of attributes, references and lists") func droppedEdit() async throws {
        let world = try OutboxWorld()
        let bands = try ["Beatles", "Byrds"].map { try world.insert("Band", ["name": $0]) }
        let tags = try ["a", "b"].map { try world.insert("Tag", ["label": $0]) }
        let album = try world.insert("Album", ["title": "Help!", "band": bands[0], "tags": Set([tags[0]])])
        try await world.store.sendPending()
        try world.update(album, ["title": "?", "band": bands[1], "tags": Set([tags[1]])])
        try world.store.drop(album)
        try expect(world.text(album), equals: "Help!")
        try expect(world.shown(album, "band") as? NSManagedObjectID, equals: bands[0])
        try expect(world.shown(album, "tags") as? Set<NSManagedObjectID>, equals: [tags[0]])
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    // MARK: Identity

    /// What of an object is being sent while another one takes its place.
    enum UnderWay: CaseIterable { case nothing, insert, edit, deletion }

    @Test(
        "A deletion followed by a new object with the same identifier is a replacement, also while the old object is being made, changed or deleted",
        arguments: UnderWay.allCases)
    func replacement(_ sent: UnderWay) async throws {
        let world = try OutboxWorld(.init(identity: .attribute("title"), isIdempotent: true))
        let first = try world.insert("Album", ["title": "Help!", "year": 1965, "notes": "old"])
        var second: NSManagedObjectID?
        func insert() throws { second = try world.insert("Album", ["title": "Help!", "year": 1966]) }
        func replace() throws {
            try world.delete(first)
            try insert()
        }
        if sent != .insert { try await world.store.sendPending() }
        switch sent {
        case .nothing: try replace()
        case .insert: try await world.sendPending { try replace() }
        case .edit:
            try world.update(first, ["year": 1964])
            try await world.sendPending { try replace() }
        case .deletion:
            try world.delete(first)
            try await world.sendPending { try insert() }
        }
        let id = try #require(second)
        try expect(world.text(id), equals: "Help!")
        #expect(try world.text(id, "notes") == nil)
        try await world.store.sendPending()
        try expect(world.only(), equals: ["title": "Help!", "year": 1966])
        expect(
            world.backend.saves.joined().map(\.kind),
            equals: (sent == .edit ? [.insert, .update, .delete, .insert] : [.insert, .delete, .insert]))
        try expect(world.fetch("Album"), equals: [id])
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    @Test(
        "A deleted object that a merge policy brings back has its identifier again, unless another one has got it",
        arguments: [true, false])
    func broughtBack(isTaken: Bool) async throws {
        let world = try OutboxWorld(.init(identity: .attribute("title"), isIdempotent: true))
        let first = try world.insert("Album", ["title": "Help!", "year": 1965])
        try await world.store.sendPending()
        let context = world.coordinator.context()
        context.mergePolicy = NSMergePolicy.overwrite
        try context.performAndWait { try context.existingObject(with: first).setValue(1967, forKey: "year") }
        try world.delete(first)
        let second = try world.insert("Album", ["title": "Help!", "year": 1966])
        if !isTaken { try world.delete(second) }
        let error = context.performAndWait {
            do { try context.save() } catch { return error as NSError? }
            return nil
        }
        expect(error?.code, equals: (isTaken ? NSPersistentStoreSaveError : nil), "\(error as Any)")
        try await world.store.sendPending()
        try expect(world.only()["year"], equals: (isTaken ? 1966 : 1967))
        try expect(world.fetch("Album"), equals: [isTaken ? second : first])
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    @Test("A new object that a fetch finds before the answer to it has come is one object, with everything that refers to it")
    func echo() async throws {
        let world = try OutboxWorld()
        let album = try world.insert("Album", ["title": "Help!"])
        let track = try world.insert("Track", ["title": "Yesterday", "album": album])
        world.backend.scriptSaves { $0[0].entity == "Album" ? .loseAnswer(OutboxWorld.lost) : .answer }
        try await world.store.sendPending()
        world.goOnline()
        // It may be there under the backend's identifier too, until the answer says whose it is.
        #expect(try world.fetch("Album").contains(album))
        try await world.store.sendPending()
        try expect(world.fetch("Album"), equals: [album])
        try expect(world.shown(track, "album") as? NSManagedObjectID, equals: album)
        try expect(world.only("Track")["album"], equals: .one(.init(world.backend.ids("Album")[0])))
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }

    @Test("A fetch that finds a new object while it is being sent waits for its identifier, and shows it once") func echoOnline()
        async throws
    {
        let world = try OutboxWorld()
        let album = try world.insert("Album", ["title": "Help!"])
        world.backend.put("Album", 1, ["title": "Other"])
        world.backend.scriptSaves { _ in .hold }
        async let sending: Void = world.store.sendPending()
        await world.backend.untilHeld()
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        let context: NSManagedObjectContext = world.context
        // No thread of the tasks waits for it.
        async let found = context.perform { try context.fetch(request).map(\.objectID) }
        while world.backend.requests.isEmpty { await Task.yield() }
        world.backend.release()
        try await sending
        let ids = try await found
        expect(ids.count, equals: 2)
        #expect(ids.contains(album))
        try expect(world.fetch("Album").count, equals: 2)
    }
}
