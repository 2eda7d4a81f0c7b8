import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import PropertyLists
@testable import SQLQueries
@testable import SQLiteStore

/// What the history of a store tells.
@Suite struct HistoryTests {
    static var tracked: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: NSNumber(value: true)] }

    /// The transactions of a request.
    static func transactions(
        _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    static func all(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
        try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
    }

    @Test func eachSaveIsATransactionWithItsAuthorContextAndChanges() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            let start = Date()
            context.transactionAuthor = "importer"
            context.name = "background"
            let band = try context.saveBand("Can", albums: ["Tago Mago"])
            context.transactionAuthor = nil
            band.name = "CAN"
            try context.save()
            let album = try #require(band.albums.first)
            context.delete(album)
            try context.save()

            let history = try Self.all(context)
            expect(history.map(\.author), equals: ["importer", nil, nil])
            expect(history.map(\.contextName), equals: ["background", "background", "background"])
            expect(history.map(\.transactionNumber), equals: [1, 2, 3])
            #expect(history.allSatisfy { $0.timestamp >= start && $0.timestamp <= Date() })
            #expect(history.allSatisfy { $0.processID == ProcessInfo.processInfo.processName && !$0.bundleID.isEmpty })
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            #expect(history.allSatisfy { $0.storeID == store.identifier })
            // With its time as the package writes dates, and reads them.
            #expect(history.allSatisfy { $0.description.contains(": \(DateText.text($0.timestamp)), author") })
            let first = try #require(history[0].changes)
            expect(Set(first.map(\.changedObjectID)), equals: [band.objectID, album.objectID])
            #expect(first.allSatisfy { $0.changeType == .insert && $0.updatedProperties == nil && $0.tombstone == nil })
            #expect(first.allSatisfy { $0.transaction?.transactionNumber == 1 })
            let second = try #require(history[1].changes)
            expect(second.map(\.changedObjectID), equals: [band.objectID])
            expect(second.map(\.changeType), equals: [.update])
            expect(second[0].updatedProperties?.map(\.name), equals: ["name"])
            let third = Dictionary(uniqueKeysWithValues: try #require(history[2].changes).map { ($0.changedObjectID, $0) })
            expect(third[album.objectID]?.changeType, equals: .delete)
            expect(third[band.objectID]?.changeType, equals: .update)
            expect(third[band.objectID]?.updatedProperties?.map(\.name), equals: ["albums"])
            expect(third.count, equals: 2)
        }
    }

    @Test func theTablesAreThoseOfCoreData() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            context.transactionAuthor = "me"
            let band = try context.saveBand("Can")
            band.name = "CAN"
            try context.save()
        }
        // The bundle and the process may have one name, which stands there once.
        let texts = Set(["me", Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent ?? "me"])
            .union([ProcessInfo.processInfo.processName])
        try expect(
            pad.texts("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1"),
            equals: [
                ["16001", "CHANGE", "0", "2"], ["16002", "TRANSACTION", "0", "2"], ["16003", "TRANSACTIONSTRING", "0", "\(texts.count)"],
            ])
        let band = try #require(try pad.texts("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Band'")[0][0])
        try expect(
            pad.texts(
                "SELECT Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS IS NULL FROM ACHANGE ORDER BY 1"),
            equals: [
                ["1", "16001", nil, "0", band, "1", "1", "1"], ["2", "16001", nil, "1", band, "1", "2", "0"],
            ])
        try expect(
            pad.texts("SELECT ZAUTHOR, ZBUNDLEID, ZCONTEXTNAME, ZPROCESSID, ZCONTEXTNAMETS, ZAUTHORTS FROM ATRANSACTION LIMIT 1"),
            equals: [
                [nil, nil, nil, nil, nil, "1"]
            ])
        try expect(pad.texts("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = 1"), equals: [["me"]])
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }

    @Test func aTokenIsArchivedAndAsksForWhatCameAfterIt() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            _ = try context.saveBand("a")
            let coordinator = try #require(context.persistentStoreCoordinator)
            let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
            _ = try context.saveBand("b")
            _ = try context.saveBand("c")
            let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
            let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
            expect(copy, equals: token)
            let later = try Self.transactions(.fetchHistory(after: copy), context)
            expect(later.map(\.transactionNumber), equals: [2, 3])
            expect(later.last?.token, equals: coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
            try expect(Self.transactions(.fetchHistory(after: later[0]), context).map(\.transactionNumber), equals: [3])
            try expect(Self.transactions(.fetchHistory(after: later[0].timestamp), context).map(\.transactionNumber), equals: [3])
            #expect(try Self.transactions(.fetchHistory(after: Date.distantFuture), context).isEmpty)
        }
    }

    @Test func eachKindOfResultIsAnswered() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            let band = try context.saveBand("a")
            band.name = "b"
            try context.save()
            func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                request.resultType = type
                return (try context.execute(request) as? NSPersistentHistoryResult)?.result
            }
            try expect(result(.statusOnly) as? Bool, equals: true)
            try expect(result(.count) as? Int, equals: 2)
            try expect(result(.objectIDs) as? [NSManagedObjectID], equals: [band.objectID])
            let bare = try result(.transactionsOnly) as? [NSPersistentHistoryTransaction]
            expect(bare?.count, equals: 2)
            expect(bare?.allSatisfy { $0.changes == nil }, equals: true)
            expect((try result(.changesOnly) as? [NSPersistentHistoryChange])?.map(\.changeType), equals: [.insert, .update])
            expect((try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])?.map { $0.changes?.count }, equals: [1, 1])
        }
    }

    @Test func aFetchRequestChoosesTransactionsAndChanges() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            context.transactionAuthor = "app"
            let band = try context.saveBand("a", albums: ["x"])
            context.transactionAuthor = "sync"
            band.name = "b"
            try context.save()
            let ofAuthor = try #require(NSPersistentHistoryTransaction.fetchRequest)
            ofAuthor.predicate = NSPredicate(format: "author != %@", "app")
            let chosen = try Self.transactions(.fetchHistory(withFetch: ofAuthor), context)
            expect(chosen.map(\.author), equals: ["sync"])
            expect(chosen[0].changes?.count, equals: 1)

            let ofBand = try #require(NSPersistentHistoryChange.fetchRequest)
            ofBand.predicate = NSPredicate(format: "changedObjectID == %@", band.objectID)
            ofBand.sortDescriptors = [NSSortDescriptor(key: "changeID", ascending: false)]
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: ofBand)
            request.resultType = .changesOnly
            let changes = try #require((try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryChange])
            expect(changes.map(\.changeType), equals: [.update, .insert])

            let wrong = try #require(NSPersistentHistoryTransaction.fetchRequest)
            wrong.predicate = NSPredicate(format: "writer == 'app'")
            #expect(failure { _ = try Self.transactions(.fetchHistory(withFetch: wrong), context) } != nil)
        }
    }

    @Test func deletingHistoryLeavesWhatCameLaterAndMakesOlderTokensExpire() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            for name in ["a", "b", "c", "d"] { _ = try context.saveBand(name) }
            let history = try Self.all(context)
            try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: nil as NSPersistentHistoryToken?))
            try expect(Self.all(context).count, equals: 4)
            let request = NSPersistentHistoryChangeRequest.deleteHistory(before: history[2])
            request.resultType = .count
            expect((try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int, equals: 2)
            try expect(Self.all(context).map(\.transactionNumber), equals: [3, 4])
            try expect(pad.texts("SELECT count(*) FROM ACHANGE"), equals: [["2"]])
            // Nothing is missing after the second.
            try expect(Self.transactions(.fetchHistory(after: history[1].token), context).count, equals: 2)
            let expired = failure { _ = try Self.transactions(.fetchHistory(after: history[0].token), context) }
            expect(expired?.code, equals: NSPersistentHistoryTokenExpiredError)
            try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
            #expect(try Self.all(context).isEmpty)
            #expect(try Self.transactions(.fetchHistory(after: history[3].token), context).isEmpty)
            _ = try context.saveBand("e")
            try expect(Self.transactions(.fetchHistory(after: history[3].token), context).map(\.transactionNumber), equals: [5])
            let unknown = NSPersistentHistoryToken([history[0].storeID: 99])
            expect(
                failure { _ = try Self.transactions(.fetchHistory(after: unknown), context) }?.code,
                equals: NSPersistentHistoryTokenExpiredError)
        }
    }

    @Test func deletedObjectsLeaveTheValuesThatTheirAttributesPreserve() throws {
        let pad = try Scratchpad()
        let attributes: [(String, NSAttributeDescription.AttributeType)] = [
            ("uuid", .uuid), ("title", .string), ("when", .date), ("price", .decimal), ("lost", .string), ("nothing", .string),
        ]
        let note = NSEntityDescription(
            name: "Note",
            properties: attributes.map { name, type in
                let attribute = NSAttributeDescription(name: name, type: type)
                attribute.preservesValueInHistoryOnDeletion = name != "lost"
                return attribute
            })
        let context = try pad.context(NSManagedObjectModel(entities: [note]), options: Self.tracked)
        try context.performAndWait {
            let uuid = UUID()
            let object = context.insert(
                "Note",
                [
                    "uuid": uuid, "title": "t", "when": Date(timeIntervalSinceReferenceDate: 1), "price": Decimal(string: "1.25")!,
                    "lost": "l",
                ])
            try context.save()
            context.delete(object)
            try context.save()
            let change = try #require(try Self.all(context).last?.changes?.first)
            let tombstone = try #require(change.tombstone)
            expect(Set(tombstone.keys), equals: ["uuid", "title", "when", "price"])
            expect(tombstone["uuid"] as? UUID, equals: uuid)
            expect(tombstone["title"] as? String, equals: "t")
            expect(tombstone["when"] as? Date, equals: Date(timeIntervalSinceReferenceDate: 1))
            expect(
                (tombstone["price"] as? NSDecimalNumber)?.decimalValue ?? tombstone["price"] as? Decimal, equals: Decimal(string: "1.25"))
        }
    }

    @Test func batchRequestsWriteHistory() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: Self.tracked)
        try context.performAndWait {
            context.transactionAuthor = "batch"
            try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "a"], ["label": "b"], ["label": "c"]]))
            let update = NSBatchUpdateRequest(entityName: "Tag")
            update.predicate = NSPredicate(format: "label != 'a'")
            update.propertiesToUpdate = ["label": "z"]
            try context.execute(update)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")
            fetch.predicate = NSPredicate(format: "label == 'a'")
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            let history = try Self.all(context)
            expect(history.map(\.author), equals: ["batch", "batch", "batch"])
            expect(history.map { $0.changes?.map(\.changeType) }, equals: [[.insert, .insert, .insert], [.update, .update], [.delete]])
            expect(history[1].changes?.allSatisfy { $0.updatedProperties?.map(\.name) == ["label"] }, equals: true)
        }
    }

    @Test func aSaveThatFailsWritesNoHistory() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model(), options: Self.tracked)
        let second = try pad.context(Music.model(), options: Self.tracked)
        let band = try first.performAndWait { try first.saveBand("a") }
        try second.performAndWait {
            try #require(try second.all(Band.self).first).name = "b"
            try second.save()
        }
        try first.performAndWait {
            band.name = "c"
            expect(failure { try first.save() }?.code, equals: NSManagedObjectMergeError)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
            let history = try Self.all(first)
            expect(history.map { $0.changes?.map(\.changeType) }, equals: [[.insert], [.update], [.update]])
        }
    }

    @Test func aContextOfAnotherCoordinatorMergesTheHistory() throws {
        let pad = try Scratchpad()
        let writer = try pad.context(Music.model(), options: Self.tracked)
        let reader = try pad.context(Music.model(), options: Self.tracked)
        let bands = try writer.performAndWait { try ["a", "b"].map { try writer.saveBand($0) } }
        let shown = try reader.performAndWait { try reader.all(Band.self, nil, by: "name") }
        let start = try #require(reader.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
        try writer.performAndWait {
            bands[0].name = "A"
            writer.delete(bands[1])
            try writer.saveBand("c")
        }
        try reader.performAndWait {
            expect(shown.map(\.name), equals: ["a", "b"])
            for transaction in try Self.transactions(.fetchHistory(after: start), reader) {
                reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            expect(shown[0].name, equals: "A")
            #expect(shown[1].managedObjectContext == nil || shown[1].isDeleted)
            try expect(reader.all(Band.self, nil, by: "name").map(\.name), equals: ["A", "c"])
        }
    }

    @Test func aStoreWithAHistoryGoesOnKeepingItWhoeverOpensIt() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model(), options: Self.tracked)
        try first.performAndWait { _ = try first.saveBand("a") }
        let second = try pad.context(Music.model())
        try second.performAndWait {
            _ = try second.saveBand("b")
            try expect(Self.all(second).count, equals: 2)
        }
        let reader = try pad.context(Music.model(), options: [NSReadOnlyPersistentStoreOption: true])
        let known = try reader.performAndWait { try Self.all(reader) }
        expect(known.count, equals: 2)
    }

    @Test func aStoreWithoutAHistorySaysSo() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            _ = try context.saveBand("a")
            expect(failure { _ = try Self.all(context) }?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil) == nil)
        }
        #expect(try pad.texts("SELECT name FROM sqlite_master WHERE name LIKE 'A%'").isEmpty)
    }
}
