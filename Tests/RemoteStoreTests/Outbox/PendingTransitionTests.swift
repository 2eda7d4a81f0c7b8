import Foundation
import RemoteStoreTesting
import TestSupport
import Testing

@testable import ObjectGraph
@testable import RemoteStore

@Suite("The stages of a pending change") struct PendingTransitionTests {
    /// What a walk does: each transition, and what changes a record besides.
    private enum Step: CaseIterable {
        case edit, delete, showAgain, begin, beginAgain, postpone, noteProgress, noteLost, leaveToApplication, noteUnclear, noteUnsaved,
            seek, noteAccepted, noteUnseen
        case acknowledge, keepSent, remake, remakeInDoubt, noteMissing, refuse, receive, receiveDeletion, settle, retry, drop, reopen,
            rewrite
        case restart

        /// The stages from which the sender does it.
        var stages: Set<PendingRecord.Stage.Name> {
            switch self {
            case .begin: [.waiting]
            case .beginAgain: [.lost, .sought]
            case .postpone: [.waiting, .lost, .sought, .unknown, .failed, .conflicting]
            case .noteLost, .seek, .noteAccepted, .noteUnseen: [.sending]
            case .noteUnclear: [.sending, .lost]
            case .noteUnsaved: [.sending, .waiting]
            case .leaveToApplication, .acknowledge, .keepSent: [.sending, .lost, .sought, .unknown]
            case .settle: [.waiting, .failed, .conflicting]
            case .drop: [.waiting, .lost, .sought, .unknown, .failed, .conflicting]
            default: Set(PendingRecord.Stage.Name.allCases)
            }
        }
    }

    /// A record, with the row that it is of, in a walk of transitions.
    private struct Walk {
        var random: RandomRecords
        var record: PendingRecord
        var row: [String: ResourceValue] = ["a": 1, "b": 2, "c": 3]
        var steps: [String] = []
        var next: Int64 = 10

        init(seed: UInt64) {
            random = RandomRecords(random: SeededGenerator(seed: seed))
            record = PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, isConfirmed: random.random.chance(0.7))
            record.resource = record.isConfirmed || random.random.chance(0.5) ? 1 : nil
        }

        var shown: PendingRecord.Shown {
            let row = row
            return PendingRecord.Shown(names: ["a", "b", "c"], value: { row[$0] ?? .value(.null) })
        }

        mutating func number() -> ResourceValue {
            next += 1
            return ResourceValue(next)
        }

        mutating func time() -> Double { .random(in: 0...1e9, using: &random.random) }

