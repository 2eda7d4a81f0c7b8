import CoreData
import TestSupport
import Testing

@Suite("A mistake in a model") struct ModelMistakesTests {
    /// The description of what is wrong with a model of the given entities.
    private func mistakes(_ entities: NSEntityDescription...) throws -> String {
        let error = try #require(failure { _ = try NSPersistentStoreCoordinator(checking: NSManagedObjectModel(entities: entities)) })
        expect(error.domain, equals: NSCocoaErrorDomain)
        expect(error.code, equals: NSPersistentStoreIncompatibleSchemaError)
        return error.localizedDescription
    }

    @Test("An entity without a name is named")
    func namelessEntity() throws {
        #expect(try mistakes(NSEntityDescription()).contains("no name"))
    }

    @Test("Two entities of one name are named")
    func twins() throws {
        #expect(try mistakes(NSEntityDescription(name: "Band"), NSEntityDescription(name: "Band")).contains("Band"))
    }

    @Test("A property without a name, or declared twice, is named")
    func propertyNames() throws {
        let nameless = NSEntityDescription(name: "Band", properties: [NSAttributeDescription(name: "", type: .string)])
        #expect(try mistakes(nameless).contains("“Band” has no name"))
        let twice = NSEntityDescription(
            name: "Band",
            properties: [NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "name", type: .date)])
        #expect(try mistakes(twice).contains("“Band.name” is declared twice"))
    }

    @Test("A property that the superentity declares already is named")
    func redeclared() throws {
        let band = NSEntityDescription(name: "Band", properties: [NSAttributeDescription(name: "name", type: .string)])
        let duo = NSEntityDescription(name: "Duo", properties: [NSAttributeDescription(name: "name", type: .string)])
        band.subentities = [duo]
        #expect(try mistakes(band, duo).contains("“Duo.name”"))
    }

    @Test("An attribute without a type is named unless it is transient")
    func untyped() throws {
        let attribute = NSAttributeDescription(name: "name", type: .undefined)
        #expect(try mistakes(NSEntityDescription(name: "Band", properties: [attribute])).contains("“Band.name” has no type"))
        let transient = NSAttributeDescription(name: "name", type: .undefined)
        transient.isTransient = true
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Band", properties: [transient])])
        #expect(throws: Never.self) { _ = try NSPersistentStoreCoordinator(checking: model) }
    }

    @Test("A default value of another type, or out of range, is named")
    func defaults() throws {
        let text = NSAttributeDescription(name: "year", type: .integer16, defaultValue: "2001")
        #expect(try mistakes(NSEntityDescription(name: "Album", properties: [text])).contains("“Album.year”"))
        let large = NSAttributeDescription(name: "year", type: .integer16, defaultValue: 40_000)
        #expect(try mistakes(NSEntityDescription(name: "Album", properties: [large])).contains("“Album.year”"))
    }

    @Test("The error names a relationship without a destination, or with one outside of the model")
    func destinations() throws {
        let nowhere = NSRelationshipDescription()
        nowhere.name = "band"
        #expect(try mistakes(NSEntityDescription(name: "Album", properties: [nowhere])).contains("“Album.band” leads to no entity"))
        let outside = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album", properties: [NSRelationshipDescription(name: "band", destination: outside)])
        #expect(try mistakes(album).contains("“Album.band” leads to no entity"))
    }

    @Test("Counts the wrong way round are named; an ordered to-one relationship is a warning")
    func counts() throws {
        let band = NSEntityDescription(name: "Band")
        let ordered = NSRelationshipDescription(name: "first", destination: band, isOrdered: true)
        let turned = NSRelationshipDescription(name: "some", destination: band, toMany: true)
        turned.minCount = 3
        turned.maxCount = 2
        band.properties = [ordered, turned]
        let text = try mistakes(band)
        #expect(!text.contains("Band.first"))
        let warnings = NSManagedObjectModel(entities: [band]).check(namesOfClasses: false).filter { $0.severity == .warning }
        #expect(warnings.contains { $0.property == "first" && $0.message == "It is to-one: that it is ordered has no effect." })
        #expect(text.contains("“Band.some” has a minimum count above its maximum"))
    }

    @Test("An inverse that belongs elsewhere is named")
    func inverses() throws {
        let band = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album")
        let track = NSEntityDescription(name: "Track")
        let elsewhere = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        let wrong = NSRelationshipDescription(name: "other", destination: band)
        elsewhere.inverse(to: wrong)
        band.properties = [elsewhere]
        album.properties = [wrong]
        #expect(try mistakes(band, album, track).contains("The inverse of “Band.tracks” belongs to “Album”"))
    }

    @Test("A subentity that is not in the model is named, and so is a superentity")
    func inheritance() throws {
        let band = NSEntityDescription(name: "Band")
        let duo = NSEntityDescription(name: "Duo")
        band.subentities = [duo]
        #expect(try mistakes(band).contains("“Duo” inherits from “Band”"))
        #expect(try mistakes(duo).contains("“Duo” inherits from “Band”"))
    }

    @Test("One error lists every error of a model")
    func allAtOnce() throws {
        let band = NSEntityDescription(
            name: "Band",
            properties: [NSAttributeDescription(name: "a", type: .undefined), NSAttributeDescription(name: "b", type: .undefined)])
        let text = try mistakes(band)
        #expect(text.contains("“Band.a”"))
        #expect(text.contains("“Band.b”"))
    }

    @Test("An entity that inherits from itself is named")
    func circle() throws {
        let first = NSEntityDescription(name: "First")
        let second = NSEntityDescription(name: "Second")
        first.subentities = [second]
        second.subentities = [first]
        #expect(try mistakes(first, second).contains("First"))
    }

    @Test("A model with mistakes stops the program where they cannot be thrown")
    func trap() async {
        await #expect(processExitsWith: .failure) {
            _ = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [NSEntityDescription()]))
        }
    }
}
