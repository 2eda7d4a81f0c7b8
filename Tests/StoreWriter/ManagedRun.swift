import CoreData
import Synchronization
import WriterVersions

/// Migrates a store by a migration manager and a policy into one beside it, and tells how many rows it has made.
func migrateByManager(_ file: String) throws {
    let (old, new) = (WriterVersions.model("first"), WriterVersions.model("copied"))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    for entity in mapping.entityMappings where entity.destinationEntityName == "Item" {
        entity.entityMigrationPolicyClassName = "WriterPolicy"
    }
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
        from: URL(fileURLWithPath: file), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
        toDestinationURL: URL(fileURLWithPath: file + ".new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
    WriterPolicy.tell()
}

/// Changes a value of each object, and counts the objects, also those of a batch that is lost with the process.
final class WriterPolicy: NSEntityMigrationPolicy {
    private static let made = Atomic(0)

    static func tell() { report("\(made.load(ordering: .relaxed))") }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let object = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        object?.setValue((sInstance.value(forKey: "text") as? String)?.uppercased(), forKey: "label")
        if Self.made.add(1, ordering: .relaxed).newValue % 500 == 0 { Self.tell() }
    }
}
