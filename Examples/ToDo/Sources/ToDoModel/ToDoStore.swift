public import CoreData
import Foundation
import RemoteStore
public import WebBackend
public import WebTransport

/// A Kinto server with lists of things to do.
public struct ToDoStore {
    /// The context that shows them.
    public let context: NSManagedObjectContext
    /// What asks the server.
    public let backend: WebBackend

    /// Opens the lists of a user. The style says everything that there is to say of Kinto.
    ///
    /// - Parameters:
    ///   - server: The address of the server with its version, such as `https://kinto.example.com/v1`.
    ///   - user: The name of the account.
    ///   - password: Its password.
    ///   - transport: What sends requests.
    /// - Throws: Code 134080 for an address that is none.
    public init(server: String, user: String, password: Credential, transport: some Transport = AsyncHTTPClientTransport()) throws {
        var options = WebClient.Options()
        options.authentication = .basic(user: user, password: password)
        let model = ToDoModel.make()
        backend = try WebBackend(
            WebService(server + "/buckets/default/collections", style: .kinto), model: model, transport: transport, options: options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    /// Adds an item to a list, which is made if there is none of the name.
    public func add(_ title: String, to name: String, due: Date? = nil) async throws {
        try await context.perform { [context] in
            let lists = NSFetchRequest<NSManagedObject>(entityName: "List")
            lists.predicate = NSPredicate(format: "name == %@", name)
            let list =
                try context.fetch(lists).first
                ?? {
                    let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
                    list.setValue(name, forKey: "name")
                    return list
                }()
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(title, forKey: "title")
            item.setValue(due, forKey: "due")
            item.setValue(list, forKey: "list")
            try context.save()
        }
    }

    /// Returns the items that are to do, as lines: the title, the list, and the day.
    public func open() async throws -> [String] {
        try await context.perform { [context] in
            let items = NSFetchRequest<NSManagedObject>(entityName: "Item")
            items.predicate = NSPredicate(format: "isDone == NO")
            items.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            items.relationshipKeyPathsForPrefetching = ["list"]
            return try context.fetch(items).map { item in
                let list = (item.value(forKey: "list") as? NSManagedObject)?.value(forKey: "name") as? String
                let due = (item.value(forKey: "due") as? Date).map { " until \($0.formatted(.iso8601.year().month().day()))" }
                return "\(item.value(forKey: "title") ?? "") (\(list ?? "no list"))\(due ?? "")"
            }
        }
    }

    /// Marks the items with a title as done, and returns their number.
    public func finish(_ title: String) async throws -> Int {
        try await context.perform { [context] in
            let items = NSFetchRequest<NSManagedObject>(entityName: "Item")
            items.predicate = NSPredicate(format: "title == %@ AND isDone == NO", title)
            let found = try context.fetch(items)
            for item in found { item.setValue(true, forKey: "isDone") }
            try context.save()
            return found.count
        }
    }

    /// Deletes a list with its items, and returns whether there was one.
    public func remove(_ name: String) async throws -> Bool {
        try await context.perform { [context] in
            let lists = NSFetchRequest<NSManagedObject>(entityName: "List")
            lists.predicate = NSPredicate(format: "name == %@", name)
            let found = try context.fetch(lists)
            for list in found { context.delete(list) }
            try context.save()
            return !found.isEmpty
        }
    }
}
