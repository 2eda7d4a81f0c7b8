import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import TestSupport
import Testing

@testable import RemoteStore

/// Rows that came along with others.
@Suite struct ParkedRowsTests {
    private let rows: [Row]

    init() throws {
        let note = NSEntityDescription(name: "Note")
        note.properties = [NSAttributeDescription(name: "text", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [note]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        rows = try context.performAndWait {
            let notes = (0..<2).map { _ in NSManagedObject(entity: note, insertInto: context) }
            try context.save()
            return notes.map { Row($0.objectID, version: 1) }
        }
    }

    @Test("What was asked for before a change and comes after it is not kept") func lateAnswer() {
        let parked = ParkedRows(limit: 10)
        let asked = AskTime(.zero)
        parked.park([rows[0]], at: asked)
        expect(parked.count, equals: 1)
        parked.forgetAll(before: AskTime(.zero))
        expect(parked.count, equals: 0)
        parked.park([rows[0]], at: asked)
        expect(parked.count, equals: 0)
        parked.park([rows[1]], at: AskTime(.zero))
        expect(parked.count, equals: 1)
    }

    @Test("What a feed has brought is kept, though all before it is forgotten") func answerOfFeed() {
        let parked = ParkedRows(limit: 10)
        let asked = AskTime(.zero)
        parked.forgetAll(before: asked)
        parked.park([rows[0]], at: asked)
        expect(parked.count, equals: 1)
    }
}
