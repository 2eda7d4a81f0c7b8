public import CoreData
import Foundation
public import RemoteStore
import WebBackend
public import WebTransport

/// Lists of things to do: those of a Kinto server, kept in a file so that they are there, and can be changed, without it.
public struct ToDoStore: Sendable {
    /// The context that shows them.
    public let context: NSManagedObjectContext
    /// What keeps them, and what was changed until the server has it.
    public let store: CachedStore

    /// Opens the lists of a user. The style says everything that there is to say of Kinto.
    ///
    /// - Parameters:
    ///   - server: The address of the server with its version, such as `https://kinto.example.com/v1`.
    ///   - user: The name of the account. Each has a file of its own.
    ///   - password: Its password, which is kept nowhere.
    ///   - cache: The place of the file; nil for one in memory, which ends with the program.
    ///   - transport: What sends requests.
    /// - Throws: Code 134080 for an address that is none; the errors of opening the file.
    public init(server: String, user: String, password: Credential, cache: URL?, transport: some Transport) throws {
        let model = ToDoModel.make()

        var style = ServiceStyle.kinto
        // The program makes the identifiers of new records: one that is sent twice, because an answer was lost, is one.
        style.saving?.identity = .newUUID
        let service = WebService(server + "/buckets/default/collections", style: style)
        var client = WebClient.Options()
        client.authentication = .basic(user: user, password: password)
        // What fails is sent again by the store, which knows whether the program still wants it.
        client.retries = .never
        let backend = try WebBackend(service, model: model, transport: transport, options: client)

        // What is in the file is shown, of any age; `sync()` says when the server is asked what others have done.
        var options = CachedStoreOptions(defaultPolicy: .immutable, user: user)
        options.conflicts = .preferMine
        options.sendsAutomatically = false

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addCachedStore(backend, at: cache, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
    }

    // MARK: Things to do

    /// Adds an item to a list, which is made if there is none of the name.
    public func add(_ title: String, to name: String, due: Date? = nil) async throws {
        try await context.perform {
            let list = try find("List", "name == %@", name).first ?? insert("List", ["name": name])
            insert("Item", ["title": title, "due": due, "list": list])
            try context.save()
        }
    }

    /// Returns the items that are to do, as lines: the title, the list, the day, and what is to be said of its way to the server.
    public func open() async throws -> [String] {
        try await context.perform {
            try find("Item", "isDone == NO").sorted { text($0, "title") < text($1, "title") }.map { item in
                let list = (item.value(forKey: "list") as? NSManagedObject).map { text($0, "name") }
                let due = (item.value(forKey: "due") as? Date).map { " until \($0.formatted(.iso8601.year().month().day()))" }
                return "\(text(item, "title")) (\(list ?? "no list"))\(due ?? "")\(try note(of: item))"
            }
        }
    }

    /// Marks the items with a title as done, and returns their number.
    public func finish(_ title: String) async throws -> Int { try await change(title, "isDone", to: true) }

    /// Gives the items with a title that are to do another one, and returns their number.
    public func rename(_ title: String, to new: String) async throws -> Int { try await change(title, "title", to: new) }

    /// Deletes a list with its items, and returns whether there was one.
    public func remove(_ name: String) async throws -> Bool {
        try await context.perform {
            let lists = try find("List", "name == %@", name)
            for list in lists { context.delete(list) }
            try context.save()
            return !lists.isEmpty
        }
    }

    // MARK: On the queue of the context

    private func change(_ title: String, _ key: String, to value: any Sendable) async throws -> Int {
        try await context.perform {
            let items = try find("Item", "title == %@ AND isDone == NO", title)
            for item in items { item.setValue(value, forKey: key) }
            try context.save()
            return items.count
        }
    }

    private func find(_ entity: String, _ format: String, _ arguments: String...) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.fetch(request)
    }

    @discardableResult
    private func insert(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func text(_ object: NSManagedObject, _ key: String) -> String { object.value(forKey: key) as? String ?? "" }
}
