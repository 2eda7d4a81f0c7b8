import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Several contexts, coordinators and processes on one file.
@Suite struct SQLiteSharingTests {
    @Test func whatAnotherCoordinatorSavesIsSeenByTheNextFetchAndRefresh() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model())
        let second = try pad.context(Music.model())
        try first.performAndWait { _ = try first.saveBand("Cluster", albums: ["Zuckerzeit"]) }
        try second.performAndWait {
            let band = try #require(try second.all(Band.self).first)
            expect(band.name, equals: "Cluster")
            band.name = "Kluster"
            try second.save()
        }
        try first.performAndWait {
            let band = try #require(try first.all(Band.self).first)
            expect(band.name, equals: "Cluster")
            first.refresh(band, mergeChanges: false)
            expect(band.name, equals: "Kluster")
            try expect(first.all(Band.self, "name == 'Kluster'").count, equals: 1)
        }
    }

    @Test func aRefreshShowsWhatAnotherCoordinatorHasSavedAlsoWhileManyFaultsFire() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model())
        let second = try pad.context(Music.model())
        let bands = try first.performAndWait { try (0..<30).map { try first.saveBand("\($0)") } }
        try second.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Band")
            request.resultType = .managedObjectIDResultType
            // One at a time: together they would be read at once.
            let shown = try second.fetch(request).map { second.object(with: $0) }
            for band in shown { _ = band.value(forKey: "name") }
            try first.performAndWait {
                for band in bands { band.name += "!" }
                try first.save()
            }
            second.refresh(shown[0], mergeChanges: false)
            expect((shown[0].value(forKey: "name") as? String)?.last, equals: "!")
        }
    }

    @Test func aRowThatAnotherCoordinatorHasChangedIsAConflictWithBothSnapshots() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model())
        let second = try pad.context(Music.model())
        let band = try first.performAndWait { try first.saveBand("Cluster") }
        try second.performAndWait {
            let band = try #require(try second.all(Band.self).first)
            band.name = "Kluster"
            try second.save()
        }
        try first.performAndWait {
            band.name = "Qluster"
            let error = try #require(failure { try first.save() })
            expect(error.code, equals: NSManagedObjectMergeError)
            let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
            expect(conflict.objectSnapshot?["name"] as? String, equals: "Cluster")
            expect(conflict.persistedSnapshot?["name"] as? String, equals: "Kluster")
            expect(conflict.oldVersionNumber, equals: 1)
            expect(conflict.newVersionNumber, equals: 2)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
        }
        try expect(pad.texts("SELECT ZNAME, Z_OPT FROM ZBAND"), equals: [["Qluster", "3"]])
    }

    @Test func aRowThatAnotherCoordinatorHasDeletedOrChangedIsAConflictOfADeletion() throws {
        let pad = try Scratchpad()
        let first = try pad.context(Music.model())
        let second = try pad.context(Music.model())
        let bands = try first.performAndWait { try ["a", "b", "c"].map { try first.saveBand($0) } }
        try second.performAndWait {
            let bands = try second.all(Band.self, nil, by: "name")
            second.delete(bands[0])
            bands[1].name = "B"
            try second.save()
        }
        try first.performAndWait {
            for band in bands { first.delete(band) }
            let error = try #require(failure { try first.save() })
            let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
            expect(Set(conflicts.map(\.newVersionNumber)), equals: [0, 2])
        }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND ORDER BY 1"), equals: [["B"], ["c"]])
    }

    @Test func aSaveThatFailsLeavesTheFileAsItWas() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: [NSPersistentStoreTimeoutOption: 0.05])
        try context.performAndWait { _ = try context.saveBand("Cluster") }
        let other = try SQLiteFiles.connectForWriting(pad.store, timeout: 1, creates: false)
        try other.execute("BEGIN IMMEDIATE")
        try context.performAndWait {
            let band = try #require(try context.all(Band.self).first)
            band.name = "Kluster"
            let busy = try #require(failure { try context.save() })
            expect(busy.code, equals: NSPersistentStoreTimeoutError)
            expect(busy.userInfo[NSSQLiteErrorDomain] as? Int, equals: 5)
            try other.execute("ROLLBACK")
            try context.save()
        }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND"), equals: [["Kluster"]])
    }

    @Test func twoRowsMayExchangeTheirUniqueValues() throws {
        let pad = try Scratchpad()
        let model = { () -> NSManagedObjectModel in
            let seat = NSEntityDescription(name: "Seat", properties: [NSAttributeDescription(name: "number", type: .integer64)])
            seat.uniquenessConstraints = [["number"]]
            return NSManagedObjectModel(entities: [seat])
        }
        let context = try pad.context(model())
        try context.performAndWait {
            let seats = (1...2).map { context.insert("Seat", ["number": $0]) }
            try context.save()
            seats[0].setValue(2, forKey: "number")
            seats[1].setValue(1, forKey: "number")
            try context.save()
            _ = context.insert("Seat", ["number": 1])
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectConstraintMergeError)
            let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
            #expect(conflict.databaseObject === seats[1])
        }
        try expect(pad.texts("SELECT Z_PK, ZNUMBER FROM ZSEAT ORDER BY 1"), equals: [["1", "2"], ["2", "1"]])
    }

    @Test func coordinatorsOnManyThreadsGiveNoKeyTwice() async throws {
        let pad = try Scratchpad()
        let coordinators = try (0..<4).map { _ in try pad.coordinator(Music.model()) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for coordinator in coordinators {
                let context = Music.context(coordinator)
                group.addTask {
                    for round in 0..<25 { try await context.perform { _ = try context.saveBand("\(round)", albums: ["a", "b"]) } }
                }
            }
            try await group.waitForAll()
        }
        try expect(pad.texts("SELECT count(*), max(Z_PK) FROM ZALBUM"), equals: [["200", "200"]])
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }
}
