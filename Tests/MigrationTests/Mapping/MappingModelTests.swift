import CoreData
import Foundation
import TestSupport
import Testing

@Suite struct MappingModelTests {
    @Test("A mapping model finds its entity mappings by name, and names without one follow from the entities")
    func names() {
        let mapping = LibraryVersions.mapping()
        expect(mapping.entityMappings.map { $0.name }, equals: ["AuthorToWriter", "BookToBook", "ChapterToChapter"])
        #expect(mapping.entityMappingsByName["BookToBook"] === mapping.entityMappings[1])
        mapping.entityMappings[1].name = "Books"
        #expect(mapping.entityMappingsByName["Books"] === mapping.entityMappings[1])
    }

    @Test("A copy is equal until it is changed, and changing it leaves the original")
    func copies() {
        let mapping = LibraryVersions.mapping()
        let copy = mapping.copy() as! NSMappingModel
        expect(copy, equals: mapping)
        expect(copy.hash, equals: mapping.hash)
        copy.entityMappings[1].attributeMappings?[0].valueExpression = nil
        #expect(copy != mapping)
        #expect(mapping.entityMappings[1].attributeMappings?[0].valueExpression != nil)
        let other = mapping.copy() as! NSMappingModel
        other.entityMappings[0].userInfo = ["reason": "none"]
        #expect(other != mapping)
    }

    @Test("A mapping model that fits its models is valid, and one that does not names each mapping and property")
    func validation() throws {
        let (old, new) = (LibraryVersions.old(), LibraryVersions.new())
        try LibraryVersions.mapping().validate(forSourceModel: old, destinationModel: new)
        let wrong = LibraryVersions.mapping()
        wrong.entityMappings[0].sourceEntityName = "Poet"
        wrong.entityMappings[1].attributeMappings?[0].name = "subtitle"
        wrong.entityMappings[1].attributeMappings?[1].valueExpression = CoreData.NSExpression(format: "$source.cost * 100")
        wrong.entityMappings[1].relationshipMappings?[0].valueExpression = CoreData.NSExpression(
            format: "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PoetToPoet\", $source.author)")
        wrong.entityMappings[2].name = "BookToBook"
        wrong.entityMappings[2].sourceEntityVersionHash = Data([1])
        let error = migrationFailure { try wrong.validate(forSourceModel: old, destinationModel: new) }
        expect(error?.code, equals: NSMigrationError)
        let all = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        let text = all.map(\.localizedDescription).joined(separator: "\n")
        for name in ["“Poet”", "“subtitle”", "“cost”", "“PoetToPoet”", "two entity mappings called “BookToBook”", "another version"] {
            #expect(text.contains(name), "\(name)")
        }
        expect(all.compactMap { $0.userInfo["property"] as? String }.sorted(), equals: ["author", "cents", "chapters", "subtitle"])
    }

    private static let inferredNames: Set<String> = [
        "IEM_Transform_Writer", "IEM_Transform_Book", "IEM_Transform_Chapter", "IEM_Add_Genre",
    ]

