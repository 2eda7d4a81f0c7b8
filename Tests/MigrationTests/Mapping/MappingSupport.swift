import CoreData
import Foundation
import TestSupport

/// A folder for the stores of a test, removed with the instance.
final class MappingFolder {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("mapping") }

    var old: URL { url.appendingPathComponent("old.sqlite") }
    var new: URL { url.appendingPathComponent("new.sqlite") }
    var unfinished: URL { url.appendingPathComponent(".new.sqlite-migration") }
}

/// Two versions of a library: authors become writers, prices become cents, and the genre of a book an object of its own.
enum LibraryVersions {
    static func old() -> NSManagedObjectModel {
        let author = NSEntityDescription(name: "Author")
        let book = NSEntityDescription(name: "Book")
        let chapter = NSEntityDescription(name: "Chapter")
        let (books, by) = (relation("books", book, many: true), relation("author", author))
        let (chapters, of) = (relation("chapters", chapter, many: true, ordered: true), relation("book", book))
        books.inverse(to: by)
        chapters.inverse(to: of)
        author.properties = [NSAttributeDescription(name: "name", type: .string), books]
        book.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "price", type: .double),
            NSAttributeDescription(name: "genre", type: .string), by, chapters,
        ]
        chapter.properties = [NSAttributeDescription(name: "heading", type: .string), of]
        return NSManagedObjectModel(entities: [author, book, chapter])
    }

    static func new() -> NSManagedObjectModel {
        let writer = NSEntityDescription(name: "Writer")
        let book = NSEntityDescription(name: "Book")
        let chapter = NSEntityDescription(name: "Chapter")
        let genre = NSEntityDescription(name: "Genre")
        let (books, by) = (relation("books", book, many: true), relation("author", writer))
        let (chapters, of) = (relation("chapters", chapter, many: true, ordered: true), relation("book", book, optional: false))
        let (ofGenre, kind) = (relation("books", book, many: true), relation("genre", genre))
        books.inverse(to: by)
        chapters.inverse(to: of)
        ofGenre.inverse(to: kind)
        writer.properties = [NSAttributeDescription(name: "name", type: .string), books]
        book.properties = [
            NSAttributeDescription(name: "title", type: .string, isOptional: false),
            NSAttributeDescription(name: "cents", type: .integer64),
            by, chapters, kind,
        ]
        chapter.properties = [NSAttributeDescription(name: "heading", type: .string), of]
        genre.properties = [NSAttributeDescription(name: "name", type: .string), ofGenre]
        return NSManagedObjectModel(entities: [writer, book, chapter, genre])
    }

    private static func relation(
        _ name: String, _ destination: NSEntityDescription, many: Bool = false, ordered: Bool = false, optional: Bool = true
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription(name: name, destination: destination, toMany: many, isOrdered: ordered)
        relationship.isOptional = optional
        return relationship
    }

    /// The mapping of the two versions, without the genres.
    static func mapping() -> NSMappingModel {
        func related(_ mapping: String, _ path: String) -> CoreData.NSExpression {
            CoreData.NSExpression(
                format:
                    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(path))")
        }
        let authors = NSEntityMapping()
        (authors.sourceEntityName, authors.destinationEntityName) = ("Author", "Writer")
        authors.attributeMappings = [NSPropertyMapping(name: "name", valueExpression: CoreData.NSExpression(format: "$source.name"))]
        authors.relationshipMappings = [NSPropertyMapping(name: "books", valueExpression: related("BookToBook", "books"))]
        let books = NSEntityMapping()
        (books.sourceEntityName, books.destinationEntityName) = ("Book", "Book")
        books.attributeMappings = [
            NSPropertyMapping(name: "title", valueExpression: CoreData.NSExpression(format: "$source.title")),
            NSPropertyMapping(name: "cents", valueExpression: CoreData.NSExpression(format: "$source.price * 100")),
        ]
        books.relationshipMappings = [
            NSPropertyMapping(name: "author", valueExpression: related("AuthorToWriter", "author")),
            NSPropertyMapping(name: "chapters", valueExpression: related("ChapterToChapter", "chapters")),
        ]
        let chapters = NSEntityMapping()
        (chapters.sourceEntityName, chapters.destinationEntityName) = ("Chapter", "Chapter")
        chapters.attributeMappings = [NSPropertyMapping(name: "heading", valueExpression: CoreData.NSExpression(format: "$source.heading"))]
        chapters.relationshipMappings = [NSPropertyMapping(name: "book", valueExpression: related("BookToBook", "book"))]
        return NSMappingModel(entityMappings: [authors, books, chapters])
    }

    /// Fills a store of the old version: each author has `books` books with three chapters each.
    static func fill(_ url: URL, type: String = NSSQLiteStoreType, authors: Int = 2, books: Int = 3) throws {
        try withStore(url, old(), type: type) { context in
            for number in 0..<authors {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue("Author \(number)", forKey: "name")
                for index in 0..<books {
                    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    book.setValuesForKeys([
                        "title": "Book \(number).\(index)", "price": Double(index) + 0.5, "genre": index % 2 == 0 ? "crime" : "verse",
                    ])
                    book.setValue(author, forKey: "author")
                    let chapters = (0..<3).map { chapter in
                        let object = NSEntityDescription.insertNewObject(forEntityName: "Chapter", into: context)
                        object.setValue("\(number).\(index).\(2 - chapter)", forKey: "heading")
                        return object
                    }
                    book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
                }
            }
            try context.save()
        }
    }

    /// Runs `body` in a context of a store, which is closed afterwards.
    static func withStore<Result>(
        _ url: URL, _ model: NSManagedObjectModel, type: String = NSSQLiteStoreType, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        return result
    }

    /// What a store of the new version contains: a line for each book, with author, cents, genre and chapters.
    static func lines(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.fetch(request).map { book in
            let chapters = (book.value(forKey: "chapters") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "heading") as? String
            }
            let author = book.value(forKeyPath: "author.name") as? String ?? "-"
            let genre = book.value(forKeyPath: "genre.name") as? String ?? "-"
            return
                "\(book.value(forKey: "title") ?? "-") \(author) \(book.value(forKey: "cents") ?? "-") \(genre) \((chapters ?? []).joined(separator: " "))"
        }
    }

    static func lines(at url: URL, type: String = NSSQLiteStoreType) throws -> [String] { try withStore(url, new(), type: type, lines) }

    /// The lines of a store that ``fill(_:type:authors:books:)`` has filled, after a migration.
    static func expected(authors: Int = 2, books: Int = 3, genres: Bool = false) -> [String] {
        (0..<authors).flatMap { author in
            (0..<books).map { book in
                let genre = genres ? (book % 2 == 0 ? "crime" : "verse") : "-"
                let place = "\(author).\(book)"
                return "Book \(place) Author \(author) \(book * 100 + 50) \(genre) \(place).2 \(place).1 \(place).0"
            }
        }.sorted()
    }
}

extension NSMigrationManager {
    /// Migrates from the old to the new store of a folder.
    func migrate(_ folder: MappingFolder, _ mapping: NSMappingModel?) throws {
        try migrateStore(
            from: folder.old, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: folder.new,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }

    static func library() -> NSMigrationManager {
        NSMigrationManager(sourceModel: LibraryVersions.old(), destinationModel: LibraryVersions.new())
    }
}

/// The error that `body` throws; nil when it throws none.
func migrationFailure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch { return error as NSError }
}
