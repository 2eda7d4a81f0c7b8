import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration

@Suite struct PolicyTests {
    private static func run(_ folder: MappingFolder, _ edit: (NSMappingModel) -> Void, userInfo: [AnyHashable: Any]? = nil) throws
        -> NSMigrationManager
    {
        try LibraryVersions.fill(folder.old)
        let manager = NSMigrationManager.library()
        manager.userInfo = userInfo
        let mapping = LibraryVersions.mapping()
        edit(mapping)
        try manager.migrate(folder, mapping)
        return manager
    }

    @Test("The stages are called in Apple's order: instances of all mappings, relationships of all, and then validation and end")
    func order() throws {
        let folder = try MappingFolder()
        let manager = try Self.run(
            folder,
            { mapping in
                for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = "MigrationTests.NotingPolicy" }
            })
        let notes = try #require(manager.userInfo?["notes"] as? [String])
        expect(
            notes,
            equals: [
                "AuthorToWriter begin", "AuthorToWriter instance ×2", "AuthorToWriter end of instances",
                "BookToBook begin", "BookToBook instance ×6", "BookToBook end of instances",
                "ChapterToChapter begin", "ChapterToChapter instance ×18", "ChapterToChapter end of instances",
                "AuthorToWriter relationships ×2", "AuthorToWriter end of relationships",
                "BookToBook relationships ×6", "BookToBook end of relationships",
                "ChapterToChapter relationships ×18", "ChapterToChapter end of relationships",
                "AuthorToWriter validation", "AuthorToWriter end", "BookToBook validation", "BookToBook end",
                "ChapterToChapter validation", "ChapterToChapter end",
            ])
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected())
    }

    @Test("A policy makes objects of its own and keeps them between its calls")
    func ownObjects() throws {
        let folder = try MappingFolder()
        _ = try Self.run(folder, { $0.entityMappings[1].entityMigrationPolicyClassName = "GenrePolicy" })
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected(genres: true))
        let genres = try LibraryVersions.withStore(folder.new, LibraryVersions.new()) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Genre")).map {
                ($0.value(forKey: "books") as? Set<NSManagedObject>)?.count ?? 0
            }
        }
        expect(genres.sorted(), equals: [2, 4])
    }

    @Test("Value expressions call functions of the policy by their names, with the variables of the migration")
    func functions() throws {
        let folder = try MappingFolder()
        let formats = [
            "FUNCTION($entityPolicy, \"shout:\", $source.title)", "FUNCTION($source, \"valueForKey:\", \"title\")",
            "FUNCTION($source, \"valueForKeyPath:\", \"author.name\")", "$entityMapping.name", "$propertyMapping.name",
            "$manager.userInfo.suffix", "FUNCTION(FUNCTION($source, \"valueForKey:\", \"title\"), \"uppercaseString\")",
            "TERNARY($source.price > 1, \"dear\", \"cheap\")", "$destination.cents", "$source.chapters.@count",
            "$manager.destinationContext.userInfo.nothing",
        ]
        let wanted = ["BOOK 0.2!", "Book 0.2", "Author 0", "BookToBook", "title", "X", "BOOK 0.2", "dear", "250", "3", "none"]
        for (format, wanted) in zip(formats, wanted) {
            let folder = try MappingFolder()
            _ = try Self.run(
                folder,
                { mapping in
                    mapping.entityMappings[1].entityMigrationPolicyClassName = "GenrePolicy"
                    mapping.entityMappings[1].attributeMappings = [
                        NSPropertyMapping(name: "cents", valueExpression: CoreData.NSExpression(format: "$source.price * 100")),
                        NSPropertyMapping(
                            name: "title",
                            valueExpression: CoreData.NSExpression(format: "FUNCTION($entityPolicy, \"orNone:\", \(format))")),
                    ]
                }, userInfo: ["suffix": "X"])
            let titles = try LibraryVersions.withStore(folder.new, LibraryVersions.new()) { context in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).compactMap { $0.value(forKey: "title") as? String }
            }
            #expect(titles.contains(wanted), "\(format): \(titles)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("A function that nobody answers is an error that says what to do")
    func unansweredFunction() throws {
        let folder = try MappingFolder()
        let error = migrationFailure {
            _ = try Self.run(
                folder,
                { mapping in
                    mapping.entityMappings[1].attributeMappings?[0].valueExpression = CoreData.NSExpression(
                        format: "FUNCTION($entityPolicy, \"whisper:\", $source.title)")
                })
        }
        expect(error?.code, equals: NSMigrationError)
        expect(error?.localizedDescription.contains("“whisper:”"), equals: true)
        expect(error?.localizedRecoverySuggestion?.contains("function(named:arguments:)"), equals: true)
        expect(error?.userInfo["property"] as? String, equals: "title")
    }

    @Test("The error of a policy is the cause of error 134170, which names the entity mapping")
    func failure() throws {
        for stage in ["begin", "instance", "relationships", "validation", "end"] {
            let folder = try MappingFolder()
            let error = migrationFailure {
                _ = try Self.run(
                    folder, { $0.entityMappings[1].entityMigrationPolicyClassName = "FailingPolicy" }, userInfo: ["fails": stage])
            }
            expect(error?.code, equals: NSEntityMigrationPolicyError, "\(stage)")
            expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain, equals: stage)
            expect(error?.localizedDescription.contains("“BookToBook”"), equals: true)
            #expect(!FileManager.default.fileExists(atPath: folder.new.path))
        }
    }

    @Test("A policy class that the program does not have is error 134170 before anything is migrated")
    func missingClass() throws {
        let folder = try MappingFolder()
        let error = migrationFailure {
            _ = try Self.run(folder, { $0.entityMappings[0].entityMigrationPolicyClassName = "App.NoSuchPolicy" })
        }
        expect(error?.code, equals: NSEntityMigrationPolicyError)
        expect(error?.localizedDescription.contains("“App.NoSuchPolicy”"), equals: true)
    }

    @Test("A source expression chooses the objects of a mapping, and several mappings may share an entity")
    func sourceExpressions() throws {
        let folder = try MappingFolder()
        _ = try Self.run(
            folder,
            { mapping in
                let books = mapping.entityMappings[1]
                let others = books.copy() as! NSEntityMapping
                func fetch(_ predicate: String) -> CoreData.NSExpression {
                    CoreData.NSExpression(
                        format:
                            "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Book\", \"\(predicate)\"), $manager.sourceContext, NO)"
                    )
                }
                books.sourceExpression = fetch("price < 1")
                others.name = "DearBooks"
                others.sourceExpression = fetch("price > 2")
                others.attributeMappings?[1].valueExpression = CoreData.NSExpression(forConstantValue: 999)
                mapping.entityMappings.insert(others, at: 2)
                mapping.entityMappings[3].sourceExpression = fetch("price > 9")
            })
        let lines = try LibraryVersions.lines(at: folder.new)
        let prices = [(0, 0, 50), (0, 2, 999), (1, 0, 50), (1, 2, 999)]
        let expected = prices.map { author, book, price in String("Book \(author).\(book) Author \(author) \(price) ".prefix(21)) }
        expect(lines.map { String($0.prefix(21)) }, equals: expected)
    }

    @Test(
        "A policy that sets relationships itself decides about all of them, and one that makes further objects has theirs set by the mapping"
    )
    func ownRelationships() throws {
        #expect(!PolicyOverrides.createsRelationships(NSEntityMigrationPolicy.self))
        #expect(!PolicyOverrides.createsRelationships(GenrePolicy.self))
        #expect(!PolicyOverrides.createsRelationships(LookingPolicy.self))
        #expect(PolicyOverrides.createsRelationships(NotingPolicy.self))
        #expect(PolicyOverrides.createsRelationships(FailingPolicy.self))
        #expect(PolicyOverrides.createsRelationships(LonelyPolicy.self))
        let folder = try MappingFolder()
        _ = try Self.run(
            folder,
            { mapping in
                for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = "LonelyPolicy" }
                mapping.entityMappings.remove(at: 2)
                mapping.entityMappings[1].relationshipMappings?.removeLast()
            })
        #expect(try LibraryVersions.lines(at: folder.new).allSatisfy { $0.contains(" - ") })
        let twins = try MappingFolder()
        _ = try Self.run(
            twins,
            { mapping in
                mapping.entityMappings[1].entityMigrationPolicyClassName = "TwinPolicy"
                mapping.entityMappings.remove(at: 2)
                mapping.entityMappings[1].relationshipMappings?.removeLast()
            })
        let lines = try LibraryVersions.lines(at: twins.new)
        expect(lines.count, equals: 12)
        #expect(lines.allSatisfy { $0.contains(" Author ") }, "\(lines)")
    }

    @Test("Associations are found in both directions, by mapping, in the order asked for")
    func associations() throws {
        let folder = try MappingFolder()
        let manager = try Self.run(folder, { $0.entityMappings[0].entityMigrationPolicyClassName = "LookingPolicy" })
        expect(manager.userInfo?["looked"] as? String, equals: "Author 1, Author 0; Author 0; 2; 2; 0")
    }
}

