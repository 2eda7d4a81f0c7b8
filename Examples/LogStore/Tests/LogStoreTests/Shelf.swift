import CoreData
import Foundation
import LogStore

/// A temporary folder for a test, with a store of shelves and books in it.
final class Shelf {
    let folder: URL
    var file: URL { folder.appendingPathComponent("Books.log") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("LogStoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        LogStore.register()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func model() -> NSManagedObjectModel {
        let shelf = NSEntityDescription(name: "Shelf")
        let book = NSEntityDescription(name: "Book")
        let books = NSRelationshipDescription(name: "books", destination: book, toMany: true, isOrdered: true)
        let place = NSRelationshipDescription(name: "shelf", destination: shelf)
        books.inverse(to: place)
        shelf.properties = [NSAttributeDescription(name: "name", type: .string), books]
        book.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "pages", type: .integer32, defaultValue: 0),
            place,
        ]
        book.uniquenessConstraints = [["title"]]
        return NSManagedObjectModel(entities: [shelf, book])
    }

    func open(_ options: [AnyHashable: Any] = [:]) throws -> NSPersistentStoreCoordinator { try open(file, options) }

    func open(_ url: URL, _ options: [AnyHashable: Any] = [:]) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        var options = options
        if options[LogStore.synchronizesOption] == nil { options[LogStore.synchronizesOption] = false }
        try coordinator.addPersistentStore(ofType: LogStore.storeType, configurationName: nil, at: url, options: options)
        return coordinator
    }

    static func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Adds books to a new shelf, and saves.
    static func add(_ titles: [String], to name: String, in coordinator: NSPersistentStoreCoordinator) throws {
        let context = context(coordinator)
        try context.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            shelf.setValue(name, forKey: "name")
            let books = titles.map { title in
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue(title, forKey: "title")
                book.setValue(title.count, forKey: "pages")
                return book
            }
            shelf.setValue(NSOrderedSet(array: books), forKey: "books")
            try context.save()
        }
    }

    /// Returns every shelf with its books, as strings.
    static func content(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { shelf in
                let books = (shelf.value(forKey: "books") as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
                let words = books.map { "\($0.value(forKey: "title") ?? "nil") \($0.value(forKey: "pages") ?? "nil")" }
                return "\(shelf.value(forKey: "name") ?? "nil"): \(words.joined(separator: ", "))"
            }
        }
    }

    static func titles(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = context(coordinator)
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
        }
    }
}

/// Returns the error of `body`; nil when it throws none.
func failure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch { return error as NSError }
}
