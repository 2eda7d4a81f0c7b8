import CoreData
import FileStores
import Foundation
import TestSupport

/// A folder of one test, which goes with the instance.
final class Scratch: Sendable {
    private let scratch: ScratchFolder
    var folder: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("FileStores") }

    func url(_ name: String) -> URL { scratch.file(name) }

    @discardableResult func write(_ text: String, _ name: String) throws -> URL {
        try Data(text.utf8).write(to: url(name))
        return url(name)
    }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: url(name)) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url(name))) }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    /// The names of all files, hidden ones too.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
}

/// A model of books and their authors.
enum Library {
    static func model() -> NSManagedObjectModel {
        let book = NSEntityDescription(name: "Book")
        let author = NSEntityDescription(name: "Author")
        let written = NSRelationshipDescription(name: "author", destination: author)
        let books = NSRelationshipDescription(name: "books", destination: book, toMany: true)
        written.inverse(to: books)
        book.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "pages", type: .integer32),
            NSAttributeDescription(name: "price", type: .double), NSAttributeDescription(name: "published", type: .date),
            NSAttributeDescription(name: "isLent", type: .boolean), written,
        ]
        author.properties = [NSAttributeDescription(name: "name", type: .string), books]
        return NSManagedObjectModel(entities: [book, author])
    }

    /// A model of one entity with text, to look at the form of files alone.
    static func notes(_ names: [String] = ["text", "other"], types: [String: NSAttributeDescription.AttributeType] = [:])
        -> NSManagedObjectModel
    {
        let note = NSEntityDescription(name: "Note")
        note.properties = names.map { NSAttributeDescription(name: $0, type: types[$0] ?? .string) }
        return NSManagedObjectModel(entities: [note])
    }
}

/// Opens the store of a description with a new coordinator.
func open(_ description: NSPersistentStoreDescription, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
        ofType: description.type, configurationName: description.configuration, at: description.url, options: description.options)
    // Used by its test alone, on whatever thread that runs: nothing is scheduled on a queue.
    // By its number, for the name is deprecated, and a warning is a failure.
    guard let confined = NSManagedObjectContextConcurrencyType(rawValue: 0) else { throw CocoaError(.featureUnsupported) }
    let context = NSManagedObjectContext(concurrencyType: confined)
    context.persistentStoreCoordinator = coordinator
    return context
}

extension NSManagedObjectContext {
    /// Returns the objects of an entity in the order of an attribute.
    func all(_ entity: String, by key: String? = nil, _ format: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        if let format { request.predicate = NSPredicate(format: format) }
        return try fetch(request)
    }

    @discardableResult func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}
