import CoreData
import Foundation

/// Versions of a model of items in batches.
enum MigrationVersions {
    /// What a version changes in the first one.
    enum Change {
        case none
        /// An optional number becomes required, with a default value: in place.
        case filled
        /// A number becomes a floating-point number, whose column is of another type, and a text is renamed: into a copy.
        case copied
    }

    static func model(_ change: Change) -> NSManagedObjectModel {
        let (batch, item) = (NSEntityDescription(name: "Batch"), NSEntityDescription(name: "Item"))
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true)
        let owner = NSRelationshipDescription(name: "batch", destination: batch)
        items.inverse(to: owner)
        batch.properties = [NSAttributeDescription(name: "number", type: .integer64), items]
        let label = NSAttributeDescription(name: change == .copied ? "label" : "text", type: .string)
        if change == .copied { label.renamingIdentifier = "text" }
        item.properties = [
            NSAttributeDescription(name: "value", type: change == .copied ? .double : .integer64), label,
            NSAttributeDescription(
                name: "more", type: .integer32, isOptional: change != .filled, defaultValue: change == .filled ? 7 : nil),
            owner,
        ]
        return NSManagedObjectModel(entities: [batch, item])
    }

    /// Makes a store of the first version with items, a thousand in each batch.
    static func fill(_ url: URL, count: Int) throws {
        let (context, store) = try open(url, model(.none))
        try context.performAndWait {
            for start in stride(from: 0, to: count, by: 20_000) {
                var batch: NSManagedObject?
                for number in start..<min(count, start + 20_000) {
                    if number % 1000 == 0 {
                        batch = NSEntityDescription.insertNewObject(forEntityName: "Batch", into: context)
                        batch?.setValue(number / 1000, forKey: "number")
                    }
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue(number * 3, forKey: "value")
                    item.setValue("text of the row number \(number)", forKey: "text")
                    item.setValue(batch, forKey: "batch")
                }
                try context.save()
                context.reset()
            }
        }
        try close(context, store)
        // The log goes into the file, which is copied for each round.
        try RawConnection(url.path).execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE")
    }

    static func open(
        _ url: URL, _ model: NSManagedObjectModel, migrating: Bool = false
    ) throws -> (NSManagedObjectContext, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] =
            migrating ? [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true] : [:]
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    static func close(_ context: NSManagedObjectContext, _ store: NSPersistentStore) throws {
        try context.persistentStoreCoordinator?.remove(store)
    }

    /// A bundle of many versions, each with one attribute more than the one before, and a store of the last but one.
    static func bundle(_ versions: Int, entities: Int, in folder: URL) throws -> (bundle: URL, store: URL) {
        let bundle = folder.appendingPathComponent("Many.xcdatamodeld")
        let store = folder.appendingPathComponent("many.sqlite")
        for version in 1...versions {
            let all = (0..<entities).map { number in
                NSEntityDescription(
                    name: "Entity\(number)",
                    properties: (0..<(number == 0 ? 8 + version : 8)).map {
                        NSAttributeDescription(name: "value\($0)", type: $0 % 2 == 0 ? .string : .integer64)
                    })
            }
            let model = NSManagedObjectModel(entities: all)
            try model.write(toXCDataModel: bundle.appendingPathComponent("Many \(version).xcdatamodel"))
            guard version == versions - 1 else { continue }
            let opened = try open(store, model)
            try close(opened.0, opened.1)
            try RawConnection(store.path).execute("PRAGMA journal_mode=DELETE")
        }
        try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "Many \(versions).xcdatamodel"], format: .xml, options: 0
        ).write(to: bundle.appendingPathComponent(".xccurrentversion"))
        return (bundle, store)
    }
}
