// A program that saves to a store in files and ends itself before a call of the system. Only the tests use it.
//
//     file-store-writer csv|json <folder> <number of the call>
//
// It opens the store, changes the objects of both entities, adds one and removes one, and saves. It ends with 9 where it has ended itself, and
// with 0 where the save had fewer calls.

import CoreData
import FileStores
import Foundation
import Platform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

let arguments = CommandLine.arguments
guard arguments.count == 4, let last = Int(arguments[3]) else { exit(2) }

func makeModel() -> NSManagedObjectModel {
    let left = NSEntityDescription(name: "Left")
    let right = NSEntityDescription(name: "Right")
    for entity in [left, right] {
        entity.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "state", type: .integer64),
        ]
    }
    return NSManagedObjectModel(entities: [left, right])
}

do {
    let url = URL(fileURLWithPath: arguments[2])
    let description = arguments[1] == "json" ? JSONStore.description(at: url) : CSVStore.description(at: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    try coordinator.addPersistentStore(
        ofType: description.type, configurationName: nil, at: url, options: description.options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        for entity in ["Left", "Right"] {
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
            for object in objects where object.value(forKey: "name") as? String != "goes" { object.setValue(2, forKey: "state") }
            for object in objects where object.value(forKey: "name") as? String == "goes" { context.delete(object) }
            let new = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            new.setValue("new", forKey: "name")
            new.setValue(2, forKey: "state")
        }
        let count = LockedCount()
        FileCalls.processObserver.set(.init { _ in if count.next() == last { _exit(9) } })
        try context.save()
    }
} catch {
    print("error: \(error.localizedDescription)")
    exit(1)
}

/// Counts calls, which come one after the other.
final class LockedCount: @unchecked Sendable {
    // Guarded by this lock.
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}
