import CoreData
import Foundation

/// Saves a note in a SQLite store at a URL, and returns what another coordinator reads there.
public func savedNotes(at url: URL) throws -> [String] {
    func makeContext() throws -> NSManagedObjectContext {
        let note = NSEntityDescription()
        note.name = "Note"
        let text = NSAttributeDescription()
        text.name = "text"
        text.attributeType = .stringAttributeType
        note.properties = [text]
        let model = NSManagedObjectModel()
        model.entities = [note]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        // By its type alone: nobody here names the class of the store.
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }
    let writer = try makeContext()
    try writer.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: writer).setValue("Buy milk", forKey: "text")
        try writer.save()
    }
    let reader = try makeContext()
    return try reader.performAndWait {
        try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).map { $0.value(forKey: "text") as? String ?? "" }
    }
}
