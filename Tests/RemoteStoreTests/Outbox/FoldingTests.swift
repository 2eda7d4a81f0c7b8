import Foundation
import Predicates
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

@Suite("What is shown: confirmed, with pending folded over it") struct FoldingTests {
    /// One object as a file and a server have it, with a plain model beside it: confirmed values and edits in their order.
    private final class World {
        var record: PendingRecord?
        var row: [String: ResourceValue]
        let names = ["a", "b", "c"]

        init(_ row: [String: ResourceValue], isNew: Bool = false) {
            self.row = row
            if isNew { record = PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, isConfirmed: false) }
        }

        var shown: PendingRecord.Shown {
            let row = row
            return PendingRecord.Shown(names: names, value: { row[$0] ?? .value(.null) })
        }

        func edit(_ values: [String: ResourceValue]) {
            var record = record ?? PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, resource: 1, isConfirmed: true)
            let before = Dictionary(uniqueKeysWithValues: values.keys.map { ($0, row[$0] ?? .value(.null)) })
            row.merge(values) { _, new in new }
            record.edit(before, [:], shown)
            self.record = record.isDone ? nil : record
        }

        func send() -> PendingRecord.Draft? {
            guard let draft = record?.draft(shown) else { return nil }
            record?.begin(
                sending: .init(
                    change: BackendChange(draft.kind, "E", id: 1, draft.values, changedProperties: draft.changed), values: draft.values,
                    lists: draft.lists))
            return draft
        }

        func acknowledge(_ told: [String: ResourceValue] = [:], version: Int64? = nil) {
            let written = record?.acknowledge(version: version.map { .number($0) }, told, shown) ?? [:]
            row.merge(written) { _, new in new }
            if record?.isDone == true { record = nil }
        }

        func receive(_ values: [String: ResourceValue], version: Int64? = nil) {
            guard record != nil else { return row.merge(values) { _, new in new } }
            let written = record?.receive(values, version: version.map { .number($0) }, shown) ?? [:]
            row.merge(written) { _, new in new }
            if record?.isDone == true { record = nil }
        }
    }

    @Test("Edits of an unsent new object fold into it, and its deletion vanishes with it") func unsentInsert() {
        let world = World(["a": 1], isNew: true)
        world.edit(["a": 2, "b": "x"])
        expect(world.record?.draft(world.shown)?.values, equals: ["a": 2, "b": "x"])
        world.record?.delete()
        #expect(world.record?.kind == nil && world.record?.isDone == true)
    }

    @Test("An edit that sets the confirmed value again leaves nothing pending, and one that is only written differently is one")
    func undone() {
        let world = World(["a": "é", "b": 1])
        world.edit(["b": 2])
        world.edit(["b": 1])
        #expect(world.record == nil)
        world.edit(["a": "e\u{301}"])
        expect(world.record?.draft(world.shown)?.values.keys.sorted(), equals: ["a"])
    }

    @Test("A read of other properties settles no conflict, and tells no version that the change is based on")
    func readInPart() {
        let world = World(["a": 1, "b": 1])
        world.receive(["a": 1, "b": 1], version: 1)
        world.edit(["a": 2])
        world.record?.version = .number(1)
        world.receive(["b": 5], version: 3)
        expect(world.row, equals: ["a": 2, "b": 5])
        // Others may have changed it as well in this version.
        expect(world.record?.version, equals: .number(1))
        world.receive(["a": 9, "b": 5], version: 3)
        world.record?.setAside()
        expect(world.record?.theirs?.values, equals: ["a": 9])
        world.receive(["b": 6], version: 4)
        world.receive([:], version: 4)
        expect(world.record?.theirs?.values, equals: ["a": 9])
        expect(world.record?.state, equals: .conflicting)
        // Others have taken it back.
        world.receive(["a": 1, "b": 6], version: 5)
        #expect(world.record?.theirs == nil)
        expect(world.record?.version, equals: .number(5))
        expect(world.record?.draft(world.shown)?.values, equals: ["a": 2])
    }

    @Test("An edit while a change is under way follows it: the answer does not take it back") func editWhileSending() {
        let world = World(["a": 1, "b": 1])
        world.edit(["a": 2])
        expect(world.send()?.values, equals: ["a": 2])
        world.edit(["a": 3, "b": 5])
        world.acknowledge(["a": 2, "c": 9], version: 7)
        expect(world.row, equals: ["a": 3, "b": 5, "c": 9])
        expect(world.record?.version, equals: .number(7))
        expect(world.send()?.values, equals: ["a": 3, "b": 5])
        world.acknowledge(version: 8)
        #expect(world.record == nil && world.row == ["a": 3, "b": 5, "c": 9])
    }

    @Test("A new object that is edited while it is sent becomes an update, one that is deleted a deletion") func newWhileSending() {
        let world = World(["a": 1, "b": .value(.null)], isNew: true)
        expect(world.send()?.kind, equals: .insert)
        world.edit(["a": .value(.null), "b": 2])
        world.acknowledge(version: 1)
        expect(world.send(), equals: .init(kind: .update, values: ["a": .value(.null), "b": 2], changed: ["a", "b"]))
        let other = World(["a": 1], isNew: true)
        _ = other.send()
        other.record?.delete()
        other.acknowledge(version: 1)
        expect(other.send()?.kind, equals: .delete)
        other.acknowledge()
        #expect(other.record == nil)
    }

    @Test("The server's echo before its answer is no conflict, and an older read never replaces a newer one") func echo() {
        let world = World(["a": 1, "b": 1])
        world.edit(["a": 2])
        _ = world.send()
        world.edit(["a": 3])
        world.receive(["a": 2, "b": 8], version: 5)
        #expect(world.record?.theirs == nil && world.row == ["a": 3, "b": 8])
        world.acknowledge(version: 5)
        world.receive(["a": 1, "b": 1], version: 4)
        #expect(world.row == ["a": 3, "b": 8] && world.record?.confirmed == ["a": 2])
    }

    @Test("What only one side has changed is merged; what both have changed is settled by the rule") func conflicts() {
        func conflicting() -> World {
            let world = World(["a": 1, "b": 1, "c": 1])
            world.edit(["a": 2, "b": 2])
            world.receive(["a": 9, "b": 1, "c": 9], version: 3)
            return world
        }
        let aside = conflicting()
        #expect(aside.row == ["a": 2, "b": 2, "c": 9] && aside.record?.theirs?.values == ["a": 9])
        expect(aside.record?.settle(.setAside, aside.shown), equals: .init())
        expect(aside.record?.state, equals: .conflicting)
        // Nothing is lost: given up, the server's values are shown.
        expect(aside.record?.drop().values, equals: ["a": 9, "b": 1])

        let mine = conflicting()
        expect(mine.record?.settle(.preferMine, mine.shown), equals: .init())
        #expect(mine.record?.version == .number(3) && mine.send()?.values == ["a": 2, "b": 2])
        let theirs = conflicting()
        expect(theirs.record?.settle(.preferTheirs, theirs.shown).values, equals: ["a": 9])
        #expect(theirs.record?.confirmed == ["b": 1] && theirs.record?.version == .number(3))
        let back = conflicting()
        expect(back.record?.settle(.rollback, back.shown).values, equals: ["a": 9, "b": 1])
        expect(back.record?.isDone, equals: true)
    }

    @Test("A change to what the server has deleted follows the rule, as does a deletion of what it has changed") func deletions() {
        func edited() -> World {
            let world = World(["a": 1])
            world.edit(["a": 2])
            world.record?.receiveDeletion()
            return world
        }
        let aside = edited()
        _ = aside.record?.settle(.setAside, aside.shown)
        #expect(aside.record?.state == .conflicting && aside.record?.drop().isRemoved == true)
        let mine = edited()
        expect(mine.record?.settle(.preferMine, mine.shown).isNew, equals: true)
        expect(mine.send()?.kind, equals: .insert)
        let theirs = edited()
        #expect(theirs.record?.settle(.preferTheirs, theirs.shown).isRemoved == true && theirs.record?.isDone == true)

        func deleted() -> World {
            let world = World(["a": 1])
            world.edit(["a": 1, "b": 3])
            world.record?.delete()
            world.receive(["a": 5, "b": .value(.null), "c": .value(.null)], version: 2)
            return world
        }
        let asideDeleted = deleted()
        _ = asideDeleted.record?.settle(.setAside, asideDeleted.shown)
        #expect(asideDeleted.record?.state == .conflicting && asideDeleted.record?.drop().values == ["a": 5, "b": .value(.null)])
        let mineDeleted = deleted()
        _ = mineDeleted.record?.settle(.preferMine, mineDeleted.shown)
        #expect(mineDeleted.send()?.kind == .delete && mineDeleted.record?.version == .number(2))
    }

    @Test("An object that others have deleted after a change was saved is gone, unless it was changed here again") func deletedAfterwards()
    {
        let world = World(["a": 1])
        world.edit(["a": 2])
        _ = world.send()
        world.record?.receiveDeletion()
        _ = world.record?.acknowledge(version: .number(2), [:], world.shown)
        #expect(world.record?.isDone == true && world.record?.isShown == false)

        let again = World(["a": 1])
        again.edit(["a": 2])
        _ = again.send()
        again.edit(["a": 3])
        again.record?.receiveDeletion()
        _ = again.record?.acknowledge(version: .number(2), [:], again.shown)
        expect(again.record?.settle(.preferMine, again.shown).isNew, equals: true)
        expect(again.send()?.kind, equals: .insert)

        let both = World(["a": 1])
        both.edit(["a": 2])
        both.record?.receiveDeletion()
        _ = both.record?.settle(.setAside, both.shown)
        both.record?.delete()
        expect(both.record?.isDone, equals: true)
    }

    @Test("A refused change is kept with its reason; giving it up shows what was confirmed, an edit sends it again") func refusal() {
        let world = World(["a": 1, "b": 1])
        world.edit(["a": 2])
        _ = world.send()
        world.record?.refuse(.init(domain: "D", code: 7, message: "no"))
        #expect(world.record?.isSetAside == true && world.record?.failure?.code == 7)
        var copy = world.record
        expect(copy?.drop().values, equals: ["a": 1])
        world.edit(["b": 3])
        #expect(world.record?.state == .waiting && world.send()?.values == ["a": 2, "b": 3])
    }

    @Test("Lists are merged: what one side adds or removes is added or removed, in order") func lists() {
        typealias References = [ResourceReference]
        var record = PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, isConfirmed: true)
        record.lists["l"] = .init(added: [4], removed: [2])
        expect(record.receive("l", members: [1, 2, 3, 5], mine: [1, 3, 4], isOrdered: false), equals: [1, 3, 5, 4])
        expect(record.lists["l"], equals: .init(added: [4], removed: [2]))
        expect(record.receive("l", members: [1, 4], mine: [1, 3, 5, 4], isOrdered: false), equals: [1, 4])
        #expect(record.lists.isEmpty)
        expect(PendingRecord.merge(base: [1, 2, 3], mine: [3, 2, 1], theirs: [1, 2, 3, 4]), equals: [3, 4, 2, 1])
        expect(PendingRecord.merge(base: [1, 2, 3], mine: [1, 9, 2, 3], theirs: [3, 2]), equals: [9, 3, 2])
        expect(PendingRecord.merge(base: [1, 2, 3], mine: [1, 2, 3], theirs: [2, 1]), equals: [2, 1])
        expect(PendingRecord.merge(base: [Int](), mine: [1], theirs: [2]), equals: [2, 1])
    }

    @Test("A list that a read brings as it was sent, before the answer, is not changed back") func listEcho() {
        var record = PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, resource: 1, isConfirmed: true)
        let edit = BackendChange.ListChange(added: [4], removed: [2])
        record.lists["l"] = edit
        let shown = PendingRecord.Shown(names: []) { _ in .value(.null) }
        record.begin(
            sending: .init(change: BackendChange(.update, "E", id: 1, [:], changedProperties: ["l"]), values: [:], lists: ["l": edit]))
        expect(record.receive("l", members: [1, 4], mine: [1, 4], isOrdered: false), equals: [1, 4])
        expect(record.receive("l", members: [1, 2], mine: [1, 4], isOrdered: false), equals: [1, 4])
        _ = record.acknowledge(version: .number(2), [:], shown)
        #expect(record.lists.isEmpty && record.isDone, "\(record.lists)")
    }

    @Test("After any sequence of edits, answers and reads, what is shown is the fold, and everything is sent in the end") func random() {
        let seed = TestSeed.current(for: "FoldingTests.random")
        var random = SeededGenerator(seed: seed)
        for _ in TestRounds(seconds: 0.8, atLeast: 200) {
            // The plain model: what the server has, and the last edit of each property that it does not have.
            var server: [String: Int64] = ["a": 0, "b": 0, "c": 0]
            var version: Int64 = 1
            var edits: [String: Int64] = [:]
            var flight: [String: Int64]?
            var next: Int64 = 1
            let world = World(server.mapValues { ResourceValue($0) })
            func read() -> [String: ResourceValue] { server.mapValues { ResourceValue($0) } }
            for _ in 0..<12 {
                switch Int.random(in: 0...4, using: &random) {
                case 0, 1:
                    let name = ["a", "b", "c"].randomElement(using: &random)!
                    let value = Bool.random(using: &random) ? server[name]! : next
                    next += 1
                    world.edit([name: ResourceValue(value)])
                    edits[name] = value
                case 2:
                    guard flight == nil, let draft = world.send() else { continue }
                    flight = draft.values.compactMapValues(\.int64)
                case 3:
                    guard let sent = flight else { continue }
                    server.merge(sent) { _, new in new }
                    version += 1
                    // The echo may come before the answer.
                    if Bool.random(using: &random) { world.receive(read(), version: version) }
                    world.acknowledge(version: version)
                    flight = nil
                default: world.receive(read(), version: version)
                }
                let fold = server.merging(edits) { _, new in new }
                expect(world.row.compactMapValues(\.int64), equals: fold, "seed \(seed)")
            }
            if let sent = flight {
                server.merge(sent) { _, new in new }
                world.acknowledge(version: version + 1)
            }
            if let draft = world.send() {
                server.merge(draft.values.compactMapValues(\.int64)) { _, new in new }
                world.acknowledge(version: version + 2)
            }
            #expect(world.record == nil && server == world.row.compactMapValues(\.int64), "seed \(seed)")
        }
    }
}
