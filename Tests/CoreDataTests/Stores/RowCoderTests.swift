import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Rows and changes become bytes, and the same again.
@Suite struct RowCoderTests {
    /// A store of a random model, and what its saves were.
    private static func saves(_ random: inout SeededGenerator) throws -> (store: SaveRecorder, saves: [StoreChangeSet]) {
        NSPersistentStoreCoordinator.registerStoreClass(SaveRecorder.self, forStoreType: SaveRecorder.storeType)
        let model = RandomModel(&random).model
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options = ["keepsLists": Bool.random(using: &random)]
        let store = try coordinator.addPersistentStore(
            ofType: SaveRecorder.storeType, configurationName: nil, at: nil, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        var edits = random
        try context.performAndWait {
            var objects = model.entities.flatMap { entity in (0..<4).map { _ in NSManagedObject(entity: entity, insertInto: context) } }
            for _ in 0..<3 {
                RandomModel.edit(objects, &edits)
                try context.save()
                context.delete(objects.removeFirst())
            }
            try context.save()
        }
        random = edits
        let recorder = try #require(store as? SaveRecorder)
        return (recorder, recorder.saves)
    }

    private static func differences(_ first: Row?, _ second: Row?) -> [String] {
        guard let first, let second else { return first == nil && second == nil ? [] : ["one row is missing"] }
        var found: [String] = []
        if first.objectID != second.objectID { found.append("ID") }
        if first.version != second.version { found.append("version") }
        for property in first.entity.frozen!.properties where !property.isTransient {
            let slot = first.layout.slots[property.slotIndex]
            guard first.isUnknown(at: slot) == second.isUnknown(at: slot) else {
                found.append("\(property.name) is unknown")
                continue
            }
            if first.isUnknown(at: slot) { continue }
            if let relationship = property as? NSRelationshipDescription {
                if first.relatedIDs(relationship) != second.relatedIDs(relationship) { found.append(property.name) }
                continue
            }
            let values = [first, second].map { $0.any(at: slot, of: property as? NSAttributeDescription) as? NSObject }
            let (one, other) = ("\(first.any(at: slot, of: nil) ?? "nil")", "\(second.any(at: slot, of: nil) ?? "nil")")
            if values[0] != values[1] && one.count != other.count { found.append("\(property.name): \(one) and \(other)") }
        }
        return found
    }

    private static func differences(_ first: StoreChange, _ second: StoreChange) -> [String] {
        var found = differences(first.row, second.row) + differences(first.base, second.base)
        if first.objectID != second.objectID { found.append("ID") }
        if first.entity !== second.entity { found.append("entity") }
        if Set(first.changedProperties) != Set(second.changedProperties) { found.append("changed") }
        if first.wasMissing != second.wasMissing { found.append("missing") }
        if first.lists.count != second.lists.count { found.append("lists") }
        for (one, other) in zip(first.lists, second.lists)
        where one.name != other.name || one.added != other.added || one.removed != other.removed || one.members != other.members {
            found.append("list \(one.name)")
        }
        return found
    }

    @Test func changesOfAnyModelComeBackFromBytesAsTheyWere() throws {
        let seed = TestSeed.current(for: "RowCoderTests.changesOfAnyModelComeBackFromBytesAsTheyWere")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 1.4, atLeast: 5) {
            let (store, saves) = try Self.saves(&random)
            let coder = try #require(store.coder)
            for save in saves {
                let back = try coder.changes(in: coder.data(of: save))
                for (part, other) in [
                    (save.inserted, back.inserted), (save.updated, back.updated), (save.deleted, back.deleted), (save.locked, back.locked),
                ] {
                    try #require(part.count == other.count, "seed \(seed), round \(round)")
                    for (change, twin) in zip(part, other) {
                        let found = Self.differences(change, twin)
                        #expect(found.isEmpty, "seed \(seed), round \(round): \(found) of \(change.entity)")
                    }
                }
            }
        }
    }

