import CoreData
import Foundation

/// This package's SQLite store, used like an application does: a coordinator, a context, typed properties.
enum StoreSide {
    static func open(
        _ path: String, _ model: NSManagedObjectModel = StoredModel.everything, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: options)
        return Stack.context(coordinator)
    }

    /// Creates a store with all data.
    static func makeFull(_ path: String, _ sample: Sample) throws {
        SampleDatabase.remove(path)
        let context = try open(path)
        try insert(sample.values, context)
        let folders = (1...sample.folderCount).map { number in
            let folder = Folder(context: context)
            folder.name = Sample.folderName(number)
            return folder
        }
        for number in 1...sample.values.count {
            let document = Document(context: context)
            document.name = Sample.documentName(number)
            document.size = number
            document.folder = folders[sample.folder(ofDocument: number) - 1]
        }
        try context.save()
        try close(context)
        // The log is written to the file, which is copied.
        try RawConnection(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    // MARK: Reading

    static func fetchAll(_ context: NSManagedObjectContext, asFaults: Bool = false) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = asFaults
        return try context.fetch(request)
    }

    /// Returns the IDs of items in the order of their numbers.
    static func ids(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = [NSSortDescriptor(key: "i0", ascending: true)]
        return try context.fetch(request)
    }

    static func read(_ ids: [NSManagedObjectID], _ context: NSManagedObjectContext) throws -> Int {
        var sum = 0
        for id in ids { sum &+= (context.object(with: id) as? Item)?.sumOfAll ?? 0 }
        return sum
    }

    private static func request(_ question: Sample.Question) -> NSFetchRequest<Item> {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "i1 > %ld AND t0 BEGINSWITH %@", question.number, question.prefix)
        return request
    }

    static func answer(_ questions: [Sample.Question], _ context: NSManagedObjectContext) throws -> Benchmark.Outcome {
        var answers: [[Item]] = []
        var sum = 0
        for question in questions {
            let request = request(question)
            request.sortDescriptors = [NSSortDescriptor(key: "t1", ascending: true)]
            request.fetchLimit = 100
            request.returnsObjectsAsFaults = false
            let items = try context.fetch(request)
            sum &+= items.orderSum
            answers.append(items)
        }
        return (sum, (answers, context))
    }

    static func count(_ questions: [Sample.Question], _ context: NSManagedObjectContext) throws -> Int {
        var sum = 0
        for question in questions { sum &+= try context.count(for: request(question)) }
        return sum
    }

    /// Reads the documents of every folder without prefetching.
    static func walk(_ context: NSManagedObjectContext) throws -> Benchmark.Outcome {
        let folders = try context.fetch(NSFetchRequest<Folder>(entityName: "Folder"))
        var sum = 0
        for folder in folders { for document in folder.documents { sum &+= document.size &+ document.name.utf8.count } }
        return (sum, (folders, context))
    }

    static func walkPrefetched(_ context: NSManagedObjectContext) throws -> Benchmark.Outcome {
        let request = NSFetchRequest<Folder>(entityName: "Folder")
        request.relationshipKeyPathsForPrefetching = ["documents"]
        let folders = try context.fetch(request)
        var sum = 0
        for folder in folders { for document in folder.documents { sum &+= document.size &+ document.name.utf8.count } }
        return (sum, (folders, context))
    }

    // MARK: Writing

    static func insert(_ values: [Values], _ context: NSManagedObjectContext) throws {
        for value in values { value.fill(Item(context: context)) }
        try context.save()
    }

    static func update(_ items: [Item], _ context: NSManagedObjectContext) throws {
        for item in items { item.i2 &+= 1 }
        try context.save()
    }

    static func delete(_ items: [Item], _ context: NSManagedObjectContext) throws {
        for item in items { context.delete(item) }
        try context.save()
    }
}
