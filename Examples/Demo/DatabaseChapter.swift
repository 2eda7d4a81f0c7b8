#if PostgreSQL
import CoreData
import Foundation
import PostgreSQLStore
import ToDoModel

/// Shows lists of things to do in a PostgreSQL database: the code that works on a file works on it, and several servers share it.
struct DatabaseChapter {
    let terminal: Terminal
    /// The URL of the database. Its schema `public` gets the tables.
    let url: String

    func run() async throws {
        terminal.chapter("To-do lists in PostgreSQL")
        terminal.text("One function makes and reads lists. It is called over a file, and over a database: one line differs.")

        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("ToDo.sqlite")

        let local = NSPersistentStoreCoordinator(managedObjectModel: ToDoModel.make())
        terminal.code("try coordinator.addPersistentStore(type: .sqlite, at: file)")
        let store = try local.addPersistentStore(type: .sqlite, at: file)
        try await plan(in: context(local))
        try local.remove(store)

        let first = NSPersistentStoreCoordinator(managedObjectModel: ToDoModel.make())
        terminal.code("try await coordinator.addPostgreSQLStore(at: url)")
        try await first.addPostgreSQLStore(at: url)
        try await plan(in: context(first))
        try await share(first)
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes two lists, and prints what is to do: the function of both stores.
    private func plan(in context: NSManagedObjectContext) async throws {
        try await context.perform {
            for (name, titles) in [("Home", ["Water the plants", "Mend the lamp"]), ("Work", ["Read the log"])] {
                let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
                list.setValue(name, forKey: "name")
                for title in titles {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue(title, forKey: "title")
                    item.setValue(list, forKey: "list")
                }
            }
            try context.save()
            context.reset()
        }
        try await printItems("list.name == 'Home'", in: context)
    }

    private func printItems(_ format: String, in context: NSManagedObjectContext) async throws {
        terminal.code("fetch Item where \(format)")
        try await context.perform {
            for item in try items(format, in: context) {
                let list = (item.value(forKey: "list") as? NSManagedObject)?.value(forKey: "name") as? String ?? ""
                let isDone = item.value(forKey: "isDone") as? Bool ?? false
                terminal.row((item.value(forKey: "title") as? String ?? "", 24), (list, 8), (isDone ? "done" : "", 0))
            }
            try context.throwPendingFaultError()
        }
    }

    private func items(_ format: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request)
    }

    /// Opens the database as another server would, and lets both change one item.
    private func share(_ first: NSPersistentStoreCoordinator) async throws {
        terminal.text(
            "\nAnother server opens the same database. Both change one item; the later save is told, and its merge policy decides.")
        let second = NSPersistentStoreCoordinator(managedObjectModel: ToDoModel.make())
        try await second.addPostgreSQLStore(at: url)
        let (here, there) = (context(first), context(second))
        let lamp = "title == 'Mend the lamp'"
        try await here.perform { for item in try items(lamp, in: here) { item.setValue("Buy a lamp", forKey: "title") } }
        terminal.code("item.isDone = true; try context.save()   // there")
        try await there.perform {
            for item in try items(lamp, in: there) { item.setValue(true, forKey: "isDone") }
            try there.save()
        }
        terminal.code("item.title = \"Buy a lamp\"; try context.save()   // here")
        let refusal = await here.perform { Result { try here.save() } }
        if case .failure(let error) = refusal { terminal.error((error as NSError).localizedDescription) }
        terminal.code("context.mergePolicy = .mergeByPropertyObjectTrump; try context.save()")
        try await here.perform {
            here.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try here.save()
        }
        try await printItems("title == 'Buy a lamp'", in: context(second))
        terminal.note("What both have changed is there, once.")
    }
}
#endif