    @Test func rowsOfChangesAreEncodedInPiecesAndCountedWithoutDeletions() throws {
        let seed = TestSeed.current(for: "RowCoderTests.rowsOfChangesAreEncodedInPiecesAndCountedWithoutDeletions")
        var random = SeededGenerator(seed: seed)
        let (store, saves) = try Self.saves(&random)
        let coder = try #require(store.coder)
        let changes = saves.flatMap { $0.inserted + $0.updated + $0.deleted }
        var bytes = ByteWriter()
        var (start, count) = (0, 0)
        while start < changes.count {
            let piece = try coder.encodeRows(of: changes, from: start, upTo: bytes.count + 200, into: &bytes)
            #expect(piece.end > start)
            (start, count) = (piece.end, count + piece.rowCount)
        }
        let rows = changes.compactMap(\.row)
        expect(count, equals: rows.count, "seed \(seed)")
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            for row in rows {
                let decoded = try coder.decodeRow(from: &reader)
                expect(Self.differences(row, decoded), equals: [], "seed \(seed)")
            }
        }
    }

    @Test func whateverIsAlteredOrCutGivesAnError() throws {
        let seed = TestSeed.current(for: "RowCoderTests.whateverIsAlteredOrCutGivesAnError")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 0.4, atLeast: 3) {
            let (store, saves) = try Self.saves(&random)
            let coder = try #require(store.coder)
            for save in saves {
                let whole = try coder.data(of: save)
                for _ in 0..<20 {
                    var data = whole
                    let place = Int.random(in: 0..<data.count, using: &random)
                    data[place] ^= UInt8.random(in: 1...255, using: &random)
                    #expect(failure { _ = try coder.changes(in: data) } != nil, "seed \(seed), round \(round): byte \(place) was altered")
                    let cut = whole.prefix(Int.random(in: 0..<whole.count, using: &random))
                    #expect(failure { _ = try coder.changes(in: Data(cut)) } != nil, "seed \(seed), round \(round): cut to \(cut.count)")
                }
            }
        }
    }

    /// Without the checksum, so that altered bytes get to the decoder: it may find other values, and nothing worse.
    @Test func theDecoderTakesWhateverBytesThereAre() throws {
        let seed = TestSeed.current(for: "RowCoderTests.theDecoderTakesWhateverBytesThereAre")
        var random = SeededGenerator(seed: seed)
        var errors = 0
        for _ in TestRounds(seconds: 0.5, atLeast: 3) {
            let (store, saves) = try Self.saves(&random)
            let coder = try #require(store.coder)
            for save in saves {
                var writer = ByteWriter()
                try coder.encode(save, into: &writer)
                let whole = [UInt8](writer.data)
                for _ in 0..<200 {
                    var bytes = whole
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                    }
                    if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
                    bytes.withUnsafeBytes { bytes in
                        var reader = ByteReader(bytes)
                        do { _ = try coder.decodeChanges(from: &reader) } catch { errors += 1 }
                        #expect(reader.remaining >= 0, "seed \(seed)")
                    }
                }
            }
        }
        #expect(errors > 0, "seed \(seed)")
    }

    @Test func bytesOfAnotherModelAreRefused() throws {
        var random = SeededGenerator(seed: 7)
        let (first, saves) = try Self.saves(&random)
        let data = try first.coder.data(of: try #require(saves.first))
        let (second, _) = try Self.saves(&random)
        #expect(first.coder.fingerprint != second.coder.fingerprint)
        expect(failure { _ = try second.coder.changes(in: data) }?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func aRowKeepsWhatItDoesNotKnow() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SaveRecorder.self, forStoreType: SaveRecorder.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(ofType: SaveRecorder.storeType, configurationName: nil, at: nil)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Album"])
        let row = Row(store.objectID(for: entity, "key"), version: 3)
        let title = try #require(entity.attributesByName["title"])
        row.setUnknown(title)
        for relationship in entity.relationshipsByName.values { row.setUnknown(relationship) }
        let coder = RowCoder(for: store)
        var bytes = ByteWriter()
        try coder.encode(row, into: &bytes)
        let back = try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try coder.decodeRow(from: &reader)
        }
        #expect(back.isUnknown(title))
        #expect(entity.relationshipsByName.values.allSatisfy(back.isUnknown))
        #expect(Self.differences(row, back).isEmpty)
    }
}

/// A store on the interface that remembers what it was told to save.
final class SaveRecorder: NSPersistentStore, StoreInterface, @unchecked Sendable {
    static let storeType = "SaveRecorder"
    // Used by one context, one call at a time.
    private(set) var saves: [StoreChangeSet] = []
    private var stored: StoredRows!
    private(set) var coder: RowCoder!

    override func loadMetadata() throws {
        stored = StoredRows(for: self)
        coder = RowCoder(for: self)
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.storeType]
    }

    var hasRowsInMemory: Bool { true }
    var rowsContainLists: Bool { options?["keepsLists"] as? Bool ?? true }
    private var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer { try stored.answer(query) }
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] { stored.rows(with: ids) }
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        if rowsContainLists { return stored.related(by: relationship, from: ids) }
        return Dictionary(ids.map { ($0, lists[$0]?[relationship.name] ?? []) }, uniquingKeysWith: { first, _ in first })
    }
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] { stored.makeIDs(for: new) }
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        saves.append(changes)
        try stored.checkConflicts(changes)
        stored.apply(changes)
        for change in changes.inserted + changes.updated {
            for list in change.lists {
                let known = lists[change.objectID]?[list.name] ?? []
                let removed = Set(list.removed)
                lists[change.objectID, default: [:]][list.name] = list.members ?? known.filter { !removed.contains($0) } + list.added
            }
        }
        return SaveOutcome()
    }
}
