import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Objects that new ones with their identifiers replace") struct ReplacedObjectTests {
    /// What becomes of the new object, before the backend knows of anything.
    enum Ending: CaseIterable { case deleted, undone, dropped }

    @Test(
        "A deleted object stays deleted where the new one with its identifier is given up: a read does not show it as another one",
        arguments: Ending.allCases)
    func givenUp(_ ending: Ending) async throws {
        let world = try OutboxWorld(.init(identity: .attribute("title"), isIdempotent: true))
        let first = try world.insert("Album", ["title": "Help!", "year": 1965])
        try await world.store.sendPending()
        try world.delete(first)
        switch ending {
        case .deleted:
            for year in 1966..<1969 { try world.delete(world.insert("Album", ["title": "Help!", "year": year])) }
        case .undone:
            let context = world.coordinator.context()
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            try context.performAndWait {
                manager.beginUndoGrouping()
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                album.setValue("Help!", forKey: "title")
                manager.endUndoGrouping()
                try context.save()
                context.undo()
                try context.save()
            }
        case .dropped:
            _ = try world.store.drop(world.insert("Album", ["title": "Help!", "year": 1966]))
        }
        try expect(world.fetch("Album"), equals: [])
        try await world.store.sendPending()
        expect(world.backend.ids("Album"), equals: [])
        try expect(world.fetch("Album"), equals: [])
        try expect(world.store.pendingCount(), equals: 0, "\(world.pending)")
    }
}
