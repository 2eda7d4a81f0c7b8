import ArchiveStores
import CoreData
import Platform
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The number of system calls so far.
enum Steps {
    static let count = Atomic(0)
}

/// Saves one batch to a store that is written as a whole, and ends the process before a system call of doing so.
func saveArchive(_ file: String, endingAt last: Int) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: WriterModel.make())
    try coordinator.addPersistentStore(
        ofType: file.hasSuffix(".xml") ? NSXMLStoreType : NSBinaryStoreType, configurationName: nil, at: URL(fileURLWithPath: file))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        let number = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Batch"))
        let batch = NSEntityDescription.insertNewObject(forEntityName: "Batch", into: context)
        batch.setValue(number, forKey: "number")
        for place in 0..<200 {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(place, forKey: "value")
            item.setValue(String(repeating: "x", count: 90), forKey: "text")
            item.setValue(batch, forKey: "batch")
        }
        // The file of some 30 kB takes several system calls.
        ArchiveFile.bufferSize.withLock { $0 = 1 << 12 }
        FileCalls.processObserver.set(.init { _ in if Steps.count.add(1, ordering: .relaxed).newValue == last { _exit(9) } })
        try context.save()
        report("saved")
    }
}
