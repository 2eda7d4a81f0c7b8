import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import Predicates
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

@Suite("Pending changes of files that are older than the stages of a change") struct EarlierRecordTests {
    typealias Kind = EarlierRecords.Kind

    /// What is known of a change: its stage, what may have arrived, the attempts, the code of the failure.
    private static func summary(_ record: PendingRecord) -> String {
        var words = [record.stage.name.rawValue]
        if let doubt = record.stage.doubt { words.append("\(doubt)") }
        words.append("\(record.attempts)")
        if let failure = record.failure { words.append("\(failure.code)") }
        if let theirs = record.theirs { words.append(theirs.values.map { $0.keys.sorted().joined(separator: ",") } ?? "deleted") }
        return words.joined(separator: " ")
    }

    private static func expected(_ kind: Kind) -> String {
        switch kind {
        case .insertWaiting, .updateWaiting, .deleteWaiting: "waiting 0"
        case .insertLost, .updateLost, .deleteLost, .insertLostEdited, .insertLostDeleted: "lost open 1 -1005"
        case .insertSending, .updateSending, .deleteSending: "sending 1"
        case .insertSendingAgain: "sending repeatable 2 -1005"
        case .insertUnknown: "unknown open 1 -1005"
        case .insertRetried: "lost repeatable 0"
        case .insertSought: "sought 3 -1005"
        // That version had forgotten the key, not that it may have arrived.
        case .insertLostBusy: "waiting open 2 1"
        case .insertFailed, .updateFailed, .deleteFailed: "failed 1 422"
        case .updateConflicting: "conflicting 1 title"
        case .deleteConflicting: "conflicting 1 title,year"
        case .updateDeletedByOthers: "conflicting 1 deleted"
        }
    }

    @Test("Each opens in the stage that it was in, and is written as it was", arguments: Kind.allCases)
    func opens(_ kind: Kind) throws {
        let stored = EarlierRecords.stored(kind)
        let record = try stored.record()
        expect(Self.summary(record), equals: Self.expected(kind))
        expect(record.invariantViolations, equals: [])
        expect(record.state, equals: stored.state)
        if let sent = record.sent { expect(sent.change.kind, equals: kind.kind) }
        expect(record.kind, equals: kind == .insertLostDeleted ? nil : kind.kind)
        // Of an unknown fate, and of one that is tried again, the older form did not say that it may have arrived.
        if kind == .insertUnknown || kind == .insertRetried { return }
        try expect(record.encoded(), equals: stored.body)
    }

    @Test("What is left today of a program that is killed is what an earlier version has left", arguments: Kind.allCases)
    func sameToday(_ kind: Kind) async throws {
        let record = try await kind.make(OutboxWorld(kind.saving))
        let old = try EarlierRecords.stored(kind).record()
        switch kind {
        // It keeps its key now, and its refusal.
        case .insertLostBusy: expect(Self.summary(record), equals: "lost open 2 1")
        case .insertSought: expect(Self.summary(record), equals: "sought 3 409")
        default: expect(Self.summary(record), equals: Self.summary(old))
        }
        #expect(record.key == old.key && record.confirmed == old.confirmed && Self.members(record.lists) == Self.members(old.lists))
        if kind == .insertLostBusy { return }
        #expect(record.sent?.values == old.sent?.values && Self.members(record.sent?.lists) == Self.members(old.sent?.lists))
    }

