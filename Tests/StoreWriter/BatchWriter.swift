import CoreData

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

func makeContext(_ file: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: WriterModel.make())
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: file),
        options: [NSPersistentHistoryTrackingKey: NSNumber(value: true), NSPersistentStoreTimeoutOption: NSNumber(value: 30)])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
}

/// Each save inserts a batch with its items and changes the batch before it: there is much that could be there by half.
func saveForEver(_ context: NSManagedObjectContext, from first: Int64) throws {
    var number = first
    var last: NSManagedObject?
    while true {
        let batch = NSEntityDescription.insertNewObject(forEntityName: "Batch", into: context)
        let size = 1 + number * 7 % 23
        batch.setValue(number, forKey: "number")
        batch.setValue(size, forKey: "size")
        for place in 0..<size {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(number * 1000 + place, forKey: "value")
            item.setValue(String(repeating: "x", count: Int(number * 131 % 900)), forKey: "text")
            item.setValue(batch, forKey: "batch")
        }
        last?.setValue(number, forKey: "next")
        try context.save()
        report("\(number)")
        last = batch
        number += 1
    }
}

/// Counts a shared number up. What others have counted meanwhile is a conflict, after which it begins anew.
func countUp(_ context: NSManagedObjectContext, _ times: Int) throws {
    var done = 0
    var conflicts = 0
    while done < times {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
        guard let counter = try context.fetch(request).first else { exit(4) }
        context.refresh(counter, mergeChanges: false)
        let value = counter.value(forKey: "value") as? Int64 ?? 0
        counter.setValue(value + 1, forKey: "value")
        do {
            try context.save()
            done += 1
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
            guard (error.userInfo["conflictList"] as? [NSMergeConflict])?.count == 1 else { exit(5) }
            context.rollback()
            conflicts += 1
        }
    }
    report("\(conflicts)")
}
