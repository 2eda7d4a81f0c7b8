// A program that writes to a store until it is killed, or a number of times. Only the tests use it.
//
//     store-writer save <file> <first number>    saves batches for ever; tells of each on standard output once it is saved
//     store-writer count <file> <times>          counts one number up, together with others that do the same
//     store-writer archive <file> <step>         saves once to an XML or binary store, and ends before that system call of writing the file
//     store-writer conformance <name> <folder>   saves to a store of that name in a folder for ever, as the kit's test of killed processes needs it
//     store-writer fetch <milliseconds> <times>  fetches from so many stores at once that answer after a while, with one thread for all tasks
//     store-writer walk <milliseconds> <owners>  walks relationships of a remote store that answers after a while, with one thread for all tasks

import ArchiveStores
import CoreData
import StoreConformance
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tells of something at once, past every buffer that would be lost with the process.
func report(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    guard write(1, bytes, bytes.count) == bytes.count else { exit(3) }
}

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
func count(_ context: NSManagedObjectContext, _ times: Int) throws {
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
        for place in 0..<20_000 / 10 {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(place, forKey: "value")
            item.setValue(String(repeating: "x", count: 900), forKey: "text")
            item.setValue(batch, forKey: "batch")
        }
        ArchiveFile.onStep.withLock { onStep in
            onStep = { _ in if Steps.count.add(1, ordering: .relaxed).newValue == last { _exit(9) } }
        }
        try context.save()
        report("saved")
    }
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "conformance" {
    let types = ["SQLite": (NSSQLiteStoreType, "Store.sqlite"), "XML": (NSXMLStoreType, "Store"), "Binary": (NSBinaryStoreType, "Store")]
    guard let (type, file) = types[arguments[2]] else { exit(2) }
    let store = StoreUnderTest(name: type, capabilities: .everything) { place in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.directory.appendingPathComponent(file))
        return coordinator
    }
    do {
        try ConformanceChild.saveUntilKilled(to: store, in: URL(fileURLWithPath: arguments[3]))
    } catch {
        report("error: \(error)")
        exit(1)
    }
}
guard arguments.count == 4, let number = Int64(arguments[3]) else {
    report("usage: store-writer save|count <file> <number>, fetch|walk <milliseconds> <number>")
    exit(2)
}
if arguments[1] == "fetch" || arguments[1] == "walk" {
    AwaitedStore.milliseconds.withLock { $0 = Int(arguments[2]) ?? 50 }
    let done = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: OneThread()) {
        do {
            if arguments[1] == "walk" {
                try await walk(Int(number), milliseconds: Int(arguments[2]) ?? 50)
            } else {
                try await fetchAtOnce(1)
                try await fetchAtOnce(Int(number))
            }
        } catch {
            report("error: \(error)")
        }
        done.signal()
    }
    done.wait()
    exit(0)
}
if arguments[1] == "archive" {
    do { try saveArchive(arguments[2], endingAt: Int(number)) } catch {
        report("error: \(error.localizedDescription)")
        exit(1)
    }
    exit(0)
}
do {
    let context = try makeContext(arguments[2])
    try context.performAndWait {
        if arguments[1] == "count" { try count(context, Int(number)) } else { try saveForEver(context, from: number) }
    }
} catch {
    report("error: \(error.localizedDescription)")
    exit(1)
}
