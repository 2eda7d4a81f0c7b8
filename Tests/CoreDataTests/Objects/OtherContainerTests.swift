import CoreData
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// IDs and objects of one container in another that has the same file open.
@Suite("Two containers over one file") struct OtherContainerTests {
    private let place: Scratchpad

    init() throws { place = try Scratchpad() }

    /// Two coordinators over one file, of one model or of two that are equal.
    private func contexts(sharingModel: Bool) throws -> (NSManagedObjectContext, NSManagedObjectContext) {
        let model = Music.model()
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        return (
            try place.context(model, options: options), try place.context(sharingModel ? model : Music.model(), options: options)
        )
    }

    @Test("An ID of the one finds its object in the other", arguments: [true, false])
    func ids(sharingModel: Bool) throws {
        let (first, second) = try contexts(sharingModel: sharingModel)
        let id = try first.performAndWait { try first.saveBand("Low", albums: ["Trust"]).objectID }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = second
        for context in [second, child] {
            try context.performAndWait {
                let band = try #require(try context.existingObject(with: id) as? Band)
                expect(band.name, equals: "Low")
                #expect(context.object(with: id) === band)
                #expect(context.registeredObject(for: id) === band)
                #expect(band.objectID.persistentStore?.persistentStoreCoordinator === second.persistentStoreCoordinator)
                expect(try context.all(Band.self).map(\.objectID), equals: [band.objectID])
            }
        }
        try second.performAndWait {
            let band = try #require(second.object(with: id) as? Band)
            band.name = "High"
            try second.save()
        }
        try first.performAndWait {
            first.refreshAllObjects()
            try expect((first.existingObject(with: id) as? Band)?.name, equals: "High")
        }
    }

    @Test("Predicates with an ID or an object of the other find the same rows", arguments: [true, false])
    func predicates(sharingModel: Bool) throws {
        let (first, second) = try contexts(sharingModel: sharingModel)
        let (id, object) = try first.performAndWait {
            let band = try first.saveBand("Low", albums: ["Trust", "Secret"])
            try first.saveBand("Other", albums: ["Else"])
            return (band.objectID, band)
        }
        try second.performAndWait {
            func titles(_ format: String, _ argument: Any) throws -> [String] {
                let request = NSFetchRequest<Album>()
                request.predicate = NSPredicate(format: format, argumentArray: [argument])
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                return try second.fetch(request).map(\.title)
            }
            for (format, argument) in [
                ("band == %@", id), ("band == %@", object), ("band IN %@", [id]), ("band IN %@", Set([object])),
                ("band.albums.band CONTAINS %@", id),
            ] as [(String, Any)] {
                try expect(titles(format, argument), equals: ["Secret", "Trust"], "\(format) \(argument)")
            }
            let own = NSFetchRequest<Band>()
            own.predicate = NSPredicate(format: "SELF == %@", id)
            try expect(second.fetch(own).map(\.name), equals: ["Low"])
        }
    }

    @Test("Batches, merges and history name objects of the other, too", arguments: [true, false])
    func batches(sharingModel: Bool) throws {
        let (first, second) = try contexts(sharingModel: sharingModel)
        let ids = try first.performAndWait {
            [try first.saveBand("Low").objectID, try first.saveBand("High").objectID, try first.saveBand("Middle").objectID]
        }
        let band = try second.performAndWait { try #require(try second.existingObject(with: ids[0]) as? Band) }
        try first.performAndWait {
            (first.object(with: ids[0]) as? Band)?.name = "Lower"
            try first.save()
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ids[0]]], into: [second])
        second.performAndWait { expect(band.name, equals: "Lower") }
        try second.performAndWait {
            let request = NSBatchDeleteRequest(objectIDs: [ids[1]])
            request.resultType = .resultTypeCount
            expect((try second.execute(request) as? NSBatchDeleteResult)?.result as? Int, equals: 1)
            try expect(second.all(Band.self, nil, by: "name").map(\.name), equals: ["Lower", "Middle"])
            let change = NSPersistentHistoryChange.fetchRequest
            change?.predicate = NSPredicate(format: "changedObjectID == %@", ids[2])
            let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: try #require(change))
            history.resultType = .changesOnly
            let found = (try second.execute(history) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryChange]
            expect(found?.count, equals: 1)
        }
    }

    @Test("An ID of another store stays one that cannot be read")
    func otherStore() throws {
        let first = try place.context(Music.model())
        let id = try first.performAndWait { try first.saveBand("Low").objectID }
        let other = try Scratchpad()
        let second = try other.context(Music.model())
        second.performAndWait {
            let error = failure { _ = try second.existingObject(with: id) }
            expect(error?.code, equals: NSManagedObjectReferentialIntegrityError)
            #expect(second.object(with: id).objectID === id)
        }
    }
}