/// Notes its calls in the manager's user info.
final class NotingPolicy: NSEntityMigrationPolicy {
    private func note(_ text: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        var notes = manager.userInfo?["notes"] as? [String] ?? []
        let line = "\(mapping.name ?? "?") \(text)"
        if let last = notes.last, last.hasPrefix("\(line) ×"), let count = Int(last.dropFirst(line.count + 2)) {
            notes[notes.count - 1] = "\(line) ×\(count + 1)"
        } else {
            notes.append(text == "instance" || text == "relationships" ? "\(line) ×1" : line)
        }
        manager.userInfo = ["notes": notes]
    }
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { note("begin", mapping, manager) }
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        note("instance", mapping, manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end of instances", mapping, manager)
    }
    override func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        note("relationships", mapping, manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end of relationships", mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validation", mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", mapping, manager) }
}

/// Makes a genre of each name once, and answers functions.
final class GenrePolicy: NSEntityMigrationPolicy {
    private var genres: [String: NSManagedObject] = [:]

    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let name = sInstance.value(forKey: "genre") as? String,
            let book = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { return }
        let genre = genres[name] ?? NSEntityDescription.insertNewObject(forEntityName: "Genre", into: manager.destinationContext)
        genre.setValue(name, forKey: "name")
        genres[name] = genre
        book.setValue(genre, forKey: "genre")
    }

