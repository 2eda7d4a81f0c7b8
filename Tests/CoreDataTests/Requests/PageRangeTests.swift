import CoreData
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// Limits and offsets of any size, as users and services give them.
@Suite struct PageRangeTests {
    private static let sizes = [Int.min, -1, 0, 1, 2, 5, 1 << 60, Int.max - 1, Int.max]

    private static func context(_ types: [String], in pad: Scratchpad) throws -> NSManagedObjectContext {
        let number = NSAttributeDescription(name: "number", type: .integer64)
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Thing", properties: [number])])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for (index, type) in types.enumerated() {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: pad.url.appendingPathComponent("\(index).store"))
        }
        return Music.context(coordinator)
    }

    @Test(arguments: [
        [NSInMemoryStoreType], [NSSQLiteStoreType], [NSXMLStoreType], [NSSQLiteStoreType, NSInMemoryStoreType],
    ])
    func everyLimitAndOffsetIsAnswered(types: [String]) throws {
        let pad = try Scratchpad()
        let parent = try Self.context(types, in: pad)
        try parent.performAndWait {
            for number in 0..<4 {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: parent)
                thing.setValue(number, forKey: "number")
                parent.assign(thing, to: parent.persistentStoreCoordinator!.persistentStores[number % types.count])
            }
            try parent.save()
        }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        for context in [parent, child] {
            try context.performAndWait {
                let unsaved = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                unsaved.setValue(4, forKey: "number")
                if context === parent { parent.assign(unsaved, to: parent.persistentStoreCoordinator!.persistentStores[0]) }
                for limit in Self.sizes {
                    for offset in Self.sizes {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
                        (request.fetchLimit, request.fetchOffset) = (limit, offset)
                        let rest = Array(0..<5).dropFirst(min(max(0, offset), 5))
                        let expected = limit > 0 ? Array(rest.prefix(limit)) : Array(rest)
                        let found = try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
                        expect(found, equals: expected, "limit \(limit), offset \(offset)")
                        try expect(context.count(for: request), equals: expected.count, "limit \(limit), offset \(offset)")
                    }
                }
                context.delete(unsaved)
            }
        }
    }
}
