import CoreData
import TestSupport
import Testing

/// Relationships whose inverse names another as its own, as real models have them: Xcode warns, and Core Data opens them.
@Suite("An inverse that does not lead back") struct OneSidedInverseTests {
    /// `Image.thumbnail` and `Artist.thumbnail` are each other's inverse; `Image.artist` and `Artist.images` name these without being named.
    private static func model() -> NSManagedObjectModel {
        let artist = NSEntityDescription(name: "Artist", properties: [NSAttributeDescription(name: "name", type: .string)])
        let image = NSEntityDescription(name: "Image", properties: [NSAttributeDescription(name: "name", type: .string)])
        let thumbnail = NSRelationshipDescription(name: "thumbnail", destination: image)
        let images = NSRelationshipDescription(name: "images", destination: image, toMany: true, deleteRule: .cascadeDeleteRule)
        let thumbnailOf = NSRelationshipDescription(name: "thumbnail", destination: artist)
        let owner = NSRelationshipDescription(name: "artist", destination: artist)
        let silent = NSRelationshipDescription(name: "silent", destination: artist)
        thumbnail.inverse(to: thumbnailOf)
        owner.inverseRelationship = thumbnail
        images.inverseRelationship = silent
        artist.properties += [thumbnail, images]
        image.properties += [thumbnailOf, owner, silent]
        return NSManagedObjectModel(entities: [artist, image])
    }

    @Test("is a warning that names both, and the model opens") func warning() throws {
        let findings = Self.model().check(namesOfClasses: false)
        #expect(findings.allSatisfy { $0.severity == .warning })
        let texts = findings.map(\.description)
        #expect(texts.contains { $0.contains("Image.artist: Its inverse “Artist.thumbnail” names “Image.thumbnail” as its own") })
        #expect(texts.contains { $0.contains("Artist.images: Its inverse “Image.silent” names none as its own") })
        let model = Self.model()
        #expect(throws: Never.self) { _ = try NSPersistentStoreCoordinator(checking: model) }
        expect(model.entitiesByName["Image"]?.relationshipsByName["artist"]?.inverseRelationship?.name, equals: "thumbnail")
    }

    @Test("changes nothing at the other end, before and after a save", arguments: [false, true]) func setting(inSQLite: Bool) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: inSQLite ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil, at: inSQLite ? pad.store : nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            func names(_ value: Any?) -> Set<String> {
                Set((value as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "name") as? String })
            }
            func object(_ entity: String, _ name: String) throws -> NSManagedObject {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = NSPredicate(format: "name == %@", name)
                return try #require(try context.fetch(request).first)
            }
            let artist = context.insert("Artist", ["name": "artist"])
            let (first, second) = (context.insert("Image", ["name": "first"]), context.insert("Image", ["name": "second"]))
            first.setValue(artist, forKey: "artist")
            second.setValue(artist, forKey: "artist")
            artist.setValue(Set([first, second]), forKey: "images")
            second.setValue(artist, forKey: "thumbnail")
            func check(_ place: String) throws {
                let artist = try object("Artist", "artist")
                let (first, second) = (try object("Image", "first"), try object("Image", "second"))
                #expect(first.value(forKey: "artist") as? NSManagedObject === artist, "\(place)")
                #expect(second.value(forKey: "artist") as? NSManagedObject === artist, "\(place)")
                #expect(artist.value(forKey: "thumbnail") as? NSManagedObject === second, "\(place)")
                expect(names(artist.value(forKey: "images")), equals: ["first", "second"], "\(place)")
                #expect(first.value(forKey: "silent") == nil && first.value(forKey: "thumbnail") == nil, "\(place)")
            }
            try check("pending")
            try context.save()
            try check("saved")
            context.reset()
            try check("read again")
            // The end that nobody names is set alone as well.
            try object("Image", "first").setValue(nil, forKey: "artist")
            try context.save()
            context.reset()
            let again = try object("Artist", "artist")
            #expect(again.value(forKey: "thumbnail") != nil && names(again.value(forKey: "images")) == ["first", "second"])
            // Delete rules work along the relationship itself.
            context.delete(again)
            try context.save()
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Image")), equals: 0)
        }
    }
}