    override func function(named name: String, arguments: [Any?]) throws -> MigrationFunctionValue? {
        switch name {
        case "shout:": .init((arguments[0] as? String).map { $0.uppercased() + "!" })
        case "orNone:": .init(arguments[0].map { "\($0)" } ?? "none")
        default: nil
        }
    }
}

final class FailingPolicy: NSEntityMigrationPolicy {
    private func fail(_ stage: String, _ manager: NSMigrationManager) throws {
        if manager.userInfo?["fails"] as? String == stage { throw NSError(domain: stage, code: 7) }
    }
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { try fail("begin", manager) }
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try fail("instance", manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
    override func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try fail("relationships", manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try fail("validation", manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { try fail("end", manager) }
}

/// Looks up associations when all relationships are set.
final class LookingPolicy: NSEntityMigrationPolicy {
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        let authors = try manager.sourceContext.fetch(request)
        let writers = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: authors)
        let back = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [writers[1]])
        func names(_ objects: [NSManagedObject]) -> String { objects.map { "\($0.value(forKey: "name") ?? "-")" }.joined(separator: ", ") }
        let all = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil).count
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil).count
        let others = manager.destinationInstances(forEntityMappingName: "BookToBook", sourceInstances: authors).count
        manager.userInfo = ["looked": "\(names(writers)); \(names(back)); \(all); \(sources); \(others)"]
    }
}

/// Sets no relationships.
final class LonelyPolicy: NSEntityMigrationPolicy {
    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}
}

/// Makes a second object of each.
final class TwinPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let twin = NSEntityDescription.insertNewObject(forEntityName: "Book", into: manager.destinationContext)
        twin.setValue("Twin", forKey: "title")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: twin, for: mapping)
    }
}