    @Test("Entity mappings of an inferred mapping model have Apple's names, and tell which properties they map, add and leave out")
    func inferredInformation() throws {
        let (old, new) = (LibraryVersions.old(), LibraryVersions.old())
        new.entities.append(NSEntityDescription(name: "Shelf"))
        let gone = NSEntityDescription(name: "Poet")
        old.entities.append(gone)
        new.entitiesByName["Book"]?.attributesByName["price"]?.renamingIdentifier = "price"
        new.entitiesByName["Book"]?.attributesByName["price"]?.name = "cost"
        new.entitiesByName["Book"]?.properties.removeAll { $0.name == "genre" }
        new.entitiesByName["Book"]?.properties.append(NSAttributeDescription(name: "pages", type: .integer32))
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let names = mapping.entityMappings.compactMap(\.name).sorted()
        // Those that lead to books have another version hash, as on Apple's platforms, or are copied.
        #expect(names.allSatisfy { $0.hasPrefix("IEM_") }, "\(names)")
        for name in ["IEM_Add_Shelf", "IEM_Remove_Poet", "IEM_Transform_Book"] { #expect(names.contains(name), "\(names)") }
        let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
        expect(book.userInfo?["mappedProperties"] as? Set<String>, equals: ["title", "cost", "author", "chapters"])
        expect(book.userInfo?["addedProperties"] as? Set<String>, equals: ["pages"])
        expect(book.userInfo?["removedProperties"] as? Set<String>, equals: ["genre"])
        let copy = try #require(mapping.copy() as? NSMappingModel)
        expect(copy, equals: mapping)
        try mapping.validate(forSourceModel: old, destinationModel: new)
    }

    @Test("An inferred mapping model migrates by names and renaming identifiers, and can be given a policy")
    func inferred() throws {
        let (old, new) = (LibraryVersions.old(), LibraryVersions.new())
        new.entitiesByName["Writer"]?.renamingIdentifier = "Author"
        // An attribute cannot become a relationship.
        new.entitiesByName["Book"]?.properties.removeAll { $0.name == "genre" }
        new.entitiesByName["Genre"]?.properties.removeAll { $0.name == "books" }
        new.entitiesByName["Book"]?.attributesByName["title"]?.defaultValue = "Untitled"
        new.entitiesByName["Book"]?.attributesByName["cents"]?.renamingIdentifier = "price"
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        expect(Set(mapping.entityMappingsByName.keys), equals: Self.inferredNames)
        expect(
            mapping.entityMappingsByName["IEM_Transform_Chapter"]?.sourceEntityVersionHash,
            equals: old.entitiesByName["Chapter"]?.versionHash)
        mapping.entityMappingsByName["IEM_Transform_Book"]?.entityMigrationPolicyClassName = "CountingPolicy"
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        try LibraryVersions.withStore(folder.old, LibraryVersions.old()) { context in
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(7.0, forKey: "price")
            try context.save()
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        try manager.migrate(folder, mapping)
        expect(manager.userInfo?["made"] as? Int, equals: 7)
        let books = try LibraryVersions.withStore(folder.new, new) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
                "\($0.value(forKey: "title") ?? "-") \($0.value(forKey: "cents") ?? "-") \($0.value(forKeyPath: "author.name") ?? "-")"
            }.sorted()
        }
        // A required attribute without a value gets the default one, and the fraction of a price is lost in a whole number.
        expect(
            books,
            equals: [
                "Book 0.0 0 Author 0", "Book 0.1 1 Author 0", "Book 0.2 2 Author 0", "Book 1.0 0 Author 1", "Book 1.1 1 Author 1",
                "Book 1.2 2 Author 1", "Untitled 7 -",
            ])
    }

    @Test("What cannot be inferred is error 134190")
    func notInferred() {
        let error = migrationFailure {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: LibraryVersions.old(), destinationModel: LibraryVersions.new())
        }
        expect(error?.code, equals: NSInferredMappingModelError)
    }

    @Test("Objects of subentities keep their entities, and relationships to any of them lead to what they have become")
    func inheritance() throws {
        func model(_ name: String) -> NSManagedObjectModel {
            let animal = NSEntityDescription(name: "Animal")
            let dog = NSEntityDescription(name: "Dog")
            let puppy = NSEntityDescription(name: "Puppy")
            let home = NSEntityDescription(name: "Home")
            let (pets, lives) = (
                NSRelationshipDescription(name: "pets", destination: animal, toMany: true),
                NSRelationshipDescription(name: "home", destination: home)
            )
            pets.inverse(to: lives)
            animal.properties = [NSAttributeDescription(name: "name", type: .string), lives]
            dog.properties = [NSAttributeDescription(name: name, type: .string)]
            dog.subentities = [puppy]
            animal.subentities = [dog]
            home.properties = [pets]
            return NSManagedObjectModel(entities: [animal, dog, puppy, home])
        }
        let (old, new) = (model("sound"), model("bark"))
        new.entitiesByName["Dog"]?.attributesByName["bark"]?.renamingIdentifier = "sound"
        let folder = try MappingFolder()
        try LibraryVersions.withStore(folder.old, old) { context in
            let home = NSEntityDescription.insertNewObject(forEntityName: "Home", into: context)
            for entity in ["Animal", "Dog", "Puppy"] {
                let pet = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                pet.setValue(entity, forKey: "name")
                if entity != "Animal" { pet.setValue("woof", forKey: "sound") }
                pet.setValue(home, forKey: "home")
            }
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrate(folder, mapping)
        let pets = try LibraryVersions.withStore(folder.new, new) { context in
            let home = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Home"))[0]
            return (home.value(forKey: "pets") as? Set<NSManagedObject> ?? []).map {
                "\($0.entity.name ?? "?") \($0.value(forKey: "name") ?? "-") \($0.entity.name == "Animal" ? "-" : $0.value(forKey: "bark") ?? "-")"
            }.sorted()
        }
        expect(pets, equals: ["Animal Animal -", "Dog Dog woof", "Puppy Puppy woof"])
    }
}
