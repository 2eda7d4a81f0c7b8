import CoreData
import Foundation
import TestSupport

/// The two stores that write archives.
enum ArchiveKind: String, CaseIterable, CustomStringConvertible {
    case xml = "XML"
    case binary = "Binary"

    var description: String { rawValue }
}

/// A folder that is deleted with the instance.
final class Folder {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("ArchiveStores") }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }
}

/// Shelves with books, of which some are rare: inheritance, both kinds of relationships, and an attribute of every type.
enum Library {
    static func model(extra: Bool = false) -> NSManagedObjectModel {
        let (shelf, book, rare) = (
            NSEntityDescription(name: "Shelf"), NSEntityDescription(name: "Book"), NSEntityDescription(name: "RareBook")
        )
        let books = NSRelationshipDescription(name: "books", destination: book, toMany: true, deleteRule: .cascadeDeleteRule)
        let shelfOf = NSRelationshipDescription(name: "shelf", destination: shelf)
        books.inverse(to: shelfOf)
        shelf.properties = [NSAttributeDescription(name: "name", type: .string), books]
        book.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "pageCount", type: .integer16),
            NSAttributeDescription(name: "copies", type: .integer32), NSAttributeDescription(name: "loans", type: .integer64),
            NSAttributeDescription(name: "isLent", type: .boolean), NSAttributeDescription(name: "weight", type: .double),
            NSAttributeDescription(name: "rating", type: .float), NSAttributeDescription(name: "price", type: .decimal),
            NSAttributeDescription(name: "bought", type: .date), NSAttributeDescription(name: "cover", type: .binaryData),
            NSAttributeDescription(name: "identifier", type: .uuid), NSAttributeDescription(name: "link", type: .uri),
            NSAttributeDescription(name: "words", type: .transformable), shelfOf,
        ]
        if extra { book.properties.append(NSAttributeDescription(name: "extra", type: .string)) }
        rare.properties = [NSAttributeDescription(name: "year", type: .integer32)]
        book.subentities = [rare]
        return NSManagedObjectModel(entities: [shelf, book, rare])
    }

    static func open(
        _ kind: ArchiveKind, _ url: URL, _ model: NSManagedObjectModel = model(), options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: kind.rawValue, configurationName: nil, at: url, options: options)
        return context(coordinator)
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

extension NSManagedObjectContext {
    @discardableResult func add(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        object.setValuesForKeys(values)
        return object
    }

    func all(_ entity: String, by key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }

    /// Runs `body` on the context's queue.
    func run<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result { try performAndWait { try body(self) } }
}
