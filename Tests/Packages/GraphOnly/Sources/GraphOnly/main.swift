import ObjectGraph

let note = NSEntityDescription()
note.name = "Note"
let text = NSAttributeDescription()
text.name = "text"
text.attributeType = .stringAttributeType
note.properties = [text]
let model = NSManagedObjectModel()
model.entities = [note]

let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator
NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("Buy milk", forKey: "text")
try context.save()

let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
request.predicate = NSPredicate(format: "text BEGINSWITH %@", "Buy")
print(try context.fetch(request).map { $0.value(forKey: "text") as? String ?? "" })

// Which stores there are is up to who links them.
print(NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted())
do {
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: nil)
} catch let error as NSError {
    print(error.code)
}
