import CoreData
import WriterVersions

/// A store of the first version with many rows, and what must be in it whatever has happened to it since.
enum FilledStore {
    /// Fills a store. Each tenth row has no text, and a batch has a thousand rows.
    static func fill(_ file: String, rows: Int) throws {
        let context = try open(file, WriterVersions.model("first"))
        try context.performAndWait {
            for start in stride(from: 0, to: rows, by: 20_000) {
                var batch: NSManagedObject?
                for number in start..<min(rows, start + 20_000) {
                    if number % 1000 == 0 {
                        batch = NSEntityDescription.insertNewObject(forEntityName: "Batch", into: context)
                        batch?.setValue(number / 1000, forKey: "number")
                    }
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue(number * 3, forKey: "value")
                    if number % 10 != 9 { item.setValue("text of the row number \(number)", forKey: "text") }
                    item.setValue(batch, forKey: "batch")
                }
                try context.save()
                context.reset()
            }
        }
    }

    /// Tells of which version a store is.
    ///
    /// - Throws: An error where its rows are not those that ``fill(_:rows:)`` has written.
    static func check(_ file: String, rows: Int) throws {
        let url = URL(fileURLWithPath: file)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let versions = ["first", "added", "filled", "copied"].map { ($0, WriterVersions.model($0)) }
        guard let (version, model) = versions.first(where: { $1.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) })
        else { throw Damage(text: "It is of no version.") }
        let context = try open(file, model)
        try context.performAndWait {
            func count(_ format: String) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: format)
                return try context.count(for: request)
            }
            let sum = NSExpressionDescription()
            (sum.name, sum.expressionResultType) = ("sum", .doubleAttributeType)
            sum.expression = CoreData.NSExpression(format: "@sum.value")
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, [sum])
            let found = [
                try count("TRUEPREDICATE"), try count(version == "copied" ? "label == nil" : "text == nil"), try count("batch != nil"),
                (try context.fetch(request).first?["sum"] as? NSNumber)?.intValue ?? 0,
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Batch")),
            ]
            let expected = [rows, rows / 10, rows, rows * (rows - 1) / 2 * 3, (rows + 999) / 1000]
            guard found == expected else { throw Damage(text: "It has \(found), and should have \(expected).") }
        }
        report(version)
    }

    private static func open(_ file: String, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: file), options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    struct Damage: LocalizedError {
        let text: String
        var errorDescription: String? { text }
    }
}
