import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The history of saves with so many new objects that they are recorded together.
@Suite struct LargeHistoryTests {
    private static let count = 2500

    /// Owners with ordered things.
    private static func model(isOrdered: Bool) -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing", properties: [NSAttributeDescription(name: "number", type: .integer64)])
        let owner = NSEntityDescription(name: "Owner", properties: [NSAttributeDescription(name: "name", type: .string)])
        let things = NSRelationshipDescription(name: "things", destination: thing, toMany: true)
        things.isOrdered = isOrdered
        let back = NSRelationshipDescription(name: "owner", destination: owner)
        things.inverse(to: back)
        owner.properties.append(things)
        thing.properties.append(back)
        return NSManagedObjectModel(entities: [owner, thing])
    }

    private static func changes(_ context: NSManagedObjectContext) throws -> [[NSPersistentHistoryChange]] {
        try HistoryTests.all(context).map { $0.changes ?? [] }
    }

    @Test(
        "A save of many new objects, some changed and some deleted ones is one transaction with a change of each", arguments: [true, false])
    func manyObjects(isOrdered: Bool) throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model(isOrdered: isOrdered), options: HistoryTests.tracked)
        try context.performAndWait {
            let owners = (0..<3).map { context.insert("Owner", ["name": "\($0)"]) }
            try context.save()
            owners[0].setValue("changed", forKey: "name")
            context.delete(owners[1])
            let things = (0..<Self.count).map { number in
                let thing = context.insert("Thing", ["number": number])
                thing.setValue(owners[number % 2 * 2], forKey: "owner")
                return thing
            }
            let few = (0..<3).map { context.insert("Owner", ["name": "new \($0)"]) }
            try context.save()

            let history = try Self.changes(context)
            #expect(history.map(\.count).first == 3 && history.count == 2)
            let last = try #require(history.last)
            expect(Set(last.map(\.changeID)).count, equals: last.count)
            let byObject = Dictionary(grouping: last, by: \.changedObjectID)
            #expect(byObject.values.allSatisfy { $0.count == 1 })
            for thing in things + few { expect(byObject[thing.objectID]?[0].changeType, equals: .insert) }
            expect(byObject[owners[0].objectID]?[0].changeType, equals: .update)
            expect(byObject[owners[1].objectID]?[0].changeType, equals: .delete)
            // The things of the owners have changed.
            expect(byObject[owners[2].objectID]?[0].changeType, equals: .update)
            expect(byObject.count, equals: Self.count + 3 + 3)
        }
    }

    @Test func afterASaveOfManyObjectsTheNextFewAreRecordedToo() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model(isOrdered: false), options: HistoryTests.tracked)
        try context.performAndWait {
            for round in 1...3 {
                for number in 0..<Self.count { _ = context.insert("Thing", ["number": number]) }
                try context.save()
                let one = context.insert("Thing", ["number": -round])
                try context.save()
                let last = try #require(try Self.changes(context).last)
                #expect(last.map(\.changedObjectID) == [one.objectID] && last.map(\.changeType) == [.insert])
            }
            try expect(Self.changes(context).map(\.count), equals: [Self.count, 1, Self.count, 1, Self.count, 1])
        }
    }

    @Test func aSaveOfManyObjectsThatFailsLeavesNoHistoryAndTheNextIsRecorded() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model(isOrdered: false), options: HistoryTests.tracked)
        try context.performAndWait {
            let owner = context.insert("Owner", ["name": "one"])
            try context.save()
            // Another program changes the row: the save conflicts.
            try pad.execute("UPDATE ZOWNER SET Z_OPT = Z_OPT + 1")
            owner.setValue("two", forKey: "name")
            for number in 0..<Self.count { _ = context.insert("Thing", ["number": number]) }
            #expect(throws: (any Error).self) { try context.save() }
            try expect(Self.changes(context).count, equals: 1)
            context.refresh(owner, mergeChanges: false)
            try context.save()
            try expect(Self.changes(context).map(\.count), equals: [1, Self.count])
        }
    }
}