        /// Takes a step where the sender may take it.
        mutating func take(_ step: Step) {
            guard step.stages.contains(record.stage.name), let kind = record.kind ?? record.sent?.change.kind else { return }
            steps.append("\(step)")
            let failure = random.failure()
            let failureOrNone = random.random.chance(0.5) ? failure : nil
            switch step {
            case .edit:
                guard record.isShown else { return }
                let name = ["a", "b", "c"].randomElement(using: &random.random)!
                let before = [name: row[name] ?? .value(.null)]
                row[name] = number()
                record.edit(before, random.random.chance(0.3) ? ["l": .init(added: random.references(), removed: [])] : [:], shown)
            case .delete: record.delete()
            case .showAgain: record.isShown = true
            case .begin:
                guard record.theirs == nil, let draft = record.draft(shown) else { return }
                let change = BackendChange(
                    draft.kind, "E", id: record.resource, draft.values, changedProperties: draft.changed, lists: draft.lists,
                    version: record.version, idempotencyKey: random.uuid())
                record.begin(sending: .init(change: change, values: draft.values, lists: draft.lists, nextKey: 7))
            case .beginAgain:
                if record.sent?.isAccepted == true { return }
                record.beginAgain(as: .init(random.random.below(9)))
            case .noteAccepted:
                guard record.sent?.change.kind == .insert, record.sent?.change.id == nil else { return }
                record.noteAccepted(failure)
            case .noteUnseen:
                guard record.sent?.change.kind != .insert else { return }
                record.noteUnseen(failure, until: time())
            case .postpone: record.postpone(failureOrNone, until: time())
            case .noteProgress: record.noteProgress()
            case .noteLost:
                record.noteLost(failure, until: kind == .insert && record.resource == nil && random.random.chance(0.5) ? nil : time())
            case .leaveToApplication: record.leaveToApplication(failure)
            case .noteUnclear: record.noteUnclear()
            case .noteUnsaved: record.noteUnsaved(failureOrNone, until: random.random.chance(0.5) ? time() : nil)
            case .seek:
                guard record.sent?.change.kind == .insert, record.sent?.change.id != nil else { return }
                record.seek(after: failure)
            case .acknowledge:
                row.merge(record.acknowledge(id: 1, version: random.random.chance(0.5) ? .number(next) : nil, [:], shown)) { _, new in new }
            case .keepSent: record.keepSent(only: ["a", "l"])
            case .remake: record.remake(failureOrNone, until: random.random.chance(0.5) ? time() : nil)
            case .remakeInDoubt: record.remake(keepsDoubt: true)
            case .noteMissing: record.noteMissing()
            case .refuse: record.refuse(failure)
            case .receive: row.merge(record.receive(["a": number(), "b": number()], version: .number(next), shown)) { _, new in new }
            case .receiveDeletion: record.receiveDeletion()
            case .settle:
                let rule = ([.setAside, .overwrite, .preferMine, .preferTheirs, .rollback] as [ConflictResolution]).randomElement(
                    using: &random.random)!
                row.merge(record.settle(rule, shown, isAssigned: random.random.chance(0.5)).values) { _, new in new }
            case .retry: record.retry()
            case .drop: row.merge(record.drop(keepsAttempts: random.random.chance(0.5)).values) { _, new in new }
            case .reopen: record.reopen()
            case .rewrite:
                record.rewrite { sent in
                    sent.values["x"] = 1
                } theirs: {
                    $0
                }
            case .restart: break
            }
        }
    }

    @Test("Whatever becomes of a change, its invariants hold, and its file opens in the stage that it was written in")
    func walk() throws {
        let base = TestSeed.current(for: "PendingTransitionTests.walk")
        var taken: [PendingRecord.Stage.Name: Int] = [:]
        for round in TestRounds(seconds: 1.5, atLeast: 200) {
            let seed = base &+ UInt64(round)
            var walk = Walk(seed: seed)
            for _ in 0..<40 {
                let before = walk.record
                let step = Step.allCases.randomElement(using: &walk.random.random)!
                let violations = InternalChecks.violations { walk.take(step) }
                let record = walk.record
                expect(violations + record.invariantViolations, equals: [], "seed \(seed): \(walk.steps)")
                let read = try PendingRecord(record.key, sequence: record.sequence, state: record.state, record.encoded())
                expect(read, equals: record, "seed \(seed): \(walk.steps)")
                taken[record.stage.name, default: 0] += 1
                Self.checkKept(before, record, step, "seed \(seed): \(walk.steps)")
                if !violations.isEmpty || record.isDone { break }
            }
        }
        expect(Set(taken.keys), equals: Set(PendingRecord.Stage.Name.allCases))
    }

    /// Expects that what may have arrived has its key and its first body until an answer is known.
    private static func checkKept(_ before: PendingRecord, _ after: PendingRecord, _ step: Step, _ message: @autoclosure () -> Comment) {
        guard let sent = before.sent else { return }
        switch step {
        case .acknowledge, .keepSent, .remake, .remakeInDoubt, .refuse, .drop, .rewrite, .receiveDeletion: return
        case .noteMissing where before.stage.name == .sought: return
        case .noteUnsaved where before.stage.doubt == nil: return
        default:
            var kept = after.sent
            kept?.change.key = sent.change.key
            if step == .noteAccepted || step == .noteUnseen { kept?.isAccepted = sent.isAccepted }
            expect(kept, equals: sent, message())
        }
    }

    @Test("A transition that does not lead on from a stage is a mistake, and leaves the change as it is")
    func illegal() {
        let sent = PendingRecord.Sent(change: BackendChange(.update, "E", id: 1, ["a": 1]), values: ["a": 1], lists: [:])
        let failure = PendingRecord.Failure(domain: "D", code: 1, message: "no")
        let attempts = PendingRecord.Attempts(count: 1)
        let stages: [PendingRecord.Stage] = [
            .fresh, .sending(sent, after: nil, attempts, theirs: nil), .lost(sent, .open, attempts, theirs: nil),
            .unknown(sent, failure, attempts: 1, theirs: nil), .failed(failure, attempts: 1, theirs: nil),
            .conflicting(.init(values: ["a": 2]), attempts: 1),
        ]
        let transitions: [(Set<PendingRecord.Stage.Name>, (inout PendingRecord) -> Void)] = [
            ([.waiting], { $0.begin(sending: sent) }), ([.lost, .sought], { $0.beginAgain(as: .init(0)) }),
            ([.sending], { $0.noteLost(failure, until: 1) }), ([.sending], { $0.seek(after: failure) }),
            ([.sending, .lost], { $0.noteUnclear() }), ([.sending, .waiting], { $0.noteUnsaved() }),
            ([.sending, .lost, .sought, .unknown], { $0.leaveToApplication(failure) }),
            ([.sending, .lost, .sought, .unknown], { _ = $0.takeSaved() }),
            ([.sending, .lost, .sought, .unknown], { $0.keepSent(only: []) }),
            ([.waiting, .lost, .sought, .unknown, .failed, .conflicting], { $0.clear() }),
            ([.waiting, .lost, .sought, .unknown, .failed, .conflicting], { $0.postpone(until: 1) }), ([.conflicting], { $0.setAside() }),
        ]
        for stage in stages {
            for (allowed, transition) in transitions where !allowed.contains(stage.name) {
                var record = PendingRecord(
                    entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, resource: 1, isConfirmed: true, stage: stage)
                let violations = InternalChecks.violations { transition(&record) }
                expect(record.stage, equals: stage)
                #if COREDATA_INTERNAL_CHECKS
                expect(violations.count, equals: 1, "\(violations)")
                #else
                expect(violations.count, equals: 0)
                #endif
            }
        }
    }

    @Test("A change that is not as it should be is found, and so is a transition that loses what was sent")
    func broken() {
        let failure = PendingRecord.Failure(domain: "D", code: 1, message: "no")
        func sent(_ kind: Resource.Saving.Kind, _ values: [String: ResourceValue] = ["a": 1]) -> PendingRecord.Sent {
            .init(change: BackendChange(kind, "E", id: 1, values, idempotencyKey: UUID()), values: values, lists: [:])
        }
        func violations(_ stage: PendingRecord.Stage, isConfirmed: Bool) -> Int {
            PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, isConfirmed: isConfirmed, stage: stage)
                .invariantViolations.count
        }
        expect(violations(.lost(sent(.insert), .open, .init(), theirs: nil), isConfirmed: false), equals: 0)
        expect(violations(.lost(sent(.insert), .open, .init(), theirs: nil), isConfirmed: true), equals: 1)
        expect(violations(.sending(sent(.update), after: nil, .init(), theirs: nil), isConfirmed: true), equals: 1)
        expect(violations(.sought(sent(.update), refusal: failure, attempts: 2, next: 0, theirs: nil), isConfirmed: true), equals: 1)
        expect(violations(.waiting(after: nil, .init(count: -1, next: .nan), theirs: nil), isConfirmed: true), equals: 2)
        expect(violations(.conflicting(.init(values: nil), attempts: 0), isConfirmed: false), equals: 1)

        let first = sent(.update)
        var other = first
        func losses(_ stage: PendingRecord.Stage) -> Int {
            PendingRecord.losses(from: .lost(first, .open, .init(), theirs: nil), to: stage, "test").count
        }
        other.change.key = .init(7)
        expect(losses(.lost(other, .repeatable, .init(), theirs: nil)), equals: 0)
        other.values["a"] = 2
        expect(losses(.lost(other, .open, .init(), theirs: nil)), equals: 1)
        expect(losses(.lost(sent(.update), .open, .init(), theirs: nil)), equals: 1)
        expect(losses(.fresh), equals: 1)
    }

    @Test("Any combination that a file may have opens: what may have arrived stays so, and what waits for the application goes on waiting")
    func anyFile() {
        let seed = TestSeed.current(for: "PendingTransitionTests.anyFile")
        var random = RandomRecords(random: SeededGenerator(seed: seed))
        for _ in TestRounds(seconds: 0.5, atLeast: 500) {
            let fields = random.fields(0...9)
            let stage = PendingRecord.Stage(fields)
            expect(stage.sent, equals: fields.sent, "seed \(seed)")
            expect(stage.theirs, equals: fields.theirs, "seed \(seed)")
            let record = PendingRecord(entity: "E", key: LocalKey(root: "E", key: 1), sequence: 1, isConfirmed: true, stage: stage)
            if fields.sent != nil, fields.isRepeated, fields.state != .sending { #expect(stage.doubt != nil, "seed \(seed)") }
            switch fields.state {
            case .unknown, .failed: #expect(record.isSetAside, "seed \(seed)")
            case .conflicting: #expect(record.isSetAside || fields.sent == nil && fields.theirs == nil, "seed \(seed)")
            case .waiting, .sending: continue
            }
        }
    }

    @Test("A new object of unknown fate that is sent again, and refused for now, is sent as it was: with its key, and its first values")
    func retriedThenBusy() async throws {
        let world = try OutboxWorld(.init())
        world.backend.scriptSaves { _ in .loseRequest(OutboxWorld.lost) }
        let id = try world.insert("Album", ["title": "Help!", "year": 1964])
        try await world.store.sendPending()
        try expect(world.store.syncState(of: id), equals: .unknown)
        try world.store.retry(id)
        world.backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
        try await world.store.sendPending()
        try world.update(id, ["year": 1965])
        world.goOnline()
        try await world.store.sendPending()
        let inserts = world.backend.saves.joined().filter { $0.kind == .insert }
        #expect(Set(inserts.map(\.idempotencyKey)).count == 1 && inserts.allSatisfy { $0.values["year"] == 1964 }, "\(inserts)")
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        try expect(world.only()["year"], equals: 1965)
    }

    @Test(
        "A new object that was saved without an identifier, and cannot be found, is left to the application; a retry seeks it and never sends it again"
    )
    func savedNowhere() async throws {
        for isIdempotent in [false, true] {
            let world = try OutboxWorld(.init(isIdempotent: isIdempotent))
            world.backend.scriptOutcomes { _ in .saved() }
            let id = try world.insert("Album", ["title": "Help!"])
            try await world.store.sendPending()
            try expect(world.store.syncState(of: id), equals: .unknown)
            try world.restart()
            let same = try world.same(id)
            for _ in 0..<2 {
                try world.store.retry(same)
                try await world.store.sendPending()
                try expect(world.store.syncState(of: same), equals: .unknown)
                expect(world.backend.saves.count, equals: 1)
            }
            // It comes into view later, as a copy that lags has it.
            world.backend.scriptOutcomes { _ in nil }
            world.backend.put("Album", 9, ["title": "Help!"])
            try world.store.retry(same)
            try await world.store.sendPending()
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
            try expect(world.store.resourceID(for: same), equals: 9)
            expect(world.backend.saves.count, equals: 1)
        }
    }

    @Test("A new object that was saved without an identifier is not taken for an equal one that was known before")
    func equalOneBefore() async throws {
        let world = try OutboxWorld(.init())
        world.backend.put("Album", 3, ["title": "Help!"])
        let old = try #require(try world.fetch("Album").first)
        world.backend.scriptOutcomes { change in change.kind == .insert ? .unknown(UnreadAnswer(NSError(domain: "Shop", code: 1))) : nil }
        let id = try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        try expect(world.store.syncState(of: id), equals: .unknown)
        world.backend.put("Album", 4, ["title": "Help!"])
        try world.update(id, ["year": 1965])
        try world.store.retry(id)
        try await world.store.sendPending()
        try expect(world.store.resourceID(for: id), equals: 4)
        try expect(world.store.resourceID(for: old), equals: 3)
        expect(world.backend.values("Album", 4)?["year"], equals: 1965)
        #expect(world.backend.values("Album", 3)?["year"]?.isNull ?? true)
    }

    @Test("A change that was accepted with an answer that cannot be used is saved, and what the backend has is read")
    func unreadAnswer() async throws {
        let world = try OutboxWorld(.init(isIdempotent: true))
        world.backend.put("Album", 1, ["title": "Help!", "year": 1])
        let id = try #require(try world.fetch("Album").first)
        world.backend.scriptOutcomes { [backend = world.backend] _ in
            backend.change("Album", 1, ["title": "HELP!"])
            return .unknown(UnreadAnswer(NSError(domain: "Shop", code: 1)))
        }
        try world.update(id, ["title": "Help"])
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
        try expect(world.text(id), equals: "HELP!")
        expect(world.backend.saves.count, equals: 1)
    }

    @Test("A new object of which a part was saved without an identifier is left to the application, with what was sent")
    func partSavedNowhere() async throws {
        let world = try OutboxWorld(.init())
        world.backend.scriptOutcomes { change in
            .refused(PartRefusal(of: change, in: "prices", saved: ["title"], because: NSError(domain: "Shop", code: 422)))
        }
        let id = try world.insert("Album", ["title": "Help!", "year": 1964])
        try await world.store.sendPending()
        try expect(world.store.syncState(of: id), equals: .unknown)
        world.backend.scriptOutcomes { _ in nil }
        try world.store.retry(id)
        try await world.store.sendPending()
        let sent = world.backend.saves.joined().filter { $0.kind == .insert }
        #expect(sent.count == 2 && sent[0].idempotencyKey == sent[1].idempotencyKey && sent[0].values == sent[1].values, "\(sent)")
        try expect(world.only()["year"], equals: 1964)
    }

    @Test("A conflict tells of itself, not of an attempt before it that failed for now")
    func conflictAfterFailure() async throws {
        let world = try OutboxWorld()
        world.backend.put("Album", 1, ["title": "Help!"])
        let id = try #require(try world.fetch("Album").first)
        try world.update(id, ["title": "mine"])
        world.backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
        try await world.store.sendPending()
        world.backend.change("Album", 1, ["title": "theirs"])
        try world.fetch("Album")
        try expect(world.store.syncState(of: id), equals: .conflicting)
        try expect(world.store.error(of: id)?.code, equals: NSManagedObjectMergeError)
        try expect(world.store.pendingChanges().map { $0.error?.code }, equals: [NSManagedObjectMergeError])
    }
}