    @Test("A cached store whose file has them sends them, and loses nothing", arguments: Kind.allCases)
    func sent(_ kind: Kind) async throws {
        let stored = EarlierRecords.stored(kind)
        let record = try stored.record()
        let world = try OutboxWorld(kind.saving)
        var id = try kind.prepare(world)
        if kind == .insertLostEdited { try world.update(id, ["year": 1967, "notes": "edited", "tags": Set<NSManagedObjectID>()]) }
        try Self.put(stored, record, in: world, hasIdentifier: kind != .updateDeletedByOthers)
        if kind.hasArrived, let sent = record.sent {
            world.goOnline()
            _ = try await world.backend.save([sent.change])
        } else if kind.hasArrived, let resource = record.resource {
            world.backend.put("Album", resource, ["title": "Revolver", "year": 1966, "band": .one(1), "tags": .many([1, 2])])
        }
        if kind == .updateConflicting || kind == .deleteConflicting { try kind.othersChange(world) }
        if kind == .updateDeletedByOthers { world.backend.remove("Album", 1) }
        try world.restart()
        id = try world.same(id)
        world.goOnline()

        try expect(world.store.pendingCount(), equals: 1)
        let isSetAside = record.isSetAside
        if isSetAside {
            try await world.store.sendPending()
            // It waits for the application.
            try expect(world.store.pendingCount(), equals: 1)
            if kind == .updateFailed { try world.update(id, ["notes": "edited"]) } else { try world.store.retry(id) }
        }
        for _ in 0..<3 {
            try await world.store.sendPending()
            world.clock.advance(by: .seconds(600))
        }
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        try Self.check(kind, world)
    }

    /// Checks what the backend has in the end.
    private static func check(_ kind: Kind, _ world: OutboxWorld) throws {
        let ids = world.backend.ids("Album")
        let album = world.backend.values("Album", 1)
        switch kind.kind {
        case .insert:
            expect(album?["title"], equals: "Help!")
            let new = ids.filter { $0 != 1 }
            if kind == .insertLostDeleted { return expect(new, equals: []) }
            try #require(new.count == 1, "\(ids)")
            let values = try #require(world.backend.values("Album", new[0]))
            let isEdited = kind == .insertLostEdited
            #expect(values["title"] == "Revolver" && values["year"] == (isEdited ? 1967 : 1966) && values["band"] == .one(1), "\(values)")
            expect(references(values["tags"]), equals: isEdited ? [] : [1, 2])
            if isEdited { expect(values["notes"], equals: "edited") }
        case .update:
            try #require(ids.count == 1, "\(ids)")
            let values = try #require(world.backend.values("Album", ids[0]))
            #expect(values["title"] == "Help! (remastered)" && values["band"] == .one(1) && values["rating"]?.isNull ?? true, "\(values)")
            if kind == .updateDeletedByOthers { return }
            expect(references(values["tags"]), equals: [2])
            expect(values["year"], equals: kind == .updateConflicting ? 1964 : 1965)
            if kind == .updateFailed { expect(values["notes"], equals: "edited") }
        case .delete: expect(ids, equals: [])
        }
    }

    /// What was added to lists and removed from them, which have no order.
    private static func members(_ lists: [String: BackendChange.ListChange]?) -> [String: [Set<ResourceReference>]]? {
        lists?.mapValues { [Set($0.added), Set($0.removed)] }
    }

    private static func references(_ value: ResourceValue?) -> Set<ResourceID> {
        if case .many(let references)? = value { Set(references.map(\.id)) } else { [] }
    }

    /// Puts the bytes in the place of the one record of a file, and the object's row into the state that goes with them.
    private static func put(_ stored: EarlierRecords.Stored, _ record: PendingRecord, in world: OutboxWorld, hasIdentifier: Bool) throws {
        let outbox: Outbox = world.store.outbox
        let file = outbox.file
        try file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            let subject = try #require(try pending.subject(pending.place(record)))
            let resource = hasIdentifier ? record.resource : nil
            if subject.row.resource != resource { try transaction.setResource(resource, of: subject.row) }
            _ = try pending.finish(record, subject.row)
        }
        let records = try #require(file.entity(named: file.names.pending))
        try file.write { transaction in
            guard case .rows(let rows) = try file.read(StoreQuery(records.inner)) else { return }
            let place = try #require(rows.first)
            let row = try #require(try transaction.edit(file.key(of: place)))
            try row.set(.int64(Int64(stored.state.rawValue)), "state")
            try row.set(.data(stored.body), "body")
        }
    }
}
